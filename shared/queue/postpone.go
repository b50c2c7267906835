package queue

import (
	"context"
	"slices"
	"time"

	"assay/shared/measure"
	"assay/shared/record"
)

// Postpone gives a run back whose work cannot begin yet, for what it needs is still to come. The attempt does not count, and
// nobody takes the run up for the duration.
func (q Queue) Postpone(ctx context.Context, l LeaseRef, d time.Duration) (*record.RunItem, error) {
	return q.underLease(ctx, l, func(t *transition) error {
		t.run.Attempts--
		t.run.NotBefore = new(record.At(t.now.Add(d)))
		return t.giveBack()
	})
}

var awaitsTruth = measure.Diagnostic{Severity: measure.Warning, SafeWhileBlinded: true,
	Message: "The run waits for the truth of the dataset, which has not arrived or is being read. It is evaluated by itself once the truth " +
		"is there; if none is within a day, it fails."}

// AwaitTruth gives a run back whose dataset has no truth yet, and says so. The attempt does not count, and nobody takes the run
// up before the instant unless Reevaluate, with the truth, has it wait in its queue again. A truth that came meanwhile is
// ErrTruthChanged.
func (q Queue) AwaitTruth(ctx context.Context, l LeaseRef, until time.Time) (*record.RunItem, error) {
	return q.underLease(ctx, l, func(t *transition) error {
		t.tx.CheckAbsent(record.TruthKey(t.run.DatasetID)).Or(ErrTruthChanged)
		t.run.Attempts--
		t.run.NotBefore = new(record.At(until))
		if !slices.Contains(t.run.Diagnostics, awaitsTruth) {
			t.run.AddDiagnostics(awaitsTruth)
		}
		return t.giveBack()
	})
}

// Resume queues a run again whose postponement is over. One that is not postponed, or for longer, stays as it is.
func (q Queue) Resume(ctx context.Context, runID string) error {
	_, err := q.update(ctx, runID, func(t *transition) (bool, error) {
		if !t.run.Waits() || t.run.NotBefore == nil || t.run.NotBefore.After(t.now) {
			return false, nil
		}
		t.run.NotBefore = nil
		return true, nil
	})
	return err
}
