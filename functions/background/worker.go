// Package background does work that no request waits for, except evaluations and notifications. It does the pending work of records once it
// is due, such as propagating a change, accepting a ground truth or deleting a user, and periodic jobs over the table and the files.
//
// The two hosts call the same Worker:
//
//	what                    binary                                 AWS (function background)
//	pending work of records Run's loop, after a change or each     HandleChange, if the work is due at once, or RunDue, by a
//	                        second (see package due)               one-time schedule of EventBridge for its minute (NextDue)
//	completed uploads       the handler of /files/, or             function uploads, by a notification of S3
//	                        files.Poller for files in S3
//	runs without a worker   FailUnserved, each minute              FailUnserved, by the same schedule as RunDue
//	results of tools        DeleteExpiredResults, every 20 minutes DeleteExpiredResults, by a daily schedule after an upload
//	abandoned files         DeleteAbandonedFiles, each hour        DeleteAbandonedFiles, by the same daily schedule, and by one
//	                                                               two minutes after a call whose time ended
//	after a failure         the next second, or interval           retries of the stream, then a schedule 15 minutes later
//
// If a process dies, no work is lost, because the table has the state of each record and each step is one transaction. The next process may
// do a step again, which then changes nothing.
package background

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"assay/shared/domain/record"
	"assay/shared/language/metrics"
	"assay/shared/language/wait"
	"assay/shared/service/due"
	"assay/shared/service/queue"
	"assay/shared/storage/blob"
	"assay/shared/storage/store"
)

// batch is the number of records in one read.
const batch = 50

// Worker does pending work and periodic jobs. Callers set its exported fields before they use it, except that a store may get Changed
// before.
type Worker struct {
	due.Worker
	Files   blob.Store
	Metrics metrics.Recorder
}

// New returns a worker over the table and the files. Callers may set both later.
func New(s store.Store, files blob.Store, now func() time.Time, log *slog.Logger) *Worker {
	w := &Worker{Worker: due.Worker{Store: s, Now: now, Log: log}, Files: files}
	w.Lines = w.lines()
	return w
}

func (w *Worker) queue() queue.Queue {
	return queue.Queue{Store: w.Store, Now: w.Now, Metrics: w.Metrics}
}

// Run does due work and periodic jobs until the context ends.
func (w *Worker) Run(ctx context.Context) {
	var all sync.WaitGroup
	all.Go(func() { w.Worker.Run(ctx) })
	for _, job := range w.periodicJobs() {
		all.Go(func() {
			wait.Repeat(ctx, job.every, w.Log.With("job", job.name), "a periodic job failed; it runs again at its next interval", job.do)
		})
	}
	all.Wait()
}

// periodicJob is a job of the binary.
type periodicJob struct {
	every time.Duration
	do    func(context.Context) error
	name  string // in the log
}

// periodicJobs lists the jobs, which run concurrently, so that no job delays another.
func (w *Worker) periodicJobs() []periodicJob {
	return []periodicJob{
		{time.Minute, w.FailUnserved, "fail runs that no worker takes"},
		{20 * time.Minute, w.DeleteExpiredResults, "delete expired results of tools"},
		{time.Hour, w.deleteAllAbandoned, "delete abandoned files"},
	}
}

// HandleChange does the pending work of a record that was just read, if the work is due. It returns the time from which on RunDue or
// FailUnserved has work with the record, or the zero Time.
func (w *Worker) HandleChange(ctx context.Context, it store.Item) (time.Time, error) {
	entry := it.Entry(record.ByWork)
	if entry.Partition == record.QueuePartition(record.QueueWorkers) {
		since, err := record.QueuedSince(entry.Sort)
		return since.Add(record.WorkersNotice), err
	}
	return w.Worker.HandleChange(ctx, it)
}

// NextDue returns the first time at which work is due or a run has waited for a worker for too long, or the zero Time. It reads an index,
// which may lag by about a second.
func (w *Worker) NextDue(ctx context.Context) (time.Time, error) {
	next, err := w.Worker.NextDue(ctx)
	if err != nil {
		return next, err
	}
	for backlog, err := range w.queue().TeamBacklogs(ctx) {
		if err != nil {
			return next, err
		}
		next = due.Earliest(next, backlog.Since.Add(record.QueueTime))
		next = due.Earliest(next, record.NextWorkersNotice(backlog.Since, w.Now()))
	}
	return next, nil
}
