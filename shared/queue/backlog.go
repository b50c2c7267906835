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
	n, since, err := q.waiting(ctx, store.Query{Partition: record.QueuePartition(record.QueueBuiltin)})
	if err != nil {
		return err
	}
	q.recordWaiting(n, since, builtinPool, record.Evaluate)
	workers := store.Query{Index: record.ByWork, Partition: record.QueuePartition(record.QueueWorkers), Limit: 1}
	others, oldest := 0, q.Now()
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
		n, since, err := q.waiting(ctx, store.Query{Partition: workers.Partition, From: from, To: behind})
		if err != nil {
			return err
		}
		if pools < metrics.MaxPools {
			q.recordWaiting(n, since, pool, work)
		} else if others += n; since.Before(oldest) {
			oldest = since
		}
		workers.From = behind
	}
	if others > 0 {
		q.recordWaiting(others, oldest, metrics.OtherPools, metrics.OtherPools)
	}
	return nil
}

// waiting returns how many runs of a range of ByWork wait, and since when the one that waits longest.
func (q Queue) waiting(ctx context.Context, of store.Query) (n int, oldest time.Time, err error) {
	of.Index, of.Limit, oldest = record.ByWork, maxCounted, q.Now()
	items, err := q.Store.Query(ctx, of)
	if err != nil {
		return 0, oldest, records.Failed(err)
	}
	for _, it := range items {
		since, err := record.QueuedSince(it.Entry(record.ByWork).Sort)
		if err != nil {
			return 0, oldest, err
		}
		if since.Before(oldest) {
			oldest = since
		}
	}
	return len(items), oldest, nil
}

func (q Queue) recordWaiting(n int, since time.Time, pool string, work record.Work) {
	q.Metrics.Record(metrics.RunsWaiting, float64(n), pool, string(work))
	q.Metrics.Record(metrics.OldestWaiting, q.Now().Sub(since).Seconds(), pool, string(work))
}
