package queue

import (
	"context"
	"fmt"
	"slices"
	"time"

	"assay/shared/computation/measure"
	"assay/shared/domain/record"
	"assay/shared/language/clock"
	"assay/shared/language/metrics"
	"assay/shared/language/plural"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

// LeaseRef names a run, a lease of the run, and the user who took the lease. Only that user can use the lease, even if others learn its
// ID.
type LeaseRef struct {
	RunID, LeaseID, UserID string
	// Request is the digest of the request that causes a change. The run keeps the digest of the request that ends the lease, so that
	// Ended recognizes repeats of the request. If Request is empty, the run keeps nothing.
	Request string
}

// LeaseRefOf returns the reference to the run's lease.
func LeaseRefOf(run *record.RunItem) LeaseRef {
	return LeaseRef{RunID: run.ID, LeaseID: run.Lease.ID, UserID: run.Lease.UserID}
}

// Matches reports whether l refers to the lease.
func (l LeaseRef) Matches(lease *record.Lease) bool {
	return lease != nil && lease.ID == l.LeaseID && lease.UserID == l.UserID
}

// Ended returns how the lease ended, if a request under the lease or a cancellation ended it. Otherwise it returns nil. It also returns
// nil after a later lease of the run has ended in one of these ways.
func (l LeaseRef) Ended(run *record.RunItem) *record.EndedLease {
	if e := run.Ended; e != nil && e.ID == l.LeaseID && e.UserID == l.UserID {
		return e
	}
	return nil
}

// underLease applies a transition to a run with the lease, and returns the run. It returns ErrStaleLease if the run no longer has the
// lease.
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

// Extend makes the lease end after the duration from now.
func (q Queue) Extend(ctx context.Context, l LeaseRef, d time.Duration) error {
	_, err := q.underLease(ctx, l, func(t *transition) error {
		t.run.Lease.Until = record.At(t.now.Add(d))
		return nil
	})
	return err
}

// Release returns a run to the queue that its holder did not begin, because the holder stops or the work is for another kind of
// evaluator. The attempt does not count, and the run keeps its place in the queue.
func (q Queue) Release(ctx context.Context, l LeaseRef) (*record.RunItem, error) {
	return q.underLease(ctx, l, func(t *transition) error {
		t.run.Attempts--
		return t.requeue()
	})
}

// MoveToSlowLane moves a run whose evaluation has used up its budget to the queue of the slow lane. The attempt does not count.
func (q Queue) MoveToSlowLane(ctx context.Context, l LeaseRef) (*record.RunItem, error) {
	return q.underLease(ctx, l, func(t *transition) error {
		t.run.Attempts--
		t.run.Queue = record.QueueSlow
		return t.requeue()
	})
}

// Fail ends a run whose work cannot succeed, for the given reasons.
func (q Queue) Fail(ctx context.Context, l LeaseRef, reasons []measure.Diagnostic) (*record.RunItem, error) {
	return q.underLease(ctx, l, func(t *transition) error {
		t.run.Diagnostics = []measure.Diagnostic{}
		return t.fail(reasons...)
	})
}

// FailAgainst is like Fail, for reasons that depend on both the run and the ground truth (qrels, labels). A nil truth means that the
// dataset has none, which is the reason. If the ground truth has changed, FailAgainst returns ErrTruthChanged, because the reasons may
// no longer apply. If failures of the run are limited and it fails only for reasons that the ground truth reveals, the failure is
// counted. Beyond the allowed number, FailAgainst returns ErrTruthFailures.
func (q Queue) FailAgainst(ctx context.Context, l LeaseRef, truth *record.TruthVersion, reasons []measure.Diagnostic) (
	*record.RunItem, error) {
	return q.underLease(ctx, l, func(t *transition) error {
		refund := t.refund
		if truth == nil {
			t.tx.CheckAbsent(record.TruthKey(t.run.DatasetID)).Or(ErrTruthChanged)
		} else {
			t.tx.Check(truth).Or(ErrTruthChanged)
			if t.run.LimitsTruthFailures() && !measure.HasErrors(measure.SafeDiagnostics(reasons)) {
				refund = t.refundTruthFailure
			}
			t.run.TruthVersion = truth.Number
		}
		t.run.NextTruthFailure = nil
		t.run.Diagnostics = []measure.Diagnostic{}
		if err := t.failWith(refund, reasons); err != nil || truth == nil || !ListingOutdated(t.run, truth) {
			return err
		}
		return t.updateListing(truth)
	})
}

// fail changes the state to failed, and refunds the run to its user's quota.
func (t *transition) fail(reasons ...measure.Diagnostic) error { return t.failWith(t.refund, reasons) }

func (t *transition) failWith(refund func() error, reasons []measure.Diagnostic) error {
	if err := t.changeState(record.Failed); err != nil {
		return err
	}
	t.run.AddDiagnostics(reasons...)
	t.tell(record.EventRunFailed)
	return refund()
}

// tell adds an event to the transaction that notifies the team of the run's end. It adds none for completions after the first: the
// change of the ground truth has its own event. That event does not say which runs fail, so failures of completed runs are told. A run that
// failed before and fails again against another ground truth is not told again.
func (t *transition) tell(kind record.EventKind) {
	tells := len(t.run.Evaluations) == 0
	if kind == record.EventRunFailed {
		tells = !t.run.FailureTold
		t.run.FailureTold = true
	}
	if tells {
		t.tx.Create(record.NewEvent(t.now, kind, t.run.Scope(), "/v1/runs/"+t.run.ID))
	}
}

// RetryDelay is how long no worker gets a run that a worker returned. After an attempt, the delay is RetryDelay times the number of
// attempts. The cause, such as a registry that does not answer, may have ended by then, and workers do not lease the same run in a
// tight loop.
const RetryDelay = 15 * time.Second

// FailAttempt returns a run to the queue after a failed attempt. why is the reason, a clause for the diagnostics. While attempts
// remain, the run waits in its place again, after RetryDelay if its work is for workers. After the last attempt it fails, and its
// diagnostics say how each attempt ended.
func (q Queue) FailAttempt(ctx context.Context, l LeaseRef, why string) (*record.RunItem, error) {
	return q.underLease(ctx, l, func(t *transition) error {
		if t.run.Queue == record.QueueWorkers {
			t.run.NotBefore = new(record.At(t.now.Add(RetryDelay * time.Duration(t.run.Attempts))))
		}
		return t.failAttempt(why)
	})
}

// ReleaseAfterCrash returns a run to the queue because the platform's own process ended while it worked on the run. This does not count
// as an attempt. After record.MaxRestarts it does, because then the run probably ends the process.
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

// ReclaimExpired ends the lease of a run if it has expired, like FailAttempt without a delay. Other runs stay unchanged. If the worker
// never confirmed the lease, the attempt does not count, because the lease may not have reached the worker.
//
// A lease with an extension ends later than the index of expired leases says. ReclaimExpired then writes the later end to the run.
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
		reclaimed = !until.After(t.now)
		if reclaimed && extension != nil {
			t.tx.Delete(extension) // so that no heartbeat can extend it
		}
		switch {
		case until.After(l.Until.Time) && !reclaimed:
			l.Until = until
			return nil
		case !reclaimed:
			return ErrStaleLease // the run has a later end of the lease
		case t.run.Queue == record.QueueWorkers && !l.Confirmed:
			return t.releaseAfterCrash("no worker that was given it began")
		default:
			return t.failAttempt("its lease expired without a heartbeat")
		}
	})
	reclaimed = reclaimed && err == nil
	if reclaimed {
		q.Metrics.Record(metrics.LeasesExpired, 1, queue)
	}
	return reclaimed, IgnoreStale(err)
}

func (t *transition) failAttempt(why string) error {
	run := t.run
	run.AddDiagnostics(measure.Diagnostic{Severity: measure.Warning, SafeWhileBlinded: true, Message: fmt.Sprintf(
		"Attempt %d of %d, begun at %s, did not come to an end: %s.", run.Attempts, record.MaxAttempts, clock.Instant(run.StartedAt.Time), why)})
	if run.Attempts < record.MaxAttempts {
		return t.requeue()
	}
	return t.fail(measure.Diagnostic{Severity: measure.Error, SafeWhileBlinded: true, Message: fmt.Sprintf(
		"The run was begun %s and no attempt came to an end, at last because %s. No quota counts the run: submit it again, and tell "+
			"the organizers if that fails too.",
		plural.Count(run.Attempts, "time"), why)})
}

// Postpone returns a run to the queue whose work cannot begin yet, because something that it needs is not available. The attempt does
// not count. Nobody leases the run for the duration.
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

// AwaitTruth returns a run to the queue whose dataset has no ground truth yet, and adds a diagnostic. The attempt does not count.
// Nobody leases the run until the instant, unless Reevaluate makes it available once the ground truth exists. If the ground truth
// exists already, AwaitTruth returns ErrTruthChanged.
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

// Resume makes a run available again whose NotBefore has passed. Other runs stay unchanged.
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
