package record

import (
	"fmt"
	"time"

	"assay/shared/computation/measure"
	"assay/shared/domain/access"
	"assay/shared/language/plural"
	"assay/shared/language/problem"
)

// Advice tells the organizers of a dataset that a team may submit enough runs to find out the ground truth (qrels, labels) from their
// scores.
type Advice struct {
	Examples int `json:"examples" doc:"examples of the ground truth"`
	Runs     int `json:"runs" doc:"estimated number of planned runs whose exact live scores reveal the ground truth; real attacks need between half of it and all of it"`
	Allowed  int `json:"allowed,omitempty" doc:"runs on the dataset that windows and quotas allow a team; absent where they allow any number"`
	problem.Text
}

// MayNeedAdvice reports whether Advise returns advice if the rules of the task allow enough runs.
func (d *DatasetItem) MayNeedAdvice() bool { return d.runsToReveal(d.TruthShape) > 0 }

// Advise returns the advice for the dataset of the task at now. It returns nil if there is none, or if the dataset takes no more runs.
func (d *DatasetItem) Advise(t *TaskItem, now time.Time) *Advice {
	opens, closes := d.Window(t)
	if reason := ReasonClosed(opens, closes, now); reason == ClosedLate || reason == ClosedAlways {
		return nil
	}
	return Advise(&d.DatasetDraft, &t.Submissions, d.TruthShape, d.CreatedAt.Time)
}

// Advise returns the advice for a dataset that has existed since the instant, with a ground truth of the shape. It returns nil if
// scores are withheld or blinded, if the ground truth is public, or if the rules allow fewer runs than would reveal it.
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
	} else if task.PerDay > 0 || d.Submissions.PerDay > 0 {
		may = "any number over the days, as the dataset has no close"
	}
	a.Text = problem.Sentence("%s with exact live scores: about %s the ground truth, and a team may submit %s. It helps to allow fewer runs "+
		"in all ({/submissions/total}), or to show columns from the close on ({columns}).", plural.Count(s.Examples, "example"),
		reveal(runs), may)
	return a
}

func reveal(runs int) string {
	verb := "reveal"
	if runs == 1 {
		verb = "reveals"
	}
	return plural.Count(runs, "run") + " " + verb
}

// runsToReveal returns measure.RunsToReveal, or 0 if teams do not see scores before the close. Runs on a test split start blinded, so
// teams do not see theirs either.
func (d *DatasetDraft) runsToReveal(s measure.Shape) int {
	shown := d.shownBeforeClose()
	if d.Split == Test || len(shown) == 0 || d.TruthsPublic {
		return 0
	}
	return measure.RunsToReveal(measure.Kind(d.Evaluator.Kind), shown, s)
}

// shownBeforeClose returns the measures whose values teams may see while they submit.
func (d *DatasetDraft) shownBeforeClose() (names []string) {
	for _, c := range d.columns() {
		if c.Audience.audience() >= access.Owners && c.From != FromClose {
			names = append(names, c.Key)
		}
	}
	return names
}

// allowedRuns returns how many runs on the dataset a team may submit while its window is open, without exceptions. bounded is false if
// nothing limits the number.
func (d *DatasetDraft) allowedRuns(task *SubmissionRules, since time.Time) (n int, bounded bool) {
	opens, closes := d.window(task)
	days := 0 // without end
	if closes != nil {
		if opens != nil {
			since = opens.Time
		}
		days = max(1, 1+int((closes.Sub(since)-1)/Day)) // a Duration is at most 292 years
	}
	for _, bound := range []int{task.Total, d.Submissions.Total, task.PerDay * days, d.Submissions.PerDay * days} {
		if bound > 0 && (!bounded || bound < n) {
			n, bounded = bound, true
		}
	}
	return n, bounded
}
