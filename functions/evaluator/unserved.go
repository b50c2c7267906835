package evaluator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"assay/shared/measure"
	"assay/shared/queue"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

// FailUnserved fails the runs that have waited for a worker for too long. Its error joins all failures.
func (w *Worker) FailUnserved(ctx context.Context) error {
	now := w.Now()
	var failed error
	for backlog, err := range w.queue().TeamBacklogs(ctx) {
		if err != nil {
			return errors.Join(failed, err)
		}
		if backlog.Since.Add(record.QueueTime).After(now) {
			continue
		}
		failed = errors.Join(failed, w.failUnserved(ctx, now, backlog))
	}
	return failed
}

// failUnserved is FailUnserved for one backlog.
func (w *Worker) failUnserved(ctx context.Context, now time.Time, backlog queue.TeamBacklog) error {
	return w.each(ctx, store.Query{
		Index: record.ByWork, Partition: record.QueuePartition(record.QueueWorkers), Limit: batch,
		From: backlog.Prefix, To: backlog.Prefix + record.DueBy(now.Add(-record.QueueTime)),
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
