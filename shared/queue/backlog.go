package queue

import (
	"context"
	"time"

	"assay/shared/metrics"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

// builtinPool is the label of the queue of built-in evaluators, whose runs wait for no pool.
const builtinPool = "(builtin)"

// maxCounted is how many runs of a queue, or of a pool and kind of work in it, are counted: each is read.
const maxCounted = 1000

// RecordWaiting records how many runs wait, and for how long: for built-in evaluators, and for each pool and kind of work in which
// some do.
func (q Queue) RecordWaiting(ctx context.Context) error {
	n, longest, err := q.waiting(ctx, store.Query{Partition: record.QueuePartition(record.QueueBuiltin)})
	if err != nil {
		return err
	}
	q.recordWaiting(n, longest, builtinPool, record.Evaluate)
	workers := store.Query{Index: record.ByWork, Partition: record.QueuePartition(record.QueueWorkers), Limit: 1}
	others, othersLongest := 0, time.Duration(0)
	for pools := 0; ; pools++ {
		first, err := q.Store.Query(ctx, workers)
		if err != nil {
			return records.Failed(err)
		}
		if len(first) == 0 {
			break
		}
		from := first[0].Entry(record.ByWork).Sort
		pool, work, behind, err := record.WorkerPool(from)
		if err != nil {
			return err
		}
		n, longest, err := q.waiting(ctx, store.Query{Partition: workers.Partition, From: from, To: behind})
		if err != nil {
			return err
		}
		if pools < metrics.MaxPools {
			q.recordWaiting(n, longest, pool, work)
		} else {
			others, othersLongest = others+n, max(othersLongest, longest)
		}
		workers.From = behind
	}
	if others > 0 {
		q.recordWaiting(others, othersLongest, metrics.OtherPools, metrics.OtherPools)
	}
	return nil
}

// waiting returns how many runs of a range of ByWork wait, and for how long the one does that waits longest; none for no time.
func (q Queue) waiting(ctx context.Context, of store.Query) (n int, longest time.Duration, err error) {
	of.Index, of.Limit = record.ByWork, maxCounted
	items, err := q.Store.Query(ctx, of)
	if err != nil {
		return 0, 0, records.Failed(err)
	}
	for _, it := range items {
		since, err := record.QueuedSince(it.Entry(record.ByWork).Sort)
		if err != nil {
			return 0, 0, err
		}
		longest = max(longest, q.Now().Sub(since))
	}
	return len(items), longest, nil
}

func (q Queue) recordWaiting(n int, longest time.Duration, pool string, work record.Work) {
	q.Metrics.Record(metrics.RunsWaiting, float64(n), pool, string(work))
	q.Metrics.Record(metrics.OldestWaiting, longest.Seconds(), pool, string(work))
}
