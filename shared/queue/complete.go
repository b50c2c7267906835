package queue

import (
	"context"
	"errors"
	"slices"
	"time"

	"assay/shared/measure"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

// Outcome is what the evaluation of a run came to.
type Outcome struct {
	// Evaluation has the measures and what makes them repeatable. What it says of the run (whose it is, who may see it)
	// is filled in from the run as it is when the outcome is written.
	Evaluation *record.EvaluationItem
	Topics     *record.Topics // nil when there are no values per topic
	Truth      *record.Truth  // what was evaluated against; if it has changed, the outcome is void
	Warnings   []measure.Diagnostic
}

// CompleteEvaluation writes the outcome and ends the run, in one transaction. In lists the evaluation replaces the one that the run
// had there, unless the truth is held: then UpdateListing does that later. The oldest goes beyond record.MaxEvaluations. It returns the
// run, or ErrTruthChanged.
func CompleteEvaluation(ctx context.Context, s store.Store, now time.Time, h LeaseRef, o Outcome) (*record.RunItem, error) {
	return change(ctx, s, h, func(run *record.RunItem, tx *records.Tx) error {
		if err := move(run, record.Completed, now); err != nil {
			return err
		}
		tx.Check(o.Truth).Or(ErrTruthChanged)
		e := *o.Evaluation
		e.Unlisted = o.Truth.Held
		if err := supersede(ctx, s, run, o.Truth.Held, tx); err != nil {
			return err
		}
		e.RunID, e.SubmissionID, e.TaskID, e.DatasetID = run.ID, run.SubmissionID, run.TaskID, run.DatasetID
		e.UserID, e.Team, e.Access, e.Baseline = run.UserID, run.Team, run.Access, run.Access.Baseline
		e.TruthVersion, e.Label, e.SubmittedAt = o.Truth.Number, run.Label, run.CreatedAt
		tx.Create(&e)
		if o.Topics != nil {
			tx.Create(o.Topics)
		}
		run.Evaluations = append(run.Evaluations, e.ID)
		run.EvaluationID, run.TruthVersion, run.RunTag = e.ID, o.Truth.Number, e.RunTag
		run.Diagnostics = []measure.Diagnostic{}
		run.AddDiagnostics(o.Warnings...)
		if err := noteTruthFailures(ctx, s, now, run, tx); err != nil {
			return err
		}
		return recharge(ctx, s, now, run, tx)
	})
}

// supersede takes the evaluation that the run has in lists out of them, unless the next one is held, and makes room for that.
func supersede(ctx context.Context, s store.Store, run *record.RunItem, held bool, tx *records.Tx) error {
	listed := run.ListedID()
	if len(run.Evaluations) == record.MaxEvaluations {
		oldest := slices.IndexFunc(run.Evaluations, func(id string) bool { return id != listed })
		DeleteEvaluation(tx, run.Evaluations[oldest])
		run.Evaluations = slices.Delete(slices.Clone(run.Evaluations), oldest, oldest+1)
	}
	if held {
		run.Held, run.Listed = true, listed
		return nil
	}
	run.Held, run.Listed = false, ""
	return list(ctx, s, listed, false, tx)
}

// list adds to tx whether the evaluation, if there is one with the id, is in lists.
func list(ctx context.Context, s store.Store, id string, listed bool, tx *records.Tx) error {
	if id == "" {
		return nil
	}
	e, err := records.Get[record.EvaluationItem](ctx, s, store.Strong, record.EvaluationKey(id))
	if err == nil && e != nil {
		e.Unlisted = !listed // which nobody is shown
		tx.Replace(e)
	}
	return err
}

// standing names the evaluation that is to stand for the run in lists once leaderboards show the version of the truth: the
// newest, or none when the run failed against that version.
func standing(run *record.RunItem, version int64) string {
	if run.State == record.Failed && run.TruthVersion == version {
		return ""
	}
	return run.EvaluationID
}

// ListingOutdated reports whether UpdateListing has something to do for the run.
func ListingOutdated(run *record.RunItem, truth *record.Truth) bool {
	return !truth.Held && run.ListedID() != standing(run, truth.Number)
}

// UpdateListing has lists show what stands for a run since leaderboards show the truth, and reports whether that changed anything.
func UpdateListing(ctx context.Context, s store.Store, runID string, truth *record.Truth) (changed bool, err error) {
	return records.Update(ctx, s, record.RunKey(runID), func(run *record.RunItem, tx *records.Tx) (bool, error) {
		if !ListingOutdated(run, truth) {
			return false, nil
		}
		return true, relist(ctx, s, run, truth, tx)
	})
}

func relist(ctx context.Context, s store.Store, run *record.RunItem, truth *record.Truth, tx *records.Tx) error {
	before, after := run.ListedID(), standing(run, truth.Number)
	run.Held, run.Listed = after != run.EvaluationID, ""
	return errors.Join(list(ctx, s, before, false, tx), list(ctx, s, after, true, tx))
}

// DeleteEvaluation adds to tx that the evaluation is no more. An object with its values per topic is found by the cleaning of
// files that no record names.
func DeleteEvaluation(tx *records.Tx, evaluationID string) {
	tx.DeleteKey(record.EvaluationKey(evaluationID)).DeleteKey(record.TopicsKey(evaluationID))
}
