package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"assay/shared/blob"
	"assay/shared/measure"
	"assay/shared/problem"
	"assay/shared/quota"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/runlog"
)

// Heartbeat extends the lease for the duration from now, and appends lines to the log, of which the first has the given
// position among all that were sent under the lease: lines that the log has already are left out. It returns the run, or
// ErrLinesMissing. The lines get the instant at which they were received.
func (q Queue) Heartbeat(ctx context.Context, l LeaseRef, d time.Duration, first int64, lines []record.LogLine) (*record.RunItem, error) {
	return q.underLease(ctx, l, func(t *transition) error {
		run, l := t.run, t.run.Lease
		if first > l.Lines {
			return ErrLinesMissing
		}
		fresh := lines[min(l.Lines-first, int64(len(lines))):]
		l.Lines += int64(len(fresh))
		l.Until = record.At(t.now.Add(d))
		kind := record.ExecutionLog
		if run.State == record.Evaluating {
			kind = record.EvaluationLog
		}
		if !l.Confirmed {
			l.Confirmed = true
			fresh = slices.Concat([]record.LogLine{{Stream: record.StreamWorker, Text: fmt.Sprintf(
				"Attempt %d of %d begins on the worker %s.", run.Attempts, record.MaxAttempts, l.Holder)}}, fresh)
		}
		runlog.Append(t.tx, run, kind, fresh, t.now)
		return nil
	})
}

// CompleteExecution takes the output of an execution. Files that are not all in the object store yet are kept with the lease, so
// that they are expected when they arrive, and returned. Once they are there they are the run's, which waits to be evaluated
// against the truth as it is now, with none of its attempts used.
//
// The files count as stored for the run's owner in the transaction that makes them the run's. A run whose output exceeds what
// its owner may still store fails.
func (q Queue) CompleteExecution(ctx context.Context, files blob.Store, l LeaseRef, outputs []record.File,
	limits record.UsageLimits) (run *record.RunItem, missing []record.File, err error) {
	run, err = q.underLease(ctx, l, func(t *transition) error {
		run := t.run
		if run.State != record.Running {
			return problem.Conflict.New("The run is %s: only one that is being executed takes an output.", run.State)
		}
		if missing, err = missingFiles(ctx, files, run.ID, outputs); err != nil {
			return err
		}
		counted := t.tx
		if len(missing) > 0 {
			counted = new(records.Tx) // they do not count yet
		}
		size := record.SizeOf(outputs)
		err := quota.TakeFor(ctx, q.Store, t.now, counted, run.UserID, limits, record.Charge{Bytes: size})
		if problem.QuotaExhausted.Is(err) {
			missing = nil
			return t.fail(measure.Diagnostic{Severity: measure.Error, SafeWhileBlinded: true, Message: fmt.Sprintf(
				"The output has %d bytes, which is more than is left of what its owner may store. Delete submissions or runs that are no longer "+
					"needed, and submit again.", size)})
		}
		if err != nil {
			return err
		}
		if len(missing) > 0 {
			run.Lease.Outputs = outputs
			return nil
		}
		truth, err := t.truth()
		if err != nil {
			return err
		}
		run.Files, run.Bytes = outputs, size
		if truth != nil {
			assign(run, truth)
		} else {
			run.Queue = record.QueueBuiltin
		}
		run.Attempts, run.Restarts, run.QueuedAt = 0, 0, new(record.At(t.now))
		run.Diagnostics = []measure.Diagnostic{}
		return t.move(record.Evaluating)
	})
	return run, missing, err
}

// missingFiles marks those of a run's files as stored that the object store has, and returns the others.
func missingFiles(ctx context.Context, files blob.Store, runID string, outputs []record.File) ([]record.File, error) {
	there := make([]bool, len(outputs))
	err := records.Together(len(outputs), func(i int) error {
		o, err := files.Stat(ctx, record.ObjectKey(record.HolderRuns, runID, outputs[i].SHA256))
		switch {
		case err == nil:
			there[i] = o.Size == outputs[i].Size
			return nil
		case errors.Is(err, blob.ErrNotFound):
			return nil
		default:
			return problem.Unavailable.Wrap(err, "The file store does not answer at the moment. Try again in a few seconds.").After(2 * time.Second)
		}
	})
	var missing []record.File
	for i := range outputs {
		outputs[i].State = record.FileStored
		if !there[i] {
			outputs[i].State = record.FilePending
			missing = append(missing, outputs[i])
		}
	}
	return missing, err
}
