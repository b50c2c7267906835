package record

import (
	"fmt"
	"time"

	"assay/shared/measure"
	"assay/shared/plural"
)

// Advice tells the organizers of a dataset that a team may submit enough runs to find out the ground truth by their scores.
type Advice struct {
	Examples int    `json:"examples" doc:"examples of the ground truth"`
	Runs     int    `json:"runs" doc:"about how many runs with exact live scores reveal the ground truth to a team that plans them: an estimate, of which real attacks need half to all"`
	Allowed  int    `json:"allowed,omitempty" doc:"runs on the dataset that windows and quotas allow a team; absent where they allow any number"`
	Detail   string `json:"detail" doc:"in words, with what helps"`
}

// MayNeedAdvice reports whether there is advice for the dataset if the rules of its task allow many runs.
func (d *DatasetItem) MayNeedAdvice() bool { return d.runsToReveal(d.TruthShape) > 0 }

// Advise returns the advice for the dataset, which belongs to the task; nil when there is none.
func (d *DatasetItem) Advise(t *TaskItem) *Advice {
	return Advise(&d.DatasetDraft, &t.Submissions, d.TruthShape, d.CreatedAt.Time)
}

// Advise returns the advice for a dataset since an instant, whose truth has the shape, by the rules of its task; nil when scores are
// withheld or blinded, the truth is public, or the rules allow fewer runs.
func Advise(d *DatasetDraft, task *SubmissionRules, s measure.Shape, since time.Time) *Advice {
	runs := d.runsToReveal(s)
	allowed, bounded := d.allowedRuns(task, since)
	if runs == 0 || bounded && allowed < runs {
		return nil
	}
	a := &Advice{Examples: s.Examples, Runs: runs, Allowed: allowed}
	may := "any number"
	if bounded {
		may = fmt.Sprint(allowed)
	}
	a.Detail = fmt.Sprintf("%s with exact live scores: about %s the truth, and a team may submit %s. It helps to allow fewer runs in all "+
		"(submissions.total), or to show scores after the close (scores: afterClose).", plural.Count(s.Examples, "example"), reveal(runs), may)
	return a
}

func reveal(runs int) string {
	verb := "reveal"
	if runs == 1 {
		verb = "reveals"
	}
	return plural.Count(runs, "run") + " " + verb
}

// runsToReveal is measure.RunsToReveal where teams read scores before the close; 0 where they do not. Runs on a test split start blinded.
func (d *DatasetDraft) runsToReveal(s measure.Shape) int {
	if d.Split == Test || d.Scores == ScoresAfterClose || d.TruthsPublic {
		return 0
	}
	return measure.RunsToReveal(measure.Kind(d.Evaluator.Kind), d.Evaluator.Measures, s)
}

// allowedRuns is how many runs on the dataset a team may submit while its window is open, exceptions aside. bounded is false where nothing
// bounds them.
func (d *DatasetDraft) allowedRuns(task *SubmissionRules, since time.Time) (n int, bounded bool) {
	opens, closes := d.window(task)
	days := 0 // without end
	if closes != nil {
		if opens != nil {
			since = opens.Time
		}
		days = max(1, 1+int((closes.Sub(since)-1)/Day)) // a Duration ends after 292 years
	}
	for _, bound := range []int{task.Total, d.Submissions.Total, task.PerDay * days, d.Submissions.PerDay * days} {
		if bound > 0 && (!bounded || bound < n) {
			n, bounded = bound, true
		}
	}
	return n, bounded
}
