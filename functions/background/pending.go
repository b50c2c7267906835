package background

import (
	"context"
	"errors"
	"fmt"

	"assay/shared/computation/measure"
	"assay/shared/domain/record"
	"assay/shared/language/plural"
	"assay/shared/service/deletion"
	"assay/shared/service/due"
	"assay/shared/service/files"
	"assay/shared/service/propagation"
	"assay/shared/service/records"
	"assay/shared/service/runlog"
	"assay/shared/service/truth"
	"assay/shared/storage/blob"
	"assay/shared/storage/store"
)

// do does the pending work of a record. The record comes from an index, which may lag, so the handlers read it again before a change.
func (w *Worker) do(ctx context.Context, it store.Item) error {
	r, work, err := record.DecodePending(it)
	if err != nil || work == nil {
		return err
	}
	handle := w.handlers(r)[work.Kind]
	if handle == nil {
		return fmt.Errorf("no handler for pending work of the kind %q", work.Kind)
	}
	return handle(ctx)
}

// handlers returns the table of the functions that do the pending work of a record, by its kind.
func (w *Worker) handlers(r record.Record) map[record.PendingKind]func(context.Context) error {
	propagator := propagation.Propagator{Store: w.Store, Now: w.Now}
	deleter := deletion.Deleter{Store: w.Store, Files: w.Files, Now: w.Now}
	acceptor := truth.Acceptor{Store: w.Store, Objects: w.Files, Now: w.Now}
	logs := runlog.Logs{Store: w.Store, Files: w.Files}
	return map[record.PendingKind]func(context.Context) error{
		record.PropagateTask:         func(ctx context.Context) error { return propagator.Task(ctx, r.Key()) },
		record.PropagateRegistration: func(ctx context.Context) error { return propagator.Registration(ctx, r.Key()) },
		record.ApplyEmbargo:          func(ctx context.Context) error { return propagator.Embargo(ctx, r.Key()) },
		record.DeleteDataset:         func(ctx context.Context) error { return deleter.ContinueDataset(ctx, r.Key()) },
		record.DeleteUser:            func(ctx context.Context) error { return deleter.ContinueUser(ctx, r.Key()) },
		record.MoveToTrash:           func(ctx context.Context) error { return deleter.Continue(ctx, r.Key()) },
		record.RestoreTrash:          func(ctx context.Context) error { return deleter.Continue(ctx, r.Key()) },
		record.PurgeTrash:            func(ctx context.Context) error { return deleter.Continue(ctx, r.Key()) },
		record.AcceptTruth:           func(ctx context.Context) error { return acceptor.Accept(ctx, r.(*record.DatasetItem).ID) },
		record.Reevaluate:            func(ctx context.Context) error { return w.reevaluate(ctx, r.(*record.DatasetItem).ID) },
		record.ExpireUpload:          func(ctx context.Context) error { return w.expireUpload(ctx, r.(*record.RunItem)) },
		record.ReclaimLease:          func(ctx context.Context) error { return w.reclaimExpired(ctx, r.(*record.RunItem).ID) },
		record.ResumeRun:             func(ctx context.Context) error { return w.queue().Resume(ctx, r.(*record.RunItem).ID) },
		record.SealLogs:              func(ctx context.Context) error { return logs.Seal(ctx, w.Now(), r.(*record.RunItem).ID) },
	}
}

// lines returns the lines of pending work. Checking a large ground truth delays neither expired leases nor changes of who sees a task nor
// small ground truths of other users.
func (w *Worker) lines() []*due.Line {
	return []*due.Line{
		{Name: "runs", Partition: record.DueRuns, Places: 1, Do: w.do},
		{Name: "datasets", Partition: record.DueDatasets, Places: 2, PerPayer: 1, Shares: sharesOfDatasets, Do: w.do},
		{Name: "other records", Partition: record.DueOthers, Places: 1, Do: w.do},
	}
}

// smallTruth is the size in bytes up to which a ground truth is read beside a large one. Its text has at most 64 MiB, because gzip packs at
// most 1,032 bytes into one.
const smallTruth = 64 << 10

// sharesOfDatasets lets one large ground truth be read at a time, since a large one may take 1.5 GiB of memory.
func sharesOfDatasets(_ context.Context, items []store.Item) ([]due.Share, error) {
	shares := make([]due.Share, len(items))
	for i, it := range items {
		d, err := records.Decode[record.DatasetItem](it)
		if err != nil {
			continue // do reports the error
		}
		if d.PendingWork.Is(record.AcceptTruth) && record.SizeOf(d.Truths) > smallTruth {
			shares[i].Limits = []due.Limit{{Group: "large truths", Most: 1}}
		}
	}
	return shares, nil
}

func (w *Worker) reclaimExpired(ctx context.Context, runID string) error {
	_, err := w.queue().ReclaimExpired(ctx, runID)
	return err
}

func (w *Worker) uploads() files.Uploads { return files.Uploads{Store: w.Store, Now: w.Now} }

// expireUpload fails a run whose files have not arrived in time. It records files that arrived without a notification as stored.
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
