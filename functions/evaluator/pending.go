package evaluator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"assay/shared/computation/measure"
	"assay/shared/domain/record"
	"assay/shared/language/lists"
	"assay/shared/language/panics"
	"assay/shared/language/plural"
	"assay/shared/language/wait"
	"assay/shared/service/deletion"
	"assay/shared/service/files"
	"assay/shared/service/propagation"
	"assay/shared/service/queue"
	"assay/shared/service/records"
	"assay/shared/service/runlog"
	"assay/shared/service/truth"
	"assay/shared/storage/blob"
	"assay/shared/storage/store"
)

// do does pending work of a kind, for both hosts. The record comes from an index, which may lag, so whatever is called here reads it
// again before it changes anything.
func (w *Worker) do(ctx context.Context, kind record.PendingKind, r record.Record) error {
	propagator := propagation.Propagator{Store: w.Store, Now: w.Now}
	deleter := deletion.Deleter{Store: w.Store, Files: w.Files, Now: w.Now}
	acceptor := truth.Acceptor{Store: w.Store, Objects: w.Files, Now: w.Now}
	logs := runlog.Logs{Store: w.Store, Files: w.Files}
	handle, ok := map[record.PendingKind]func() error{
		record.PropagateTask:         func() error { return propagator.Task(ctx, r.Key()) },
		record.PropagateRegistration: func() error { return propagator.Registration(ctx, r.Key()) },
		record.ApplyEmbargo:          func() error { return propagator.Embargo(ctx, r.Key()) },
		record.DeleteDataset:         func() error { return deleter.ContinueDataset(ctx, r.Key()) },
		record.DeleteUser:            func() error { return deleter.ContinueUser(ctx, r.Key()) },
		record.MoveToTrash:           func() error { return deleter.Continue(ctx, r.Key()) },
		record.RestoreTrash:          func() error { return deleter.Continue(ctx, r.Key()) },
		record.PurgeTrash:            func() error { return deleter.Continue(ctx, r.Key()) },
		record.AcceptTruth:           func() error { return acceptor.Accept(ctx, r.(*record.DatasetItem).ID) },
		record.Reevaluate:            func() error { return w.reevaluate(ctx, r.(*record.DatasetItem).ID) },
		record.ExpireUpload:          func() error { return w.expireUpload(ctx, r.(*record.RunItem)) },
		record.ReclaimLease:          func() error { return w.reclaimExpired(ctx, r.(*record.RunItem).ID) },
		record.ResumeRun:             func() error { return w.queue().Resume(ctx, r.(*record.RunItem).ID) },
		record.SealLogs:              func() error { return logs.Seal(ctx, w.Now(), r.(*record.RunItem).ID) },
	}[kind]
	if !ok {
		return fmt.Errorf("no handler for pending work of the kind %q", kind)
	}
	return handle()
}

func (w *Worker) reclaimExpired(ctx context.Context, runID string) error {
	_, err := w.queue().ReclaimExpired(ctx, runID)
	return err
}

func (w *Worker) uploads() files.Uploads { return files.Uploads{Store: w.Store, Now: w.Now} }

// RunDue does the pending work that is due, of datasets last: checking a large ground truth takes minutes.
func (w *Worker) RunDue(ctx context.Context) error {
	return errors.Join(w.runDueOf(ctx, &w.runDue), w.runDueOf(ctx, &w.workDue), w.runDatasetsDue(ctx))
}

// jobOf returns the signal of the job that does the pending work of the record with the key.
func (w *Worker) jobOf(key store.Key) *wait.Signal {
	switch {
	case record.IsRun(key):
		return &w.runDue
	case record.IsDataset(key):
		return &w.datasetDue
	default:
		return &w.workDue
	}
}

// runDueOf does the pending work of a job that is due.
func (w *Worker) runDueOf(ctx context.Context, job *wait.Signal) error {
	return w.eachPending(ctx, record.DueBy(w.Now()), func(it store.Item) error {
		if w.jobOf(it.Key) != job {
			return nil
		}
		return w.runPending(ctx, it)
	})
}

// runPending does the pending work of one record. A panic becomes an error.
func (w *Worker) runPending(ctx context.Context, it store.Item) error {
	return panics.Catch(func() error {
		r, work, err := record.DecodePending(it)
		if err != nil || work == nil {
			return err
		}
		return w.do(ctx, work.Kind, r)
	})
}

// batch is how many records are read at once.
const batch = 50

// eachPending calls do with every record that has pending work, up to the sort key; empty: with all.
func (w *Worker) eachPending(ctx context.Context, to string, do func(store.Item) error) error {
	return w.each(ctx, store.Query{Index: record.ByWork, Partition: record.DuePartition, To: to, Limit: batch}, do)
}

// each calls do with every record of the query. When do fails the work stays pending, and the other records are
// handled; the error joins all failures.
func (w *Worker) each(ctx context.Context, q store.Query, do func(store.Item) error) (failed error) {
	for it, err := range records.Items(ctx, w.Store, q) {
		if err != nil {
			return errors.Join(failed, err)
		}
		if err := do(it); err != nil && ctx.Err() == nil {
			failed = errors.Join(failed, staysPending(it, err))
		}
	}
	return errors.Join(failed, ctx.Err())
}

// expireUpload fails a run whose files have not arrived in time. Files that have arrived without a notification are
// recorded as stored.
func (w *Worker) expireUpload(ctx context.Context, run *record.RunItem) error {
	var missing []measure.Diagnostic
	for _, f := range run.Files {
		if f.State == record.FileStored {
			continue
		}
		key := record.ObjectKey(record.HolderRuns, run.ID, f.SHA256)
		_, err := w.Files.Stat(ctx, key)
		switch {
		case err == nil:
			if err := w.uploads().Complete(ctx, key); err != nil {
				return err
			}
		case errors.Is(err, blob.ErrNotFound):
			missing = append(missing, measure.Diagnostic{Severity: measure.Error, File: f.Name, SafeWhileBlinded: true, Message: fmt.Sprintf(
				"The file did not arrive within %v; expected %s with the SHA-256 %s. Submit it again.", record.UploadTime, plural.Count(f.Size, "byte"),
				f.SHA256)})
		default:
			return err
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return w.queue().FailStale(ctx, run.ID, record.AwaitingUpload, missing...)
}

// FailUnserved fails the runs that have waited for a worker for too long. Its error joins all failures.
func (w *Worker) FailUnserved(ctx context.Context) error {
	now := w.Now()
	var failed error
	for backlog, err := range w.queue().TeamBacklogs(ctx) {
		if err != nil {
			return errors.Join(failed, err)
		}
		if !backlog.Since.Add(record.WorkersNotice).After(now) {
			failed = errors.Join(failed, w.noticeUnserved(ctx, now, backlog))
		}
		if backlog.Since.Add(record.QueueTime).After(now) {
			continue
		}
		failed = errors.Join(failed, w.failUnserved(ctx, now, backlog))
	}
	return failed
}

// noticeUnserved makes the event that no worker was seen that serves the runs of a backlog, once a day for each dataset.
func (w *Worker) noticeUnserved(ctx context.Context, now time.Time, backlog queue.TeamBacklog) error {
	run, err := records.Decode[record.RunItem](backlog.Oldest)
	if err != nil {
		return err
	}
	serving, err := records.Get[record.Serving](ctx, w.Store, store.Eventual, record.ServingKey())
	if err != nil || serving.Serves(run.Subqueue(), now) {
		return err
	}
	e := record.NewEvent(now, record.EventWorkersMissing, run.Scope(), "/v1/datasets/"+run.DatasetID)
	e.ID, e.RunID = run.DatasetID+now.UTC().Format("-20060102"), run.ID
	tx := new(records.Tx)
	if err := records.CreateMissing[record.Event](ctx, w.Store, tx, e); err != nil {
		return err
	}
	if err := tx.Commit(ctx, w.Store); !records.IsConflict(err) {
		return err
	}
	return nil // another process made it
}

// failUnserved is FailUnserved for one backlog.
func (w *Worker) failUnserved(ctx context.Context, now time.Time, backlog queue.TeamBacklog) error {
	return w.each(ctx, store.Query{
		Index: record.ByWork, Partition: record.QueuePartition(record.QueueWorkers), Limit: batch,
		From: backlog.Runs.From, To: backlog.Runs.From + "#" + record.DueBy(now.Add(-record.QueueTime)),
	}, func(it store.Item) error {
		run, err := records.Decode[record.RunItem](it)
		if err != nil {
			return err
		}
		return w.queue().FailStale(ctx, run.ID, run.State, measure.Diagnostic{
			Severity: measure.Error, SafeWhileBlinded: true, Message: fmt.Sprintf(
				"No worker has completed this run since %s, so it failed. Ask the organizers whether workers serve the task, and submit again.",
				run.QueuedAt.Format(time.RFC3339))})
	})
}

// DeleteAbandonedFiles deletes the files that no record names: of requests that failed, and of what was deleted or replaced. It also
// completes uploads whose notification was lost. When the context ends first it returns the last key that it is done with, which the
// next call takes as after; the first call takes none.
func (w *Worker) DeleteAbandonedFiles(ctx context.Context, after string) (done string, err error) {
	var found record.FileCount
	done, err = w.eachBatch(ctx, "", after, record.AbandonedAfter, func(ctx context.Context, keys []string) error {
		return w.deleteAbandoned(ctx, keys, &found)
	})
	return done, cmp.Or(err, w.countFiles(context.WithoutCancel(ctx), found, after == "", done == "" && err == nil))
}

// countFiles adds the files to those that were counted before, from the first on or up to the last.
func (w *Worker) countFiles(ctx context.Context, found record.FileCount, first, last bool) error {
	return records.Retry(ctx, func() error {
		stored, err := records.Get[record.StoredFiles](ctx, w.Store, store.Strong, record.StoredFilesKey())
		if err != nil {
			return err
		}
		stored = cmp.Or(stored, &record.StoredFiles{Meta: record.MetaOf("", w.Now())})
		stored.Add(found, first, last, w.Now())
		return new(records.Tx).Save(stored, w.Now()).Commit(ctx, w.Store)
	})
}

// DeleteExpiredResults deletes the results of tools whose links have expired.
func (w *Worker) DeleteExpiredResults(ctx context.Context) error {
	_, err := w.eachBatch(ctx, string(record.HolderTools)+"/", "", record.ResultLinkTime, func(ctx context.Context, keys []string) error {
		return w.Files.Delete(ctx, keys...)
	})
	return err
}

// eachBatch calls do with the keys under the prefix whose files are of that age, some at a time. A batch that fails does not keep the
// others from their turn; the error is the first of those. When the context ends, or files cannot be listed, it returns the last
// key that it is done with.
func (w *Worker) eachBatch(
	ctx context.Context, prefix, after string, age time.Duration, do func(context.Context, []string) error,
) (done string, failed error) {
	done = after
	var keys []string
	flush := func() {
		if len(keys) == 0 || ctx.Err() != nil {
			return
		}
		failed = cmp.Or(failed, do(ctx, keys))
		if ctx.Err() == nil {
			done, keys = keys[len(keys)-1], keys[:0]
		}
	}
	for key, err := range w.Files.List(ctx, prefix, after, w.Now().Add(-age)) {
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return done, err
		}
		keys = append(keys, key)
		if len(keys) == store.MaxKeys/2 {
			flush()
		}
	}
	flush()
	if ctx.Err() != nil {
		return done, ctx.Err()
	}
	return "", failed
}

// deleteAbandoned deletes those of the files that no record names, and counts the others. It ignores keys that are not of files of records.
func (w *Worker) deleteAbandoned(ctx context.Context, keys []string, found *record.FileCount) (err error) {
	live := func(k store.Key) store.Key { return k }
	for i, place := range []func(store.Key) store.Key{live, record.TrashKey, live} { // again: a record was perhaps restored meanwhile
		before := len(keys)
		if keys, err = w.withoutHolder(ctx, keys, place); err != nil {
			return err
		}
		found.Files += int64(before - len(keys))
		if i == 1 {
			found.InTrash += int64(before - len(keys))
		}
		if len(keys) == 0 {
			return nil
		}
	}
	w.Log.InfoContext(ctx, "abandoned files deleted", "keys", keys)
	return w.Files.Delete(ctx, keys...)
}

// withoutHolder returns the files that a record in the place could name and that none does. It completes uploads whose notification was
// lost.
func (w *Worker) withoutHolder(ctx context.Context, keys []string, place func(store.Key) store.Key) (abandoned []string, err error) {
	var holders []store.Key
	for _, key := range keys {
		holders = append(holders, lists.Map(record.HoldersOf(key), place)...)
	}
	items, err := w.Store.Get(ctx, store.Strong, holders...)
	if err != nil {
		return nil, records.Failed(err)
	}
	for _, key := range keys {
		n := len(record.HoldersOf(key))
		named, pending, err := names(items[:n], key)
		switch {
		case err != nil:
			return nil, err
		case pending:
			if err := w.uploads().Complete(ctx, key); err != nil && !errors.Is(err, blob.ErrNotFound) {
				return nil, err
			}
		case !named && n > 0:
			abandoned = append(abandoned, key)
		}
		items = items[n:]
	}
	return abandoned, nil
}

// names reports whether one of the items is of a record that names the object, and whether the record still waits for its upload.
func names(items []store.Item, key string) (named, pending bool, err error) {
	for _, it := range items {
		r, err := record.DecodeFileHolder(it)
		if err != nil {
			return false, false, err
		}
		if r == nil || !slices.Contains(r.ObjectKeys(), key) {
			continue
		}
		named = true
		switch r := r.(type) {
		case *record.RunItem:
			pending = r.State == record.AwaitingUpload
		case *record.DatasetItem:
			pending = !record.AllStored(r.Files())
		}
	}
	return named, pending, nil
}
