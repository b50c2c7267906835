package queue

import (
	"context"
	"iter"
	"time"

	"assay/shared/domain/record"
	"assay/shared/language/metrics"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

// BuiltinPool represents the queues of built-in evaluators, including the slow lane. Their runs wait for no pool.
const BuiltinPool = "(builtin)"

// maxCounted is the greatest number of runs that are counted for a queue, or for a pool and kind of work. Counting a run reads it.
const maxCounted = 1000

// Waiting counts the runs that wait for one kind of work of a pool, or for built-in evaluators.
type Waiting struct {
	Pool  string
	Work  record.Work
	Runs  int       // at most the number that Backlog counts
	Since time.Time // when the run that has waited longest was queued
}

// Backlog yields the runs that wait for built-in evaluators, even if there are none, and then those for each pool and kind of work with
// a waiting run. It counts at most most runs for each.
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

// waiting adds the runs of a range of ByWork to w.
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

// RecordWaiting records the backlog as metrics: each of the first pools separately, and the other pools together.
func (q Queue) RecordWaiting(ctx context.Context) error {
	others, pools := Waiting{Pool: metrics.OtherPools, Work: metrics.OtherPools}, 0
	for w, err := range q.Backlog(ctx, maxCounted) {
		switch {
		case err != nil:
			return err
		case pools <= metrics.MaxPools: // the first stands for the built-in evaluators
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
