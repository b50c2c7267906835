package evaluator

import (
	"context"
	"fmt"
	"slices"
	"time"

	"assay/shared/measure"
	"assay/shared/queue"
	"assay/shared/record"
	"assay/shared/store"
	"assay/shared/table"
)

// unservedAfter is how long a run waits for a worker before it says so.
const unservedAfter = time.Hour

var unserved = measure.Diagnostic{Severity: measure.Warning, Discreet: true,
	Message: "No worker has asked for this run yet. It waits in the queue; if none asks for it within seven days, it fails."}

// Unserved tells of runs that no worker asks for, and ends those that have waited for too long.
func (w *Worker) Unserved(ctx context.Context) error {
	now := w.Now()
	q := store.Query{Index: record.ByWork, Partition: record.OfQueue(record.QueueWorkers), To: record.DueBy(now.Add(-unservedAfter)), Limit: duePage}
	for {
		items, err := w.Store.Query(ctx, q)
		if err != nil {
			return table.Failed(err)
		}
		for _, it := range items {
			run, err := table.Decode[record.RunItem](it)
			if err != nil {
				return err
			}
			switch {
			case now.Sub(run.QueuedAt.Time) >= record.QueueTime:
				err = queue.GiveUp(ctx, w.Store, now, run.ID, record.Queued, measure.Diagnostic{Severity: measure.Error, Discreet: true, Message: fmt.Sprintf(
					"No worker asked for this run since %s, so it was given up. Ask the organizers whether workers serve the task, and submit again.", run.QueuedAt.Format(time.RFC3339))})
			case !slices.Contains(run.Diagnostics, unserved):
				err = queue.Warn(ctx, w.Store, now, run.ID, record.Queued, unserved)
			}
			if err != nil {
				return err
			}
		}
		if len(items) < duePage {
			return nil
		}
		q.After = &items[duePage-1]
	}
}
