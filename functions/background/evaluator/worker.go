// Package evaluator evaluates runs with the built-in evaluators.
//
// The binary calls Run, whose loops evaluate queued runs after a change (Changed), or each second. On AWS, HandleChange evaluates the run
// of a stream record. Schedules call EvaluateQueued, and EvaluateSlow, for which changes would wait too long (NextDue).
//
// Payers take turns, by the steps that their evaluations used lately. Within a payer, submitters, tasks and teams take turns (see
// queue.FairOrder). An evaluation has a budget of steps, about half a second of work. Beyond it, the run is released and evaluated again in
// the slow lane, which evaluates one run at a time, in the same order. The binary keeps one place of the fast lane for submitters who used
// little, so that they do not wait for the budgets of others. The number of places bounds the memory.
//
// A process that the stream calls for a certain run first evaluates the runs whose turn comes before, and afterwards other waiting runs.
// The table counts how many runs of a payer all such processes evaluate. A run of a payer who has used up the share waits until such a
// process has evaluated another run of the payer, or for the next schedule.
//
// If a process dies, no work is lost or repeated, because the table has the state of each run and each step is one transaction. A run that
// the process had leased is queued again when the lease expires, which is pending work (see package background), or at once when a worker
// with the same name starts.
package evaluator

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"assay/shared/computation/measure/scoring"
	"assay/shared/domain/record"
	"assay/shared/language/metrics"
	"assay/shared/language/wait"
	"assay/shared/service/due"
	"assay/shared/service/evaluation"
	"assay/shared/service/queue"
	"assay/shared/service/records"
	"assay/shared/storage/blob"
	"assay/shared/storage/store"
)

const (
	concurrency   = 2                // places of the fast lane besides the light place; an evaluation uses several cores for part of its time
	leaseTime     = time.Minute      // after it, the run of a dead worker is queued again
	pollInterval  = time.Second      // between reads of the queue without a notification
	shutdownGrace = 10 * time.Second // for releasing the runs of a worker that stops
)

// Worker evaluates runs. Callers set its exported fields before they use it, except that a store may get Changed before.
type Worker struct {
	Store store.Store
	Files blob.Store
	Now   func() time.Time
	Log   *slog.Logger
	// Holder names the worker in leases. Run begins by reclaiming the leases with its name, which a dead process has left. So workers that
	// run at the same time need different names.
	Holder  string
	Metrics metrics.Recorder
	// Places limits how many runs all processes evaluate at the same time, if hosts call processes for single runs. Nil: Each process limits
	// only its own evaluations.
	Places *queue.Places

	budget     int64 // for tests, instead of stepBudget; 0: stepBudget
	fast, slow turns

	lightWakeUp wait.Signal
	truths      cache[*scoring.Evaluator] // a nil value is an invalid ground truth
	inputs      cache[*scoring.KnownIDs]  // a nil value has no ids
}

// Run evaluates queued runs until the context ends. Then it releases unfinished runs.
func (w *Worker) Run(ctx context.Context) {
	if err := w.reclaim(ctx); err != nil {
		w.Log.WarnContext(ctx, "runs of an earlier process are queued again only when their leases expire", "error", err)
	}
	var all sync.WaitGroup
	for range concurrency {
		all.Go(func() { w.work(ctx, w.fastLane()) })
	}
	all.Go(func() { w.work(ctx, w.lightPlace()) })
	all.Go(func() { w.work(ctx, w.slowLane()) })
	all.Wait()
}

// work evaluates one run of the lane after another.
func (w *Worker) work(ctx context.Context, l lane) {
	for ctx.Err() == nil {
		run, err := w.lease(ctx, l)
		if run != nil && err == nil {
			l.wakeUp.Send() // another goroutine may find another run
			w.evaluate(ctx, l, run)
			continue
		}
		if err != nil && ctx.Err() == nil {
			w.Log.ErrorContext(ctx, "the queue cannot be read", "error", err)
		}
		select {
		case <-l.wakeUp.C():
		case <-time.After(pollInterval):
		case <-ctx.Done():
		}
	}
}

func (w *Worker) queue() queue.Queue {
	return queue.Queue{Store: w.Store, Now: w.Now, Metrics: w.Metrics, Places: w.Places}
}

// RecordWaiting records metrics of the waiting runs.
func (w *Worker) RecordWaiting(ctx context.Context) error { return w.queue().RecordWaiting(ctx) }

// lease leases the next run of the lane.
func (w *Worker) lease(ctx context.Context, l lane) (*record.RunItem, error) {
	lease := w.queue().Lease
	if l.light {
		lease = w.queue().LeaseLight
	}
	return lease(ctx, l.subqueue, l.order, w.holder(), leaseTime)
}

func (w *Worker) writer() *evaluation.Writer {
	return &evaluation.Writer{Queue: w.queue(), Files: w.Files, Log: w.Log}
}

func (w *Worker) holder() record.Lease { return record.Lease{Holder: w.Holder} }

// lingerTime is the time after which a call for a certain run begins no other run.
const lingerTime = time.Minute

// Evaluate evaluates a certain run if the run is queued. So the message that names the run may come late or twice. First it evaluates the
// runs whose turn comes before. With Places, it continues for a while with waiting runs, because no further message comes for a run whose
// payer had no place. It returns the latest time for a call of EvaluateQueued for such a run, or the zero Time.
func (w *Worker) Evaluate(ctx context.Context, run *record.RunItem) (time.Time, error) {
	l := w.fastLane()
	for ctx.Err() == nil {
		other, err := w.queue().LeaseBefore(ctx, l.order, run, w.holder(), leaseTime)
		if err != nil {
			return time.Time{}, err
		}
		if other == nil {
			break
		}
		w.evaluate(ctx, l, other)
	}
	leased, err := w.queue().LeaseRun(ctx, l.order, run.ID, w.holder(), leaseTime)
	switch {
	case errors.Is(err, queue.ErrNoPlace):
		return w.Now().Add(leaseTime), nil
	case leased == nil || err != nil:
		return time.Time{}, err
	}
	w.evaluate(ctx, l, leased)
	if w.Places == nil {
		return time.Time{}, nil
	}
	for end := time.Now().Add(lingerTime); ctx.Err() == nil; {
		other, err := w.lease(ctx, l)
		if err != nil {
			w.Log.ErrorContext(ctx, "the queue cannot be read", "error", err) // no failure, because the run of the message was evaluated
			break
		}
		if other == nil {
			return time.Time{}, nil
		}
		w.evaluate(ctx, l, other)
		if time.Now().After(end) {
			break
		}
	}
	return w.Now().Add(leaseTime), nil
}

// reclaim queues again the runs that an earlier process with the same name had leased.
func (w *Worker) reclaim(ctx context.Context) (failed error) {
	q := store.Query{Index: record.ByWork, Partition: record.DueRuns, Limit: store.MaxKeys}
	for it, err := range records.Items(ctx, w.Store, q) {
		if err != nil {
			return errors.Join(failed, err)
		}
		failed = errors.Join(failed, w.reclaimRun(ctx, it))
	}
	return failed
}

func (w *Worker) reclaimRun(ctx context.Context, it store.Item) error {
	run, err := records.Decode[record.RunItem](it)
	if err != nil || run.Lease == nil || run.Queue == record.QueueWorkers || run.Lease.Holder != w.Holder {
		return err
	}
	_, err = w.queue().ReleaseAfterCrash(ctx, queue.LeaseRefOf(run))
	return queue.IgnoreStale(err)
}

// Changed wakes the lanes for which the written items contain a run.
func (w *Worker) Changed(items []store.Item) {
	for _, it := range items {
		switch entry := it.Entry(record.ByWork); entry.Partition {
		case record.QueuePartition(record.QueueBuiltin):
			w.fast.order.Expect(record.BuiltinSubqueue().Turn(entry.Sort))
			w.fast.wakeUp.Send()
			w.lightWakeUp.Send()
		case record.QueuePartition(record.QueueSlow):
			w.slow.order.Expect(record.SlowSubqueue().Turn(entry.Sort))
			w.slow.wakeUp.Send()
		}
	}
}

// HandleChange evaluates a run that was just read, if the run is queued. It returns the time of the next work, or the zero Time. Hosts that
// do not call Run call it for each change.
func (w *Worker) HandleChange(ctx context.Context, it store.Item) (time.Time, error) {
	switch it.Entry(record.ByWork).Partition {
	case record.QueuePartition(record.QueueBuiltin):
		run, err := records.Decode[record.RunItem](it)
		if err != nil {
			return time.Time{}, err
		}
		return w.Evaluate(ctx, run)
	case record.QueuePartition(record.QueueSlow):
		return w.Now().Add(leaseTime), nil
	default:
		return time.Time{}, nil
	}
}

// EvaluateQueued evaluates the runs that are queued for built-in evaluators until none is left or the context ends.
func (w *Worker) EvaluateQueued(ctx context.Context) error { return w.evaluateAll(ctx, w.fastLane()) }

// EvaluateSlow is EvaluateQueued for the slow lane.
func (w *Worker) EvaluateSlow(ctx context.Context) error { return w.evaluateAll(ctx, w.slowLane()) }

func (w *Worker) evaluateAll(ctx context.Context, l lane) error {
	for ctx.Err() == nil {
		run, err := w.lease(ctx, l)
		if err != nil || run == nil {
			return err
		}
		w.evaluate(ctx, l, run)
	}
	return ctx.Err()
}

// NextDue returns the time at which a run has waited for so long that the stream should have delivered it, or the zero Time. It reads an
// index, which may lag by about a second.
func (w *Worker) NextDue(ctx context.Context) (next time.Time, err error) {
	for _, lane := range []string{record.QueueBuiltin, record.QueueSlow} {
		q := store.Query{Index: record.ByWork, Partition: record.QueuePartition(lane), Limit: 1}
		first, err := w.Store.Query(ctx, q) // perhaps not the run that has waited longest, but EvaluateQueued evaluates all
		if err != nil {
			return next, records.Failed(err)
		}
		if len(first) == 0 {
			continue
		}
		since, err := record.QueuedSince(first[0].Entry(record.ByWork).Sort)
		if err != nil {
			return next, err
		}
		next = due.Earliest(next, since.Add(leaseTime))
	}
	return next, nil
}
