package queue

import (
	"context"
	"time"

	"assay/shared/measure"
	"assay/shared/record"
	"assay/shared/store"
	"assay/shared/table"
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

// Complete writes the outcome and ends the run, in one transaction. The evaluation that the run had before, which is
// against an earlier truth, no longer stands for it, and the oldest goes beyond record.MaxEvaluations. It returns the
// run, or ErrTruthChanged.
func Complete(ctx context.Context, s store.Store, now time.Time, h Hold, o Outcome) (*record.RunItem, error) {
	return change(ctx, s, h, func(run *record.RunItem, tx *table.Tx) error {
		if err := move(run, record.Completed, now); err != nil {
			return err
		}
		tx.Check(o.Truth).Or(ErrTruthChanged)
		if err := supersede(ctx, s, run, tx); err != nil {
			return err
		}
		e := *o.Evaluation
		e.RunID, e.SubmissionID, e.TaskID, e.DatasetID = run.ID, run.SubmissionID, run.TaskID, run.DatasetID
		e.UserID, e.Team, e.Standing, e.Baseline = run.UserID, run.Team, run.Standing, run.Standing.Baseline
		e.TruthVersion = o.Truth.Number
		tx.Create(&e)
		if o.Topics != nil {
			tx.Create(o.Topics)
		}
		run.Evaluations = append(run.Evaluations, e.ID)
		run.EvaluationID, run.TruthVersion = e.ID, o.Truth.Number
		run.Diagnostics = []measure.Diagnostic{}
		run.AddDiagnostics(o.Warnings...)
		return recharge(ctx, s, now, run, tx)
	})
}

// supersede takes the evaluation that the run had out of the lists, and makes room for another one.
func supersede(ctx context.Context, s store.Store, run *record.RunItem, tx *table.Tx) error {
	n := len(run.Evaluations)
	if n == 0 {
		return nil
	}
	last, err := table.Get[record.EvaluationItem](ctx, s, store.Strong, record.EvaluationKey(run.Evaluations[n-1]))
	if err != nil {
		return err
	}
	if last != nil {
		last.Superseded = true // which is told by the lists that it is not in
		tx.Replace(last)
	}
	if n == record.MaxEvaluations {
		Forget(tx, run.Evaluations[0])
		run.Evaluations = run.Evaluations[1:]
	}
	return nil
}

// Forget adds to tx that the evaluation is no more. An object with its values per topic is found by the cleaning of
// files that no record names.
func Forget(tx *table.Tx, evaluationID string) {
	tx.DeleteKey(record.EvaluationKey(evaluationID)).DeleteKey(record.TopicsKey(evaluationID))
}
