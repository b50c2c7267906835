package queue

import (
	"context"
	"fmt"
	"time"

	"assay/shared/measure"
	"assay/shared/plural"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

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
	if t.run.Restarts++; t.run.Restarts > record.MaxRestarts {
		return t.failAttempt(why)
	}
	t.run.Attempts--
	return t.giveBack()
}

// ReclaimExpired is FailAttempt, without a delay, for a run whose lease has expired. A run whose lease has not, or that has none,
// stays as it is. A lease that its worker never confirmed does not count as an attempt: it may not even have reached the worker.
func (q Queue) ReclaimExpired(ctx context.Context, runID string) error {
	run, err := records.Get[record.RunItem](ctx, q.Store, store.Strong, record.RunKey(runID))
	if err != nil || run == nil || run.Lease == nil {
		return err
	}
	_, err = q.underLease(ctx, LeaseRefOf(run), func(t *transition) error {
		switch l := t.run.Lease; {
		case l.Until.After(t.now):
			return ErrStaleLease // its holder has extended it
		case t.run.Queue == record.QueueWorkers && !l.Confirmed:
			return t.releaseAfterCrash("no worker that was given it began")
		default:
			return t.failAttempt("its lease expired without a heartbeat")
		}
	})
	return IgnoreStale(err)
}

func (t *transition) failAttempt(why string) error {
	run := t.run
	run.AddDiagnostics(measure.Diagnostic{Severity: measure.Warning, SafeWhileBlinded: true, Message: fmt.Sprintf(
		"Attempt %d of %d, begun at %s, did not come to an end: %s.", run.Attempts, record.MaxAttempts, run.StartedAt.Format(time.RFC3339), why)})
	if run.Attempts < record.MaxAttempts {
		return t.giveBack()
	}
	return t.fail(measure.Diagnostic{Severity: measure.Error, SafeWhileBlinded: true, Message: fmt.Sprintf(
		"The run was begun %s and no attempt came to an end, at last because %s. The run does not count in the quota: submit it again, and "+
			"tell the organizers if that fails too.",
		plural.Count(run.Attempts, "time"), why)})
}
