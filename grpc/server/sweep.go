package server

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"assay/shared/queue"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
	"assay/shared/wait"
)

// sweeper takes back the runs of workers that were not heard of any more. One read of an empty page is what it costs while
// all are.
//
// A server that was away cannot blame the workers for that: for one lease time after its start it takes nothing back, so
// that those which are alive find it again. Leases are judged by this server's clock; servers side by side need clocks that agree to within
// seconds, as those of one cloud do. The evaluator, whose clock may be another's, waits for record.ReclaimGrace longer.
type sweeper struct {
	queue queue.Queue
	log   *slog.Logger
	lease time.Duration
	every time.Duration
}

// sweepPage is how many lapsed leases are read at once.
const sweepPage = 20

func (s *sweeper) run(ctx context.Context) {
	if !wait.Sleep(ctx, s.lease) {
		return
	}
	wait.Every(ctx, s.every, func() {
		if err := s.sweep(ctx); err != nil && ctx.Err() == nil {
			s.log.ErrorContext(ctx, "lapsed leases stay until the next look", "error", err)
		}
	})
}

func (s *sweeper) sweep(ctx context.Context) error {
	now := s.queue.Now()
	q := store.Query{Index: record.ByWork, Partition: record.DuePartition, To: record.DueBy(now.Add(record.ReclaimGrace)), Limit: sweepPage}
	var failed error
	for it, err := range records.Items(ctx, s.queue.Store, q) {
		if err == nil {
			err = s.takeBack(ctx, now, it)
		}
		failed = errors.Join(failed, err)
	}
	return failed
}

// takeBack takes back a run whose worker's lease has lapsed. What else is due is the evaluator's.
func (s *sweeper) takeBack(ctx context.Context, now time.Time, it store.Item) error {
	if !record.IsRun(it.Key) {
		return nil
	}
	run, err := records.Decode[record.RunItem](it)
	if err != nil || run.Lease == nil || run.Queue != record.QueueWorkers || run.Lease.Until.After(now) {
		return err
	}
	s.log.InfoContext(ctx, "a worker was not heard of any more, and its run is taken back", "run", run.ID, "worker", run.Lease.Holder, "attempt", run.Attempts)
	return s.queue.ReclaimExpired(ctx, run.ID)
}
