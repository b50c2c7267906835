package datasets

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/scoring"
	"assay/shared/computation/measure/steps"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/edge/compute"
	"assay/shared/language/lists"
	"assay/shared/language/plural"
	"assay/shared/language/problem"
	"assay/shared/service/records"
	"assay/shared/service/truth"
)

// The bounds of a trial, which evaluates runs against a ground truth that is only previewed.
const (
	trialRead   = 1000          // newest runs that it reads
	trialNewest = 200           // completed runs of these that it chooses from
	trialRuns   = 50            // completed runs that it evaluates
	trialFailed = 20            // failed runs that it evaluates after them
	trialBytes  = 16 << 20      // size of the files of one run
	trialSteps  = 1_000_000_000 // for all runs together
	trialTime   = 5 * time.Second
	trialMemory = compute.LargeBytes / 2 // for reading one run
)

// trial evaluates completed and failed runs against the ground truth of a changed dataset, and keeps nothing.
type trial struct {
	runs   []*tried      // completed runs come first
	newest int           // completed runs that were found, also those that wait to be evaluated again
	shown  record.Column // ranks the runs on the leaderboard
	next   record.Column // ranks them after the change
	// limited reports whether the task or the dataset has a quota.
	limited bool
	memory  int64 // reserved for reading a run
}

// tried is a run of a trial.
type tried struct {
	run    *record.RunItem
	before *float64 // the value on the leaderboard
	after  *float64
	fault  string // the first error, or "" if the run can be evaluated
	public bool   // the run has an error that does not depend on the ground truth; unknown, and false, without NextTruthFailure
	ended  bool   // the run was evaluated
}

// team names the run's team, for organizers.
func (r *tried) team() string {
	if r.run.Unregistered() {
		return "the organizers"
	}
	return r.run.Access.TeamName(r.run.Team)
}

func (r *tried) valueBefore() *float64 { return r.before }
func (r *tried) valueAfter() *float64  { return r.after }

// failedBefore reports whether the run has failed against the present ground truth.
func (r *tried) failedBefore() bool { return r.run.State == record.Failed }

// completesAnyway reports whether a completed run stays completed without values although it cannot be evaluated, because its team has no
// failures left for reasons that only the ground truth reveals.
func (r *tried) completesAnyway(now time.Time) bool {
	return !r.public && r.run.LimitsTruthFailures() && r.run.NextTruthFailure.After(now)
}

// errTrialOver ends the evaluation of a trial that has used up its steps.
var errTrialOver = errors.New("the trial has used up its steps")

// noteTrial adds to a preview how many runs the changed ground truth would fail, how many failed runs would complete, and how the order of
// the leaderboard changes.
func noteTrial(ctx context.Context, c *api.Call, old, changed *record.DatasetItem, inline contents, task *record.TaskItem) error {
	effect := api.Consequence{Kind: api.EffectEvaluation, Subject: "/v1/datasets/" + old.ID}
	switch {
	case changed.Evaluator.Kind == record.EvaluatorWorker:
		c.Effect(effect, problem.Sentence("The preview does not tell how many runs would fail, since workers evaluate them."))
		return nil
	case !record.AllStored(changed.Truths) || record.SizeOf(changed.Truths) > maxAtOnce:
		c.Effect(effect, problem.Sentence("The preview does not tell how many runs would fail, since it cannot read the truth files: they "+
			"are too large, or arrive after the change."))
		return nil
	}
	t := trial{
		shown:   old.BoardColumns()[0],
		next:    changed.Primary(),
		limited: old.Submissions.LimitsRuns() || task != nil && task.Submissions.LimitsRuns(),
	}
	err := c.Counting(ctx, func() error { return t.choose(ctx, c, old) })
	if err != nil || len(t.runs) == 0 {
		return err
	}
	err = t.evaluate(ctx, c, changed, inline)
	if e, ok := errors.AsType[*problem.Error](err); ok { // such as compute slots that are all taken
		c.Effect(effect, problem.Sentence("The preview does not tell how many runs would fail: %s", e.Text))
		return nil
	}
	if err == nil {
		t.tell(c, effect)
	}
	return err
}

// choose takes the best of the newest completed runs, and the newest failed runs. A completed run that waits to be evaluated again still
// has its result on the leaderboard.
func (t *trial) choose(ctx context.Context, c *api.Call, d *record.DatasetItem) error {
	var runs []*record.RunItem
	var failed []*tried
	sources := records.Of(record.KindDataset, d.ID, record.KindRun)
	_, err := records.List(ctx, c.Store, records.Selection{Sources: sources, Limit: trialRead}, nil, func(r *record.RunItem) (bool, error) {
		switch {
		case (r.State == record.Completed || waitsAgain(r)) && r.ListedID() != "":
			runs = append(runs, r)
		case r.State == record.Failed && r.HasFiles() && record.SizeOf(r.Files) <= trialBytes && len(failed) < trialFailed:
			failed = append(failed, &tried{run: r})
		}
		return len(runs) == trialNewest, nil
	})
	if err != nil {
		return err
	}
	t.newest = len(runs)
	evaluations, err := records.GetExisting[record.EvaluationItem](ctx, c.Store, c.Consistency,
		lists.Map(runs, (*record.RunItem).ListedID), record.EvaluationKey)
	if err != nil {
		return err
	}
	values := map[string]*float64{}
	for _, e := range evaluations {
		values[e.ID] = e.Measures[t.shown.Key]
	}
	for _, r := range runs {
		if record.SizeOf(r.Files) <= trialBytes {
			t.runs = append(t.runs, &tried{run: r, before: values[r.ListedID()]})
		}
	}
	order(t.runs, t.shown.Lower(), (*tried).valueBefore)
	t.runs = append(t.runs[:min(len(t.runs), trialRuns)], failed...)
	return nil
}

// evaluate evaluates the runs in a compute slot of the caller, until the steps or the time are used up.
func (t *trial) evaluate(ctx context.Context, c *api.Call, changed *record.DatasetItem, inline contents) error {
	d := &changed.DatasetDraft
	open := opener(ctx, c, changed.ID, d, inline)
	files := func(r *record.RunItem) []scoring.File {
		return lists.Map(r.Files, func(f record.File) scoring.File {
			return scoring.File{Name: f.Name, Open: func() (io.ReadCloser, error) {
				return c.Files.Open(ctx, record.ObjectKey(record.HolderRuns, r.ID, f.SHA256))
			}}
		})
	}
	settings := truth.Settings(d.RunFormat, d.Evaluator)
	largest := slices.MaxFunc(t.runs, func(a, b *tried) int { return cmp.Compare(record.SizeOf(a.run.Files), record.SizeOf(b.run.Files)) })
	return compute.Process.Run(ctx, compute.Work{
		Caller: c.PoolCaller(),
		Memory: func(ctx context.Context) (int64, error) {
			ofTruth, err := truth.Memory(ctx, d, open, compute.LargeBytes)
			if err != nil {
				return 0, err
			}
			text, err := scoring.CountText(ctx, files(largest.run), compute.LargeBytes)
			t.memory = min(2*settings.Memory(text), trialMemory) // Packed files of one size have different sizes of text.
			return ofTruth + t.memory, err
		},
		Do: func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, trialTime)
			defer cancel()
			ctx = steps.With(ctx, steps.New(trialSteps, func(context.Context) error { return errTrialOver }))
			err := t.score(ctx, d, open, files)
			if errors.Is(err, errTrialOver) || errors.Is(err, context.DeadlineExceeded) {
				return nil // tell says how many runs were evaluated
			}
			return err
		},
	})
}

func (t *trial) score(ctx context.Context, d *record.DatasetDraft, open truth.Open, files func(*record.RunItem) []scoring.File) error {
	read, err := truth.Read(ctx, d, open)
	if err != nil || read == nil {
		return err
	}
	settings := truth.Settings(d.RunFormat, d.Evaluator)
	for _, r := range t.runs {
		text, err := scoring.CountText(ctx, files(r.run), t.memory)
		if err != nil {
			return err
		}
		if settings.Memory(text) > t.memory { // a packed file with more text than the largest file
			continue
		}
		scored, err := read.Read(ctx, files(r.run))
		if err != nil {
			return err
		}
		if fault := measure.FirstError(scored.Diagnostics); fault != nil {
			r.fault = fault.Message
			if r.run.NextTruthFailure != nil { // Only such a run can stay completed, see completesAnyway.
				public, err := scored.Validate(ctx, files(r.run))
				if err != nil {
					return err
				}
				r.public = measure.HasErrors(public)
			}
		} else {
			r.after = scored.Result.Measures[t.next.Key]
		}
		r.ended = true
	}
	return nil
}

// tell adds the effects of the trial.
func (t *trial) tell(c *api.Call, effect api.Consequence) {
	t.tellFailures(c, effect)
	t.tellCompletions(c, effect)
	t.tellOrder(c, effect)
}

// those returns the runs that is accepts.
func (t *trial) those(is func(*tried) bool) []*tried {
	return slices.DeleteFunc(slices.Clone(t.runs), func(r *tried) bool { return !is(r) })
}

// tellFailures says how many completed runs would fail.
func (t *trial) tellFailures(c *api.Call, effect api.Consequence) {
	completed := t.those(func(r *tried) bool { return !r.failedBefore() })
	ended := t.those(func(r *tried) bool { return !r.failedBefore() && r.ended })
	if len(completed) == 0 {
		return
	}
	if len(ended) == 0 {
		c.Effect(effect, problem.Sentence("The preview does not tell how many runs would fail, since it could not evaluate one in time."))
		return
	}
	looked := fmt.Sprintf("The preview evaluated %s, the best of the newest %d", plural.Count(len(ended), "run"), t.newest)
	if others := len(completed) - len(ended); others > 0 {
		looked += ", and left out " + plural.Count(others, "run") + " to end in time"
	}
	faulty := t.those(func(r *tried) bool { return !r.failedBefore() && r.fault != "" })
	failing := slices.DeleteFunc(slices.Clone(faulty), func(r *tried) bool { return r.completesAnyway(c.Now()) })
	of := effect
	of.Count = int64(len(failing))
	if len(failing) == 0 {
		c.Effect(of, problem.Sentence("%s: none of them would fail.", looked))
	} else {
		said := inQuotas(failing, func(r *tried) bool { return t.limited && r.run.Counted }, quotaWords{
			all:  " would fail, leave the leaderboard and no longer count in the quotas.",
			some: " would fail and leave the leaderboard. Only %d of these would stop counting in the quotas.",
			none: " would fail and leave the leaderboard. No quota counts these.",
		})
		c.Effect(of, problem.Sentence("%s: %d of them%s The first is a run of %s: %s.", looked, len(failing), said, failing[0].team(),
			failing[0].fault))
	}
	if others := len(faulty) - len(failing); others > 0 {
		of.Count = int64(others)
		c.Effect(of, problem.Sentence("%s would stay completed without values: %s, and %d other such runs of the team had failed in the 24 "+
			"hours before %s completed. Runs that cannot be evaluated fail if the team sees their values, or if they completed before these "+
			"failures.", plural.Count(others, "run"), plural.Verb(others, "its team does not see the values", "their teams do not see the values"),
			record.MaxTruthFailures, plural.Verb(others, "it", "each")))
	}
}

// tellCompletions says how many failed runs would complete.
func (t *trial) tellCompletions(c *api.Call, effect api.Consequence) {
	failed := t.those((*tried).failedBefore)
	ended := t.those(func(r *tried) bool { return r.failedBefore() && r.ended })
	if len(failed) == 0 {
		return
	}
	if len(ended) == 0 {
		c.Effect(effect, problem.Sentence("The preview does not tell how many failed runs would complete, since it could not evaluate one "+
			"in time."))
		return
	}
	completing := slices.DeleteFunc(slices.Clone(ended), func(r *tried) bool { return r.fault != "" })
	looked := fmt.Sprintf("The preview also evaluated %s", plural.Count(len(ended), "failed run"))
	if len(completing) == 0 {
		c.Effect(effect, problem.Sentence("%s: none of them would complete.", looked))
		return
	}
	order(completing, t.next.Lower(), (*tried).valueAfter)
	effect.Count = int64(len(completing))
	said := inQuotas(completing, func(r *tried) bool { return t.limited && !r.run.Uncounted() }, quotaWords{
		all:  " would complete and count in the quotas.",
		some: " would complete. Only %d of these would count in the quotas.",
		none: " would complete. No quota counts these.",
	})
	c.Effect(effect, problem.Sentence("%s: %d of them%s The best is a run of %s.", looked, len(completing), said, completing[0].team()))
}

// quotaWords holds words about runs, for the cases that quotas count all, some or none of them. In some, %d is the number that they count.
// Quotas count neither baselines nor refunded runs.
type quotaWords struct{ all, some, none string }

// inQuotas returns the words that hold for the runs. counts reports whether quotas count a run.
func inQuotas(runs []*tried, counts func(*tried) bool, words quotaWords) string {
	n := 0
	for _, r := range runs {
		if counts(r) {
			n++
		}
	}
	switch n {
	case len(runs):
		return words.all
	case 0:
		return words.none
	default:
		return fmt.Sprintf(words.some, n)
	}
}
