// Package evaluator evaluates runs with the built-in evaluators, and does the pending work of records when it is due: uploads that
// never arrived, expired leases, changes to propagate, files that no record names. It has no HTTP.
//
// Worker is the same in both hosts, which call it like this:
//
//	what                    binary (local loop)                    AWS (function evaluator)
//	evaluate queued runs    Run's loop, woken by Changed after a   HandleChange, for the run that a record of the
//	                        write, or each second                  DynamoDB stream names, or EvaluateQueued, by a schedule
//	evaluate in the slow    Run's loop, likewise                   EvaluateSlow, by the same schedule, for HandleChange keeps
//	lane                                                           other changes waiting
//	pending work of records Run's jobs, woken by Changed, or       HandleChange, when the work is due at once, or RunDue, by
//	                        each second                            a one-time schedule of EventBridge for its minute (NextDue)
//	completed uploads       the handler of /files/, or             function uploads, by a notification of S3
//	                        files.Poller for files in S3
//	runs without a worker   FailUnserved, each minute              FailUnserved, by the same schedule as RunDue
//	results of tools        DeleteExpiredResults, every 20 minutes DeleteExpiredResults, by a daily schedule after an upload
//	abandoned files         DeleteAbandonedFiles, each hour        DeleteAbandonedFiles, by the same daily schedule, and by one
//	                                                               in two minutes from where the time of a call ended
//	after a failure         the next interval                      retries of the stream, then a schedule 15 minutes later
//
// Processes serve payers in turns, by the steps of evaluations that they used lately, and within them submitters, tasks and teams (see
// queue.FairOrder). An evaluation has a budget of steps, about half a second of work. Beyond it, the run is given back and evaluated
// again, in the slow lane, which evaluates one run at a time, in the same order. The binary keeps one place of the fast lane for submitters
// who used little, so that they do not wait for the budgets of others. At most as many evaluations as there are places are in memory.
//
// A process that the stream calls for a certain run first evaluates those whose turn comes before, and then others that wait. The table
// counts how many runs of a payer are evaluated by all such processes. A run of a payer that has its share waits for one of them to be done
// with another run of the payer, or for the next schedule.
//
// The death of a process neither loses nor repeats work: the table has the state of each run, and each step is one transaction. A run
// that a dead process had leased is queued again when its lease expires, or at once when a worker of the same name starts.
package evaluator

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"assay/shared/computation/measure/scoring"
	"assay/shared/domain/record"
	"assay/shared/language/metrics"
	"assay/shared/language/wait"
	"assay/shared/service/evaluation"
	"assay/shared/service/files"
	"assay/shared/service/queue"
	"assay/shared/service/records"
	"assay/shared/storage/blob"
	"assay/shared/storage/store"
)

const (
	concurrency   = 2                // places of the fast lane besides the light place; an evaluation uses several cores for part of its time
	leaseTime     = time.Minute      // after which a run of a dead worker is queued again
	pollInterval  = time.Second      // of the queue and of due work, without a notification
	shutdownGrace = 10 * time.Second // to release the runs of a worker that stops
)

// Worker evaluates runs. Its exported fields are set before it is used; they may be set after Changed was handed to a store.
type Worker struct {
	Store store.Store
	Files blob.Store
	Now   func() time.Time
	Log   *slog.Logger
	// Holder names the worker in leases. Run at once reclaims leases of its own name, which a dead process has left, so workers that
	// run at the same time need different names.
	Holder  string
	Metrics metrics.Recorder
	// Places bounds how many runs are evaluated at the same time over all processes, where these are called for single runs; nil: each
	// process bounds its own.
	Places *queue.Places

	budget     int64 // of tests, in place of stepBudget; 0: none
	fast, slow turns

	lightWakeUp wait.Signal
	truths      cache[*scoring.Evaluator] // nil: it is invalid
	inputs      cache[*scoring.KnownIDs]  // nil: without ids

	runDue, datasetDue, workDue wait.Signal // pending work of runs, of datasets, and of other records
	payers                      payerTurns  // of the pending work of datasets
}

// Run evaluates queued runs and does due work until the context ends. Then it releases unfinished runs.
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
	for _, c := range w.periodicJobs() {
		all.Go(func() {
			wait.Repeat(ctx, c.every, c.wake, w.Log.With("job", c.name), "a periodic job failed; it runs again at its next interval", c.do)
		})
	}
	all.Wait()
}

// work evaluates one run of the lane after another.
func (w *Worker) work(ctx context.Context, l lane) {
	for ctx.Err() == nil {
		run, err := w.lease(ctx, l)
		if run != nil && err == nil {
			l.wakeUp.Send() // to another goroutine, for there may be another run
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

// RecordWaiting records in metrics what waits in the queues.
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

// lingerTime is how long a call for a certain run goes on with others.
const lingerTime = time.Minute

// Evaluate evaluates a certain run, if it is queued, so that a message that names it may come late or twice. Before it, it evaluates the
// runs whose turn comes before. Where places are counted, it then goes on for a while with runs that wait, since messages for those whose
// payer had no place left are over. It returns when to call EvaluateQueued for such a run at the latest, or the zero Time.
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
			w.Log.ErrorContext(ctx, "the queue cannot be read", "error", err) // the message's run was evaluated
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

// periodicJob is a job of the local loop.
type periodicJob struct {
	every time.Duration
	wake  <-chan struct{} // does it early; nil: never
	do    func(context.Context) error
	name  string // in the log
}

// periodicJobs run concurrently, so that none waits for another: checking a large truth delays neither expired leases nor
// changes of who sees a task.
func (w *Worker) periodicJobs() []periodicJob {
	return []periodicJob{
		{pollInterval, w.runDue.C(), func(ctx context.Context) error { return w.runDueOf(ctx, &w.runDue) }, "pending work of runs"},
		{pollInterval, w.datasetDue.C(), w.runDatasetsDue, "pending work of datasets"},
		{pollInterval, w.workDue.C(), func(ctx context.Context) error { return w.runDueOf(ctx, &w.workDue) }, "other pending work"},
		{time.Minute, nil, w.FailUnserved, "fail runs that no worker takes"},
		{20 * time.Minute, nil, w.DeleteExpiredResults, "delete expired results of tools"},
		{time.Hour, nil, w.deleteAllAbandoned, "delete abandoned files"},
	}
}

// deleteAllAbandoned is DeleteAbandonedFiles for a host that stops no call, and whose flags name the table and the files: servers over two
// tables that started at the same time can both have found the files without a claim.
func (w *Worker) deleteAllAbandoned(ctx context.Context) error {
	if err := files.CheckClaim(ctx, w.Store, w.Files); err != nil {
		return err
	}
	_, err := w.DeleteAbandonedFiles(ctx, "")
	return err
}

// reclaim queues the runs again that an earlier process of the same name had leased.
func (w *Worker) reclaim(ctx context.Context) error {
	return w.eachPending(ctx, "", func(it store.Item) error {
		if !record.IsRun(it.Key) {
			return nil
		}
		run, err := records.Decode[record.RunItem](it)
		if err != nil || run.Lease == nil || run.Queue == record.QueueWorkers || run.Lease.Holder != w.Holder {
			return err
		}
		_, err = w.queue().ReleaseAfterCrash(ctx, queue.LeaseRefOf(run))
		return queue.IgnoreStale(err)
	})
}

// Changed wakes a worker when the items, just written, contain a run for it. It also wakes the jobs for pending work that is due before
// their next interval.
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
		case record.DuePartition:
			due := w.jobOf(it.Key)
			if at, err := record.DueAt(entry.Sort); err == nil && at.Sub(w.Now()) < pollInterval {
				time.AfterFunc(at.Sub(w.Now()), due.Send)
			}
		}
	}
}

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
		return w.Evaluate(ctx, run)
	case record.QueuePartition(record.QueueSlow):
		return w.Now().Add(leaseTime), nil
	case record.QueuePartition(record.QueueWorkers):
		since, err := record.QueuedSince(entry.Sort)
		return since.Add(record.WorkersNotice), err
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

// NextDue returns the first instant at which work is due or a run has waited for too long, or the zero Time. It reads an index, which
// may lag by about a second.
func (w *Worker) NextDue(ctx context.Context) (time.Time, error) {
	var next time.Time
	at := func(t time.Time) {
		if next.IsZero() || t.Before(next) {
			next = t
		}
	}
	first := func(partition string, instantOf func(sort string) (time.Time, error), later time.Duration) error {
		found, err := w.Store.Query(ctx, store.Query{Index: record.ByWork, Partition: partition, Limit: 1})
		if err != nil || len(found) == 0 {
			return records.Failed(err)
		}
		instant, err := instantOf(found[0].Entry(record.ByWork).Sort)
		at(instant.Add(later))
		return err
	}
	// The stream should have delivered what is queued. The first run need not have waited longest, but EvaluateQueued takes all.
	if err := cmp.Or(first(record.DuePartition, record.DueAt, 0),
		first(record.QueuePartition(record.QueueBuiltin), record.QueuedSince, leaseTime),
		first(record.QueuePartition(record.QueueSlow), record.QueuedSince, leaseTime)); err != nil {
		return next, err
	}
	for backlog, err := range w.queue().TeamBacklogs(ctx) {
		if err != nil {
			return next, err
		}
		at(backlog.Since.Add(record.QueueTime))
		at(record.NextWorkersNotice(backlog.Since, w.Now()))
	}
	return next, nil
}
