package evaluator

import (
	"context"
	"strings"
	"time"

	"assay/shared/queue"
	"assay/shared/record"
	"assay/shared/store"
	"assay/shared/table"
)

// Heed does what the record under the key asks for now, and returns when it wants to be looked at again, or the zero Time.
// It is for a worker that is told of every change and is not there in between; a worker that Run keeps looks by itself.
func (w *Worker) Heed(ctx context.Context, key store.Key) (time.Time, error) {
	items, err := w.Store.Get(ctx, store.Strong, key)
	if err != nil {
		return time.Time{}, table.Failed(err)
	}
	entry := items[0].Entry(record.ByWork)
	switch entry.Partition {
	case record.OfQueue(record.QueueBuiltin):
		_, id, _ := strings.Cut(key.Partition, "#")
		return time.Time{}, w.Evaluate(ctx, id)
	case record.OfQueue(record.QueueWorkers):
		_, _, since, err := record.TurnOf(entry.Sort)
		if err != nil || w.Now().Before(since.Add(unservedAfter)) {
			return since.Add(unservedAfter), err
		}
		return since.Add(record.QueueTime), nil
	case record.DuePartition:
		at, err := record.DueAt(entry.Sort)
		if err != nil || at.After(w.Now()) {
			return at, err
		}
		return time.Time{}, w.due(ctx, items[0])
	}
	return time.Time{}, nil
}

// Drain evaluates what waits for a built-in evaluator, until nothing does or the context ends.
func (w *Worker) Drain(ctx context.Context) error {
	for ctx.Err() == nil {
		run, err := queue.Lease(ctx, w.Store, w.Now(), w.Holder, leaseTime)
		if err != nil || run == nil {
			return err
		}
		w.evaluate(ctx, run)
	}
	return ctx.Err()
}

// Next returns the first instant at which something is due or a run has waited for too long, or the zero Time. It looks
// into an index, which may be about a second behind.
func (w *Worker) Next(ctx context.Context) (time.Time, error) {
	var next time.Time
	at := func(t time.Time) {
		if next.IsZero() || t.Before(next) {
			next = t
		}
	}
	for partition, later := range map[string]time.Duration{
		record.DuePartition:                 0,
		record.OfQueue(record.QueueBuiltin): leaseTime, // of whom the stream should have told
	} {
		first, err := w.Store.Query(ctx, store.Query{Index: record.ByWork, Partition: partition, Limit: 1})
		if err != nil {
			return next, table.Failed(err)
		}
		if len(first) == 0 {
			continue
		}
		due, err := record.DueAt(first[0].Entry(record.ByWork).Sort)
		if err != nil {
			return next, err
		}
		at(due.Add(later))
	}
	for turn, err := range queue.Turns(ctx, w.Store) {
		if err != nil {
			return next, err
		}
		if warn := turn.Since.Add(unservedAfter); warn.After(w.Now()) {
			at(warn)
		} else {
			at(turn.Since.Add(record.QueueTime)) // it was told of that already
		}
	}
	return next, nil
}
