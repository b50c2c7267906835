package evaluator

import (
	"context"
	"errors"
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
	Message: "No worker works on this run, which has waited for an hour. It waits in the queue; if none asks for it within seven days, it fails."}

// Unserved tells of runs that no worker asks for, and ends those that have waited for too long. The error has all that
// failed.
func (w *Worker) Unserved(ctx context.Context) error {
	now := w.Now()
	var failed error
	for turn, err := range queue.Turns(ctx, w.Store) {
		if err != nil {
			return errors.Join(failed, err)
		}
		if turn.Since.Add(unservedAfter).After(now) {
			continue
		}
		failed = errors.Join(failed, w.unservedOf(ctx, now, turn))
	}
	return failed
}

// unservedOf looks after the runs of one turn.
func (w *Worker) unservedOf(ctx context.Context, now time.Time, turn queue.Turn) error {
	q := store.Query{
		Index: record.ByWork, Partition: record.OfQueue(record.QueueWorkers), Limit: duePage,
		From: turn.Prefix, To: turn.Prefix + record.DueBy(now.Add(-unservedAfter)),
	}
	var failed error
	for it, err := range table.Items(ctx, w.Store, q) {
		if err != nil {
			return errors.Join(failed, err)
		}
		if err := w.unserved(ctx, now, it); err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", it.Partition, err))
		}
	}
	return failed
}

func (w *Worker) unserved(ctx context.Context, now time.Time, it store.Item) error {
	run, err := table.Decode[record.RunItem](it)
	switch {
	case err != nil:
		return err
	case now.Sub(run.QueuedAt.Time) >= record.QueueTime:
		return queue.GiveUp(ctx, w.Store, now, run.ID, run.State, measure.Diagnostic{Severity: measure.Error, Discreet: true, Message: fmt.Sprintf(
			"No worker has brought this run to an end since %s, so it was given up. Ask the organizers whether workers serve the task, and submit again.", run.QueuedAt.Format(time.RFC3339))})
	case !slices.Contains(run.Diagnostics, unserved):
		return queue.Warn(ctx, w.Store, now, run.ID, run.State, unserved)
	default:
		return nil
	}
}
