package background

import (
	"context"
	"errors"
	"fmt"
	"time"

	"assay/shared/computation/measure"
	"assay/shared/domain/record"
	"assay/shared/language/clock"
	"assay/shared/service/queue"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

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

// noticeUnserved creates the event that no worker serves the runs of a backlog, once a day for each dataset.
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
	return nil // another process created it
}

// failUnserved fails the runs of one backlog that have waited for too long.
func (w *Worker) failUnserved(ctx context.Context, now time.Time, backlog queue.TeamBacklog) (failed error) {
	q := store.Query{
		Index: record.ByWork, Partition: record.QueuePartition(record.QueueWorkers), Limit: batch,
		From: backlog.Runs.From, To: backlog.Runs.From + "#" + record.DueBy(now.Add(-record.QueueTime)),
	}
	for it, err := range records.Items(ctx, w.Store, q) {
		if err == nil {
			err = w.failRun(ctx, it)
		}
		failed = errors.Join(failed, err)
	}
	return failed
}

// failRun fails a run that no worker has completed.
func (w *Worker) failRun(ctx context.Context, it store.Item) error {
	run, err := records.Decode[record.RunItem](it)
	if err != nil {
		return err
	}
	return w.queue().FailStale(ctx, run.ID, run.State, measure.Diagnostic{
		Severity: measure.Error, SafeWhileBlinded: true, Message: fmt.Sprintf(
			"No worker has completed this run since %s, so it failed. Ask the organizers whether workers serve the task, and submit again.",
			clock.Instant(run.QueuedAt.Time))})
}
