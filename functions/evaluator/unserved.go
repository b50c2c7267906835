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

// Unserved ends the runs that have waited for a worker for too long. The error has all that failed.
func (w *Worker) Unserved(ctx context.Context) error {
	now := w.Now()
	var failed error
	for turn, err := range w.queue().TeamBacklogs(ctx) {
		if err != nil {
			return errors.Join(failed, err)
		}
		if turn.Since.Add(record.QueueTime).After(now) {
			continue
		}
		failed = errors.Join(failed, w.unservedOf(ctx, now, turn))
	}
	return failed
}

// unservedOf looks after the runs of one turn.
func (w *Worker) unservedOf(ctx context.Context, now time.Time, turn queue.TeamBacklog) error {
	return w.each(ctx, store.Query{
		Index: record.ByWork, Partition: record.QueuePartition(record.QueueWorkers), Limit: batch,
		From: turn.Prefix, To: turn.Prefix + record.DueBy(now.Add(-record.QueueTime)),
	}, func(it store.Item) error {
		run, err := records.Decode[record.RunItem](it)
		if err != nil {
			return err
		}
		return w.queue().FailStale(ctx, run.ID, run.State, measure.Diagnostic{Severity: measure.Error, SafeWhileBlinded: true, Message: fmt.Sprintf(
			"No worker has brought this run to an end since %s, so it was given up. Ask the organizers whether workers serve the task, and submit again.", run.QueuedAt.Format(time.RFC3339))})
	})
}
