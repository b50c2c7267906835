// Package evaluator is the function behind the queue: it evaluates runs with the built-in evaluators, and does what must
// happen by itself when its time has come (uploads that never arrived, leases that lapsed, changes that others have to
// follow, files that nothing names any more). It has no HTTP.
//
// Teams take turns, so that a burst of one delays the runs of others by one run of each process at most: a process that
// drains the queue asks it for the next team's run each time, and one that messages of the table's stream call for certain
// runs lets another team's go first when it served the same team last. How many batches of a shard go on at once, and their
// order, do not decide who is served.
//
// Nothing that it does is lost or done twice when its process dies: what a run is at stands in the table, and each step
// is one transaction. A run that a dead process had under its hands comes back when the lease lapses, or at once when a
// worker of the same name starts.
package evaluator

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"assay/shared/blob"
	"assay/shared/evaluation"
	"assay/shared/measure/evaluator"
	"assay/shared/panics"
	"assay/shared/queue"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
	"assay/shared/wait"
)

const (
	concurrency   = 2                // runs evaluated at once; one evaluation uses several cores for part of its time
	leaseTime     = time.Minute      // until a run of a dead worker comes back
	pollInterval  = time.Second      // how often to look, unasked, for what waits or is due
	shutdownGrace = 10 * time.Second // to give back the runs of a worker that stops
)

// Worker evaluates runs. Its exported fields are set before it is used; they may be set after Changed was handed to a store.
type Worker struct {
	Store store.Store
	Files blob.Store
	Now   func() time.Time
	Log   *slog.Logger
	// Holder names the worker in leases. Leases that Run finds under its own name are those of a dead process and are
	// taken back at once, so workers that run at the same time need different names.
	Holder string

	order  queue.FairOrder
	truths cache[*evaluator.Truth] // nil: it cannot be used
	inputs cache[*evaluator.Known] // nil: they have no ids
	wake   wait.Signal
}

// Run evaluates what waits and does what is due until the context ends. It then gives back what it has not finished.
func (w *Worker) Run(ctx context.Context) {
	if err := w.reclaim(ctx); err != nil {
		w.Log.WarnContext(ctx, "runs of an earlier process come back only when their leases lapse", "error", err)
	}
	var all sync.WaitGroup
	for range concurrency {
		all.Go(func() { w.work(ctx) })
	}
	for _, c := range w.periodicJobs() {
		all.Go(func() { w.runPeriodically(ctx, c) })
	}
	all.Wait()
}

// work evaluates one run after the other.
func (w *Worker) work(ctx context.Context) {
	for ctx.Err() == nil {
		run, err := w.lease(ctx)
		if run != nil && err == nil {
			w.Wake() // there may be another one, for another of us
			w.evaluate(ctx, run)
			continue
		}
		if err != nil && ctx.Err() == nil {
			w.Log.ErrorContext(ctx, "the queue cannot be read", "error", err)
		}
		select {
		case <-w.wake.C():
		case <-time.After(pollInterval):
		case <-ctx.Done():
		}
	}
}

func (w *Worker) queue() queue.Queue { return queue.Queue{Store: w.Store, Now: w.Now} }

// lease leases the next run in the fair order.
func (w *Worker) lease(ctx context.Context) (*record.RunItem, error) {
	return w.queue().Lease(ctx, record.BuiltinSubqueue(), &w.order, w.holder(), leaseTime)
}

func (w *Worker) writer() *evaluation.Writer {
	return &evaluation.Writer{Queue: w.queue(), Files: w.Files, Log: w.Log}
}

func (w *Worker) holder() record.Lease { return record.Lease{Holder: w.Holder} }

// Evaluate evaluates one certain run, if it waits: the answer to a message that names it. A message that comes twice, or
// late, does nothing.
//
// When the process served the run's team last, it first evaluates the run of another team whose turn it is, if any waits.
// Whatever is evaluated for others, the run that a message names is evaluated before the message counts as handled.
func (w *Worker) Evaluate(ctx context.Context, run *record.RunItem) error {
	other, err := w.queue().LeaseOther(ctx, &w.order, run, w.holder(), leaseTime)
	if err != nil {
		return err
	}
	if other != nil {
		w.evaluate(ctx, other)
	}
	run, err = w.queue().LeaseRun(ctx, &w.order, run.ID, w.holder(), leaseTime)
	if run != nil && err == nil {
		w.evaluate(ctx, run)
	}
	return err
}

// periodicJob is something that must happen by itself, again and again.
type periodicJob struct {
	every time.Duration
	do    func(context.Context) error
	name  string // in the log
}

// periodicJobs go on side by side, so that none waits for another: a truth that is large keeps no lapsed lease from being taken
// back.
func (w *Worker) periodicJobs() []periodicJob {
	return []periodicJob{
		{pollInterval, w.runDueOfRuns, "pending work of runs"},
		{pollInterval, w.runDueOfOthers, "other pending work"},
		{time.Minute, w.Unserved, "fail runs that no worker takes"},
		{20 * time.Minute, w.CleanResults, "delete expired results of tools"},
		{time.Hour, w.Clean, "delete abandoned files"},
	}
}

// runPeriodically does a job at its interval until the context ends.
func (w *Worker) runPeriodically(ctx context.Context, c periodicJob) {
	wait.Every(ctx, c.every, func() {
		if err := panics.Catch(func() error { return c.do(ctx) }); err != nil && ctx.Err() == nil {
			w.Log.ErrorContext(ctx, "a periodic job failed; it runs again at its next interval", "job", c.name, "error", err)
		}
	})
}

// reclaim takes back the runs that an earlier process of the same name had under its hands.
func (w *Worker) reclaim(ctx context.Context) error {
	return w.eachPending(ctx, "", func(it store.Item) error {
		if !record.IsRun(it.Key) {
			return nil
		}
		run, err := records.Decode[record.RunItem](it)
		if err != nil || run.Lease == nil || run.Queue != record.QueueBuiltin || run.Lease.Holder != w.Holder {
			return err
		}
		_, err = w.queue().ReleaseAfterCrash(ctx, queue.LeaseRefOf(run))
		return queue.IgnoreStale(err)
	})
}

// Wake tells a worker that something may wait in the queue.
func (w *Worker) Wake() { w.wake.Send() }

// Changed wakes a worker when the items, just written, have a run that waits for it.
func (w *Worker) Changed(items []store.Item) {
	waiting := record.QueuePartition(record.QueueBuiltin)
	if slices.ContainsFunc(items, func(it store.Item) bool { return it.Entry(record.ByWork).Partition == waiting }) {
		w.Wake()
	}
}
