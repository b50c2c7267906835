package evaluator

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"assay/shared/arrival"
	"assay/shared/blob"
	"assay/shared/follow"
	"assay/shared/measure"
	"assay/shared/panics"
	"assay/shared/plural"
	"assay/shared/problem"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/runlog"
	"assay/shared/store"
)

// duePage is how many due records are read at once.
const duePage = 50

// eachDue calls do with every record that has something to happen by itself, up to the sort key; empty: with all.
func (w *Worker) eachDue(ctx context.Context, to string, do func(store.Item) error) error {
	return w.each(ctx, store.Query{Index: record.ByWork, Partition: record.DuePartition, To: to, Limit: duePage}, do)
}

// each calls do with every record of the query. What fails stays due, and the rest goes on; the error has all that failed.
func (w *Worker) each(ctx context.Context, q store.Query, do func(store.Item) error) (failed error) {
	for it, err := range records.Items(ctx, w.Store, q) {
		if err != nil {
			return errors.Join(failed, err)
		}
		if err := do(it); err != nil && ctx.Err() == nil {
			failed = errors.Join(failed, fmt.Errorf("%s %s stays due: %w", it.Partition, it.Sort, err))
		}
	}
	return errors.Join(failed, ctx.Err())
}

// RunDue does what is due, for runs first: a truth that is large takes a while. What it reads from the index may be out of
// date, so each step looks at the record again before it changes it.
func (w *Worker) RunDue(ctx context.Context) error {
	return errors.Join(w.dueRuns(ctx), w.dueChanges(ctx))
}

// dueRuns takes back leases that have lapsed, ends runs whose files never came, and seals the logs of runs that have ended.
func (w *Worker) dueRuns(ctx context.Context) error { return w.dueOf(ctx, isRun) }

// dueChanges does what follows changes of everything else.
func (w *Worker) dueChanges(ctx context.Context) error {
	return w.dueOf(ctx, func(it store.Item) bool { return !isRun(it) })
}

func isRun(it store.Item) bool { return record.IsRun(it.Key) }

func (w *Worker) dueOf(ctx context.Context, these func(store.Item) bool) error {
	return w.eachDue(ctx, record.DueBy(w.Now()), func(it store.Item) error {
		if !these(it) {
			return nil
		}
		return w.due(ctx, it)
	})
}

// due does what is due for one record. Should that panic, the error says so, and the rest goes on.
func (w *Worker) due(ctx context.Context, it store.Item) error {
	return panics.Catch(func() error {
		switch kind, id, _ := strings.Cut(it.Partition, "#"); {
		case kind == "RUN":
			return w.dueRun(ctx, it)
		case kind == "DATASET":
			return w.dueDataset(ctx, it)
		case kind == "TASK" && strings.HasPrefix(it.Sort, record.RegistrationPrefix):
			return follow.Registration(ctx, w.Store, w.Now(), it.Key)
		case it.Key == record.DeletedTaskKey(id):
			return follow.Deleted(ctx, w.Store, w.Now(), it.Key)
		case kind == "TASK":
			return follow.Task(ctx, w.Store, w.Now(), it.Key)
		default:
			return fmt.Errorf("nothing is known that is due for %s %s", it.Partition, it.Sort)
		}
	})
}

func (w *Worker) dueRun(ctx context.Context, it store.Item) error {
	run, err := records.Decode[record.RunItem](it)
	if err != nil {
		return err
	}
	switch {
	case run.State.Ended():
		return runlog.Seal(ctx, w.Store, w.Files, w.Now(), run.ID)
	case run.Waits():
		return w.queue().Resume(ctx, run.ID)
	case run.State != record.AwaitingUpload:
		return w.queue().ReclaimExpired(ctx, run.ID)
	}
	var missing []measure.Diagnostic
	for _, f := range run.Files {
		if f.State == record.FileStored {
			continue
		}
		key := record.ObjectKey(record.HolderRuns, run.ID, f.SHA256)
		_, err := w.Files.Stat(ctx, key)
		switch {
		case err == nil: // it had arrived, and the word of it was lost
			if err := arrival.Stored(ctx, w.Store, w.Now(), key); err != nil {
				return err
			}
		case errors.Is(err, blob.ErrNotFound):
			missing = append(missing, measure.Diagnostic{Severity: measure.Error, File: f.Name, SafeWhileBlinded: true, Message: fmt.Sprintf(
				"The file did not arrive within %v; expected %s with the SHA-256 %s. Submit it again.", record.UploadTime, plural.Count(f.Size, "byte"), f.SHA256)})
		default:
			return err
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return w.queue().FailStale(ctx, run.ID, record.AwaitingUpload, missing...)
}

func (w *Worker) dueDataset(ctx context.Context, it store.Item) error {
	d, err := records.Decode[record.DatasetItem](it)
	switch {
	case err != nil:
		return err
	case d.Deletion != nil:
		if err := follow.DeleteDataset(ctx, w.Store, w.Now(), d, d.Deletion.By); !problem.Conflict.Is(err) {
			return err
		}
		return nil // it is used after all
	case d.Adopt != nil:
		return arrival.Adopt(ctx, w.Store, w.Files, w.Now(), d.ID)
	default:
		return w.reevaluate(ctx, d.ID)
	}
}
