package queue

import (
	"context"
	"iter"
	"time"

	"assay/shared/metrics"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

// BuiltinPool stands for the queues of built-in evaluators, with that of their slow lane, whose runs wait for no pool.
const BuiltinPool = "(builtin)"

// maxCounted is how many runs of a queue, or of a pool and kind of work in it, are counted: each is read.
const maxCounted = 1000

// Waiting says what waits for the workers of a pool, or for built-in evaluators, that do a kind of work.
type Waiting struct {
	Pool  string
	Work  record.Work
	Runs  int       // as far as they are counted
	Since time.Time // when the one of them was queued that waits longest
}

// Backlog yields what waits for built-in evaluators, which may be nothing, and for each pool and kind of work in which a run waits. Of each
// it counts so many runs at most.
func (q Queue) Backlog(ctx context.Context, most int) iter.Seq2[Waiting, error] {
	return func(yield func(Waiting, error) bool) {
		builtin, err := q.waiting(ctx, store.Query{Partition: record.QueuePartition(record.QueueBuiltin)}, most,
			Waiting{Pool: BuiltinPool, Work: record.Evaluate})
		if err == nil && builtin.Runs < most {
			builtin, err = q.waiting(ctx, store.Query{Partition: record.QueuePartition(record.QueueSlow)}, most-builtin.Runs, builtin)
		}
		if !yield(builtin, err) {
			return
		}
		workers := store.Query{Index: record.ByWork, Partition: record.QueuePartition(record.QueueWorkers), Limit: 1}
		for {
			first, err := q.Store.Query(ctx, workers)
			if err != nil {
				yield(Waiting{}, records.Failed(err))
			}
			if err != nil || len(first) == 0 {
				return
			}
			from := first[0].Entry(record.ByWork).Sort
			pool, work, behind, err := record.WorkerPool(from)
			if err != nil {
				yield(Waiting{}, err)
				return
			}
			of := store.Query{Partition: workers.Partition, From: from, To: behind}
			if !yield(q.waiting(ctx, of, most, Waiting{Pool: pool, Work: work})) {
				return
			}
			workers.From = behind
		}
	}
}

// waiting adds the runs of a range of ByWork.
func (q Queue) waiting(ctx context.Context, of store.Query, most int, w Waiting) (Waiting, error) {
	of.Index, of.Limit = record.ByWork, most
	items, err := q.Store.Query(ctx, of)
	if err != nil {
		return w, records.Failed(err)
	}
	w.Runs += len(items)
	for _, it := range items {
		since, err := record.QueuedSince(it.Entry(record.ByWork).Sort)
		if err != nil {
			return w, err
		}
		if w.Since.IsZero() || since.Before(w.Since) {
			w.Since = since
		}
	}
	return w, nil
}

// RecordWaiting records the backlog in metrics: of the first pools by themselves, of the others together.
func (q Queue) RecordWaiting(ctx context.Context) error {
	others, pools := Waiting{Pool: metrics.OtherPools, Work: metrics.OtherPools}, 0
	for w, err := range q.Backlog(ctx, maxCounted) {
		switch {
		case err != nil:
			return err
		case pools <= metrics.MaxPools: // the first is no pool
			q.recordWaiting(w)
		default:
			others.Runs += w.Runs
			if others.Since.IsZero() || w.Since.Before(others.Since) {
				others.Since = w.Since
			}
		}
		pools++
	}
	if others.Runs > 0 {
		q.recordWaiting(others)
	}
	return nil
}

func (q Queue) recordWaiting(w Waiting) {
	longest := time.Duration(0)
	if w.Runs > 0 {
		longest = q.Now().Sub(w.Since)
	}
	q.Metrics.Record(metrics.RunsWaiting, float64(w.Runs), w.Pool, string(w.Work))
	q.Metrics.Record(metrics.OldestWaiting, longest.Seconds(), w.Pool, string(w.Work))
}
