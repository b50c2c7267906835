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

// FailAttempt gives back a run whose attempt broke off, for the reason that the sentence why tells. While attempts are left
// it waits again where it waited, after RetryDelay if it is work of workers, and so comes first; after the last it fails, and
// its diagnostics tell how each ended.
func FailAttempt(ctx context.Context, s store.Store, now time.Time, h LeaseRef, why string) (*record.RunItem, error) {
	return change(ctx, s, h, func(run *record.RunItem, tx *records.Tx) error {
		if run.Queue == record.QueueWorkers {
			run.NotBefore = new(record.At(now.Add(RetryDelay * time.Duration(run.Attempts))))
		}
		return abandon(ctx, s, now, run, why, tx)
	})
}

// ReleaseAfterCrash gives back a run because the platform's own process ended while it worked on it. That is no attempt of the
// run's, unless it happens so often that the run must be what ends the process.
func ReleaseAfterCrash(ctx context.Context, s store.Store, now time.Time, h LeaseRef) (*record.RunItem, error) {
	return change(ctx, s, h, func(run *record.RunItem, tx *records.Tx) error {
		return interrupt(ctx, s, now, run, "the process that worked on it ended", tx)
	})
}

func interrupt(ctx context.Context, s store.Store, now time.Time, run *record.RunItem, why string, tx *records.Tx) error {
	if run.Restarts++; run.Restarts > record.MaxRestarts {
		return abandon(ctx, s, now, run, why, tx)
	}
	run.Attempts--
	return giveBack(ctx, s, now, run)
}

// ReclaimExpired is Abandon for a run whose lease has lapsed. A run whose lease has not, or that has none, stays as it is. A
// lease that its worker never confirmed was no attempt: it may not even have reached the worker.
func ReclaimExpired(ctx context.Context, s store.Store, now time.Time, runID string) error {
	run, err := records.Get[record.RunItem](ctx, s, store.Strong, record.RunKey(runID))
	if err != nil || run == nil || run.Lease == nil {
		return err
	}
	_, err = change(ctx, s, LeaseRefOf(run), func(run *record.RunItem, tx *records.Tx) error {
		if run.Lease.Until.After(now) {
			return ErrStaleLease // its holder is alive after all
		}
		if run.Queue == record.QueueWorkers && !run.Lease.Confirmed {
			return interrupt(ctx, s, now, run, "no worker that was given it began", tx)
		}
		return abandon(ctx, s, now, run, "whoever worked on it was not heard of any more", tx)
	})
	return IgnoreStale(err)
}

func abandon(ctx context.Context, s store.Store, now time.Time, run *record.RunItem, why string, tx *records.Tx) error {
	run.AddDiagnostics(measure.Diagnostic{Severity: measure.Warning, SafeWhileBlinded: true, Message: fmt.Sprintf(
		"Attempt %d of %d, begun at %s, did not come to an end: %s.", run.Attempts, record.MaxAttempts, run.StartedAt.Format(time.RFC3339), why)})
	if run.Attempts < record.MaxAttempts {
		return giveBack(ctx, s, now, run)
	}
	return fail(ctx, s, now, run, []measure.Diagnostic{{Severity: measure.Error, SafeWhileBlinded: true, Message: fmt.Sprintf(
		"The run was begun %s and no attempt came to an end, at last because %s. The run does not count in the quota: submit it again, and tell the organizers if that fails too.",
		plural.Count(run.Attempts, "time"), why)}}, tx)
}
