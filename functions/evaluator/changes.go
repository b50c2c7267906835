package evaluator

import (
	"context"
	"time"

	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

// HandleChange evaluates the record under the key if it is a queued run, and does its pending work if that is due. It returns the
// instant when there is more to do, or the zero Time. It is for a host that calls it for each change instead of calling Run.
func (w *Worker) HandleChange(ctx context.Context, key store.Key) (time.Time, error) {
	items, err := w.Store.Get(ctx, store.Strong, key)
	if err != nil {
		return time.Time{}, records.Failed(err)
	}
	entry := items[0].Entry(record.ByWork)
	switch entry.Partition {
	case record.QueuePartition(record.QueueBuiltin):
		run, err := records.Decode[record.RunItem](items[0])
		if err != nil {
			return time.Time{}, err
		}
		return time.Time{}, w.Evaluate(ctx, run)
	case record.QueuePartition(record.QueueWorkers):
		since, err := record.QueuedSince(entry.Sort)
		return since.Add(record.QueueTime), err
	case record.DuePartition:
		at, err := record.DueAt(entry.Sort)
		if err != nil || at.After(w.Now()) {
			return at, err
		}
		return time.Time{}, w.runPending(ctx, items[0])
	}
	return time.Time{}, nil
}

// EvaluateQueued evaluates the runs that are queued for built-in evaluators until none is left or the context ends.
func (w *Worker) EvaluateQueued(ctx context.Context) error {
	for ctx.Err() == nil {
		run, err := w.lease(ctx)
		if err != nil || run == nil {
			return err
		}
		w.evaluate(ctx, run)
	}
	return ctx.Err()
}

// NextDue returns the first instant at which work is due or a run has waited for too long, or the zero Time. It reads an index, which
// may lag by about a second.
func (w *Worker) NextDue(ctx context.Context) (time.Time, error) {
	var next time.Time
	at := func(t time.Time) {
		if next.IsZero() || t.Before(next) {
			next = t
		}
	}
	for _, first := range []struct {
		partition string
		instant   func(sort string) (time.Time, error)
		later     time.Duration
	}{
		{record.DuePartition, record.DueAt, 0},
		// The stream should have delivered these runs. The first need not have waited longest, but EvaluateQueued takes all.
		{record.QueuePartition(record.QueueBuiltin), record.QueuedSince, leaseTime},
	} {
		found, err := w.Store.Query(ctx, store.Query{Index: record.ByWork, Partition: first.partition, Limit: 1})
		if err != nil {
			return next, records.Failed(err)
		}
		if len(found) == 0 {
			continue
		}
		instant, err := first.instant(found[0].Entry(record.ByWork).Sort)
		if err != nil {
			return next, err
		}
		at(instant.Add(first.later))
	}
	for backlog, err := range w.queue().TeamBacklogs(ctx) {
		if err != nil {
			return next, err
		}
		at(backlog.Since.Add(record.QueueTime))
	}
	return next, nil
}
