package queue

import (
	"context"
	"time"

	"assay/shared/measure"
	"assay/shared/record"
)

// LeaseRef names a run, the lease under which it is worked on, and the identity that took the lease. The lease is valid for
// that identity alone, even when another one learns its id.
type LeaseRef struct {
	RunID, LeaseID, UserID string
	// Request is the digest of the request that a change is made for. The one that ends the lease is kept with the run, so that
	// Ended recognizes its repeats; empty: none is kept.
	Request string
}

// LeaseRefOf returns the reference to the lease of a run that was just leased.
func LeaseRefOf(run *record.RunItem) LeaseRef {
	return LeaseRef{RunID: run.ID, LeaseID: run.Lease.ID, UserID: run.Lease.UserID}
}

// Matches reports whether the lease is the one that the reference names.
func (l LeaseRef) Matches(lease *record.Lease) bool {
	return lease != nil && lease.ID == l.LeaseID && lease.UserID == l.UserID
}

// Ended returns how the lease that the reference names ended; nil unless a request under it or a cancellation ended it, and no
// later lease of the run was ended so.
func (l LeaseRef) Ended(run *record.RunItem) *record.EndedLease {
	if e := run.Ended; e != nil && e.ID == l.LeaseID && e.UserID == l.UserID {
		return e
	}
	return nil
}

// underLease applies a transition to a run that has the lease, and returns the run, or ErrStaleLease.
func (q Queue) underLease(ctx context.Context, l LeaseRef, do func(*transition) error) (run *record.RunItem, err error) {
	written, err := q.update(ctx, l.RunID, func(t *transition) (bool, error) {
		run = t.run
		if !l.Matches(run.Lease) {
			return false, nil
		}
		if err := do(t); err != nil {
			return false, err
		}
		if run.Lease == nil && l.Request != "" {
			run.Ended = &record.EndedLease{ID: l.LeaseID, UserID: l.UserID, Request: l.Request, State: run.State, EvaluationID: run.EvaluationID}
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
func (q Queue) Extend(ctx context.Context, l LeaseRef, d time.Duration) error {
	_, err := q.underLease(ctx, l, func(t *transition) error {
		t.run.Lease.Until = record.At(t.now.Add(d))
		return nil
	})
	return err
}

// Release gives back a run that its holder did not begin, because it stops or because the work is for another kind of
// evaluator: the attempt does not count, and the run keeps its place in the queue.
func (q Queue) Release(ctx context.Context, l LeaseRef) (*record.RunItem, error) {
	return q.underLease(ctx, l, func(t *transition) error {
		t.run.Attempts--
		return t.giveBack()
	})
}

// Fail ends a run whose work cannot succeed, for the reasons given.
func (q Queue) Fail(ctx context.Context, l LeaseRef, reasons []measure.Diagnostic) (*record.RunItem, error) {
	return q.underLease(ctx, l, func(t *transition) error {
		t.run.Diagnostics = []measure.Diagnostic{}
		return t.fail(reasons...)
	})
}

// FailAgainst is Fail for reasons that lie in the run and the truth together, or, without a truth, in its absence. A truth
// that has changed meanwhile is ErrTruthChanged, since the reasons may no longer apply. A blinded run that fails for nothing but
// what only the truth can reveal may exceed the number of such failures, which is ErrTruthFailures.
func (q Queue) FailAgainst(ctx context.Context, l LeaseRef, truth *record.Truth, reasons []measure.Diagnostic) (*record.RunItem, error) {
	return q.underLease(ctx, l, func(t *transition) error {
		if truth == nil {
			t.tx.CheckAbsent(record.TruthKey(t.run.DatasetID)).Or(ErrTruthChanged)
		} else {
			t.tx.Check(truth).Or(ErrTruthChanged)
			t.run.TruthVersion = truth.Number
		}
		t.run.Diagnostics = []measure.Diagnostic{}
		var err error
		if truth != nil && t.run.Access.Blinded && !measure.HasErrors(measure.SafeDiagnostics(reasons)) {
			if err = t.end(reasons); err == nil {
				err = t.refundTruthFailure()
			}
		} else {
			err = t.fail(reasons...)
		}
		if err != nil || truth == nil || !ListingOutdated(t.run, truth) {
			return err
		}
		return t.updateListing(truth)
	})
}

// fail makes the transition to failed, and refunds the run to its user's quota.
func (t *transition) fail(reasons ...measure.Diagnostic) error {
	if err := t.end(reasons); err != nil {
		return err
	}
	return t.refund()
}

func (t *transition) end(reasons []measure.Diagnostic) error {
	err := t.move(record.Failed)
	t.run.AddDiagnostics(reasons...)
	return err
}
