package queue

import (
	"context"
	"fmt"
	"slices"
	"time"

	"assay/shared/measure"
	"assay/shared/metrics"
	"assay/shared/plural"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
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
		return t.requeue()
	})
}

// MoveToSlowLane gives back a run whose evaluation has used up its budget, and puts it into the queue of the slow lane. The attempt does
// not count.
func (q Queue) MoveToSlowLane(ctx context.Context, l LeaseRef) (*record.RunItem, error) {
	return q.underLease(ctx, l, func(t *transition) error {
		t.run.Attempts--
		t.run.Queue = record.QueueSlow
		return t.requeue()
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
		refund := t.refund
		if truth == nil {
			t.tx.CheckAbsent(record.TruthKey(t.run.DatasetID)).Or(ErrTruthChanged)
		} else {
			t.tx.Check(truth).Or(ErrTruthChanged)
			t.run.TruthVersion = truth.Number
			if t.run.Access.Conceals() && !measure.HasErrors(measure.SafeDiagnostics(reasons)) {
				refund = t.refundTruthFailure
			}
		}
		t.run.Diagnostics = []measure.Diagnostic{}
		if err := t.failWith(refund, reasons); err != nil || truth == nil || !ListingOutdated(t.run, truth) {
			return err
		}
		return t.updateListing(truth)
	})
}

// fail makes the transition to failed, and refunds the run to its user's quota.
func (t *transition) fail(reasons ...measure.Diagnostic) error { return t.failWith(t.refund, reasons) }

func (t *transition) failWith(refund func() error, reasons []measure.Diagnostic) error {
	if err := t.changeState(record.Failed); err != nil {
		return err
	}
	t.run.AddDiagnostics(reasons...)
	t.tell(record.EventRunFailed)
	return refund()
}

// tell adds to the transaction that the team is notified of how the run ended, unless that is of an evaluation against a changed truth,
// which the team is notified of in itself.
func (t *transition) tell(kind record.EventKind) {
	if len(t.run.Evaluations) == 0 {
		t.tx.Create(record.NewEvent(t.now, kind, t.run.Scope(), "/v1/runs/"+t.run.ID))
	}
}

// RetryDelay is how long no worker gets a run that a worker gave back; after an attempt, once for each attempt that it had. The
// cause, such as a registry that does not answer, may be over then, and no worker leases the same run in a tight loop.
const RetryDelay = 15 * time.Second

// FailAttempt gives back a run whose attempt broke off, for the reason that the sentence why states. While attempts are left
// it waits again in its place, after RetryDelay if it is work of workers. After the last it fails, and its diagnostics say how
// each ended.
func (q Queue) FailAttempt(ctx context.Context, l LeaseRef, why string) (*record.RunItem, error) {
	return q.underLease(ctx, l, func(t *transition) error {
		if t.run.Queue == record.QueueWorkers {
			t.run.NotBefore = new(record.At(t.now.Add(RetryDelay * time.Duration(t.run.Attempts))))
		}
		return t.failAttempt(why)
	})
}

// ReleaseAfterCrash gives back a run because the platform's own process ended while it worked on it. That does not count as an
// attempt, unless it happens so often that the run must be what ends the process.
func (q Queue) ReleaseAfterCrash(ctx context.Context, l LeaseRef) (*record.RunItem, error) {
	return q.underLease(ctx, l, func(t *transition) error {
		return t.releaseAfterCrash("the process that worked on it ended")
	})
}

func (t *transition) releaseAfterCrash(why string) error {
	t.run.Restarts++
	if t.run.Restarts > record.MaxRestarts {
		return t.failAttempt(why)
	}
	t.run.Attempts--
	return t.requeue()
}

// ReclaimExpired is FailAttempt, without a delay, for a run whose lease has expired. A run whose lease has not, or that has none,
// stays as it is. A lease that its worker never confirmed does not count as an attempt: it may not even have reached the worker.
//
// A lease with an extension ends later than the index of expired leases says. Its run is then written with the later end.
func (q Queue) ReclaimExpired(ctx context.Context, runID string) (reclaimed bool, err error) {
	run, err := records.Get[record.RunItem](ctx, q.Store, store.Strong, record.RunKey(runID))
	if err != nil || run == nil || run.Lease == nil {
		return false, err
	}
	queue := run.Queue
	_, err = q.underLease(ctx, LeaseRefOf(run), func(t *transition) error {
		l := t.run.Lease
		extension, err := records.Get[record.LeaseExtension](t.ctx, t.store, store.Strong, record.LeaseExtensionKey(runID, l.ID))
		if err != nil {
			return err
		}
		until := l.ExtendedUntil(extension)
		if reclaimed = !until.After(t.now); reclaimed && extension != nil {
			t.tx.Delete(extension) // so that no heartbeat extends it any more
		}
		switch {
		case until.After(l.Until.Time) && !reclaimed:
			l.Until = until
			return nil
		case !reclaimed:
			return ErrStaleLease // it was extended with the run
		case t.run.Queue == record.QueueWorkers && !l.Confirmed:
			return t.releaseAfterCrash("no worker that was given it began")
		default:
			return t.failAttempt("its lease expired without a heartbeat")
		}
	})
	if reclaimed = reclaimed && err == nil; reclaimed {
		q.Metrics.Record(metrics.LeasesExpired, 1, queue)
	}
	return reclaimed, IgnoreStale(err)
}

func (t *transition) failAttempt(why string) error {
	run := t.run
	run.AddDiagnostics(measure.Diagnostic{Severity: measure.Warning, SafeWhileBlinded: true, Message: fmt.Sprintf(
		"Attempt %d of %d, begun at %s, did not come to an end: %s.", run.Attempts, record.MaxAttempts, run.StartedAt.Format(time.RFC3339), why)})
	if run.Attempts < record.MaxAttempts {
		return t.requeue()
	}
	return t.fail(measure.Diagnostic{Severity: measure.Error, SafeWhileBlinded: true, Message: fmt.Sprintf(
		"The run was begun %s and no attempt came to an end, at last because %s. The run does not count in the quota: submit it again, and "+
			"tell the organizers if that fails too.",
		plural.Count(run.Attempts, "time"), why)})
}

// Postpone gives a run back whose work cannot begin yet, for what it needs is still to come. The attempt does not count, and
// nobody takes the run up for the duration.
func (q Queue) Postpone(ctx context.Context, l LeaseRef, d time.Duration) (*record.RunItem, error) {
	return q.underLease(ctx, l, func(t *transition) error {
		t.run.Attempts--
		t.run.NotBefore = new(record.At(t.now.Add(d)))
		return t.requeue()
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
		return t.requeue()
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
