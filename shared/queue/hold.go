package queue

import (
	"context"
	"time"

	"assay/shared/measure"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

// change applies a change to the run under the hold. The function gets the run as it is stored, alters it, and adds to
// the transaction what goes with it; it is called again when somebody else changed the run, but not its lease, meanwhile.
func change(ctx context.Context, s store.Store, h LeaseRef, do func(*record.RunItem, *records.Tx) error) (run *record.RunItem, err error) {
	written, err := records.Update(ctx, s, record.RunKey(h.RunID), func(r *record.RunItem, tx *records.Tx) (bool, error) {
		run = r
		if !h.Matches(run.Lease) {
			return false, nil
		}
		if err := do(run, tx); err != nil {
			return false, err
		}
		if run.Lease == nil && h.Request != "" {
			run.Ended = &record.EndedLease{ID: h.LeaseID, UserID: h.UserID, Request: h.Request, State: run.State, EvaluationID: run.EvaluationID}
		}
		return true, nil
	})
	switch {
	case err != nil:
		return nil, err
	case !written:
		return nil, ErrStaleLease
	}
	return run, nil
}

// Extend makes the lease last for the duration from now.
func Extend(ctx context.Context, s store.Store, now time.Time, h LeaseRef, d time.Duration) error {
	_, err := change(ctx, s, h, func(run *record.RunItem, _ *records.Tx) error {
		run.Lease.Until = record.At(now.Add(d))
		return nil
	})
	return err
}

// Release gives a run back that its holder did not get to, because it stops or because the work is another's: the
// attempt does not count, and the run waits where it is to wait now, in the place that it had.
func Release(ctx context.Context, s store.Store, now time.Time, h LeaseRef) (*record.RunItem, error) {
	return change(ctx, s, h, func(run *record.RunItem, _ *records.Tx) error {
		run.Attempts--
		return giveBack(ctx, s, now, run)
	})
}

// giveBack makes the transition of a run that goes back to wait: in the queue and the pool that its dataset has now, which
// may be others than those that it was leased from.
func giveBack(ctx context.Context, s store.Store, now time.Time, run *record.RunItem) error {
	truth, err := records.Get[record.Truth](ctx, s, store.Strong, record.TruthKey(run.DatasetID))
	if err != nil {
		return err
	}
	if truth != nil {
		assign(run, truth)
	}
	return move(run, record.Queued, now)
}

// Fail ends a run whose work cannot succeed, for the reasons given.
func Fail(ctx context.Context, s store.Store, now time.Time, h LeaseRef, reasons []measure.Diagnostic) (*record.RunItem, error) {
	return change(ctx, s, h, func(run *record.RunItem, tx *records.Tx) error {
		run.Diagnostics = []measure.Diagnostic{}
		return fail(ctx, s, now, run, reasons, tx)
	})
}

// FailAgainst is Fail for reasons that lie in the run and the truth together; without a truth, in that there is none. A
// truth that has changed meanwhile is ErrTruthChanged: the reasons may be gone with it. A blinded run that fails for nothing
// but what only the truth can know may be one too many, which is ErrTruthFailures.
func FailAgainst(ctx context.Context, s store.Store, now time.Time, h LeaseRef, truth *record.Truth, reasons []measure.Diagnostic) (*record.RunItem, error) {
	return change(ctx, s, h, func(run *record.RunItem, tx *records.Tx) error {
		if truth == nil {
			tx.CheckAbsent(record.TruthKey(run.DatasetID)).Or(ErrTruthChanged)
		} else {
			tx.Check(truth).Or(ErrTruthChanged)
			run.TruthVersion = truth.Number
		}
		run.Diagnostics = []measure.Diagnostic{}
		var err error
		if truth != nil && run.Access.Blinded && !measure.Refused(measure.SafeDiagnostics(reasons)) {
			if err = end(run, reasons, now); err == nil {
				err = refundTruthFailure(ctx, s, now, run, tx)
			}
		} else {
			err = fail(ctx, s, now, run, reasons, tx)
		}
		if err != nil || truth == nil || !ListingOutdated(run, truth) {
			return err
		}
		return relist(ctx, s, run, truth, tx)
	})
}

// fail makes the transition to failed, and takes the run out of its user's quota.
func fail(ctx context.Context, s store.Store, now time.Time, run *record.RunItem, reasons []measure.Diagnostic, tx *records.Tx) error {
	if err := end(run, reasons, now); err != nil {
		return err
	}
	return refund(ctx, s, now, run, tx)
}

func end(run *record.RunItem, reasons []measure.Diagnostic, now time.Time) error {
	err := move(run, record.Failed, now)
	run.AddDiagnostics(reasons...)
	return err
}
