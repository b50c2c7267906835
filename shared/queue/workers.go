package queue

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"assay/shared/blob"
	"assay/shared/measure"
	"assay/shared/problem"
	"assay/shared/quota"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/runlog"
	"assay/shared/store"
)

// TeamBacklog is a team's place in the queue of workers, for one task, one pool and one kind of work.
type TeamBacklog struct {
	Oldest store.Item // the run that waits longest
	Since  time.Time  // since when
	Prefix string     // of the sort keys of all that wait
}

// TeamBacklogs yields every turn of the queue of workers, at the price of one small read each.
func TeamBacklogs(ctx context.Context, s store.Store) iter.Seq2[TeamBacklog, error] {
	return func(yield func(TeamBacklog, error) bool) {
		q := store.Query{Index: record.ByWork, Partition: record.QueuePartition(record.QueueWorkers), Limit: 1}
		for {
			found, err := s.Query(ctx, q)
			if err != nil {
				yield(TeamBacklog{}, records.Failed(err))
				return
			}
			if len(found) == 0 {
				return
			}
			sort := found[0].Entry(record.ByWork).Sort
			prefix, behind, err := record.WorkerTeamPrefix(sort)
			since, sinceErr := record.QueuedSince(sort)
			if err = errors.Join(err, sinceErr); !yield(TeamBacklog{found[0], since, prefix}, err) || err != nil {
				return
			}
			q.From = behind
		}
	}
}

// Unserved has a diagnostic for each kind of work that runs of the dataset's task wait for in its pool while no worker that does
// it has been seen for a minute. Where all are served it costs one read.
func Unserved(ctx context.Context, s store.Store, now time.Time, d *record.DatasetItem) ([]measure.Diagnostic, error) {
	serving, err := records.Get[record.Serving](ctx, s, store.Eventual, record.ServingKey())
	if err != nil {
		return nil, err
	}
	var found []measure.Diagnostic
	for _, w := range []record.Work{record.ExecuteImage, record.ExecuteRepository, record.Evaluate} {
		q := record.WorkerSubqueue(d.Pool, w)
		if serving.Serves(q, now) {
			continue
		}
		r := q.TeamsAfter(d.TaskID, "")[0] // which is all of the task
		waiting, err := s.Query(ctx, store.Query{Index: record.ByWork, Partition: q.Partition(), From: r.From, To: r.To, Limit: 1})
		if err != nil {
			return nil, records.Failed(err)
		}
		if len(waiting) > 0 {
			found = append(found, record.Unserved(d.Pool, w))
		}
	}
	return found, nil
}

// Heartbeat extends the lease for the duration from now, and adds lines to the log, of which the first has the given place
// among all that came under the lease: what came before is not kept twice. It returns the run, or ErrLinesMissing. The lines
// get the instant at which they came.
func Heartbeat(ctx context.Context, s store.Store, now time.Time, h LeaseRef, d time.Duration, first int64, lines []record.LogLine) (*record.RunItem, error) {
	return change(ctx, s, h, func(run *record.RunItem, tx *records.Tx) error {
		l := run.Lease
		if first > l.Lines {
			return ErrLinesMissing
		}
		fresh := lines[min(l.Lines-first, int64(len(lines))):]
		l.Lines += int64(len(fresh))
		l.Until = record.At(now.Add(d))
		kind := record.ExecutionLog
		if run.State == record.Evaluating {
			kind = record.EvaluationLog
		}
		if !l.Confirmed {
			l.Confirmed = true
			fresh = slices.Concat([]record.LogLine{{Stream: record.StreamWorker, Text: fmt.Sprintf(
				"Attempt %d of %d begins on the worker %s.", run.Attempts, record.MaxAttempts, l.Holder)}}, fresh)
		}
		runlog.Append(tx, run, kind, fresh, now)
		return nil
	})
}

// CompleteExecution takes the output of an execution. Files that are not all in the object store yet are kept with the lease, so that
// they are expected when they arrive, and returned. Once they are there the run has them, and goes on to its evaluation:
// it waits for whoever evaluates against the truth as it is now, with all its attempts before it.
//
// The files count as stored for the run's owner in the transaction that makes them the run's. A run whose output the limits
// of its owner have no room for fails.
func CompleteExecution(ctx context.Context, s store.Store, files blob.Store, now time.Time, h LeaseRef, outputs []record.File, limits record.UsageLimits) (run *record.RunItem, missing []record.File, err error) {
	run, err = change(ctx, s, h, func(run *record.RunItem, tx *records.Tx) error {
		if run.State != record.Running {
			return problem.Conflict.New("The run is %s: only one that is being executed takes an output.", run.State)
		}
		if missing, err = absent(ctx, files, run.ID, outputs); err != nil {
			return err
		}
		counted := tx
		if len(missing) > 0 {
			counted = new(records.Tx) // they do not count yet
		}
		size := record.SizeOf(outputs)
		err := quota.TakeFor(ctx, s, now, counted, run.UserID, limits, record.Charge{Bytes: size})
		if problem.QuotaExhausted.Is(err) {
			missing = nil
			return fail(ctx, s, now, run, []measure.Diagnostic{{Severity: measure.Error, SafeWhileBlinded: true, Message: fmt.Sprintf(
				"The output has %d bytes, which is more than is left of what its owner may store. Delete submissions or runs that are no longer needed, and submit again.", size)}}, tx)
		}
		if err != nil {
			return err
		}
		if len(missing) > 0 {
			run.Lease.Outputs = outputs
			return nil
		}
		truth, err := records.Get[record.Truth](ctx, s, store.Strong, record.TruthKey(run.DatasetID))
		if err != nil {
			return err
		}
		run.Files, run.Bytes = outputs, size
		if truth != nil {
			assign(run, truth)
		} else {
			run.Queue = record.QueueBuiltin
		}
		run.Attempts, run.Restarts, run.QueuedAt = 0, 0, new(record.At(now))
		run.Diagnostics = []measure.Diagnostic{}
		return move(run, record.Evaluating, now)
	})
	return run, missing, err
}

// Postpone gives a run back whose work cannot begin yet, for what it needs is still to come. The attempt does not count, and
// nobody takes the run up for the duration.
func Postpone(ctx context.Context, s store.Store, now time.Time, h LeaseRef, d time.Duration) (*record.RunItem, error) {
	return change(ctx, s, h, func(run *record.RunItem, _ *records.Tx) error {
		run.Attempts--
		run.NotBefore = new(record.At(now.Add(d)))
		return giveBack(ctx, s, now, run)
	})
}

var awaitsTruth = measure.Diagnostic{Severity: measure.Warning, SafeWhileBlinded: true,
	Message: "The run waits for the truth of the dataset, which has not arrived or is being read. It is evaluated by itself once the truth is there; if none is within a day, it fails."}

// AwaitTruth gives a run back whose dataset has no truth yet, and says so. The attempt does not count, and nobody takes the run
// up before the instant unless Reevaluate, with the truth, has it wait in its queue again. A truth that came meanwhile is
// ErrTruthChanged.
func AwaitTruth(ctx context.Context, s store.Store, now time.Time, h LeaseRef, until time.Time) (*record.RunItem, error) {
	return change(ctx, s, h, func(run *record.RunItem, tx *records.Tx) error {
		tx.CheckAbsent(record.TruthKey(run.DatasetID)).Or(ErrTruthChanged)
		run.Attempts--
		run.NotBefore = new(record.At(until))
		if !slices.Contains(run.Diagnostics, awaitsTruth) {
			run.AddDiagnostics(awaitsTruth)
		}
		return giveBack(ctx, s, now, run)
	})
}

// Resume has a run wait in its queue again that was postponed until now. One that was not, stays as it is.
func Resume(ctx context.Context, s store.Store, now time.Time, runID string) error {
	_, err := records.Update(ctx, s, record.RunKey(runID), func(run *record.RunItem, _ *records.Tx) (bool, error) {
		if !run.Waits() || run.NotBefore == nil || run.NotBefore.After(now) {
			return false, nil
		}
		run.NotBefore = nil
		return true, nil
	})
	return err
}

// absent marks those of a run's files as stored that the object store has, and returns the others.
func absent(ctx context.Context, files blob.Store, runID string, outputs []record.File) ([]record.File, error) {
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
