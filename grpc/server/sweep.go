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

// sweeper reclaims runs whose leases have expired. While none has, a sweep reads one empty page.
//
// Heartbeats cannot arrive while the server is down, so it begins one lease time after its start, in which live workers reconnect.
// It compares leases with this server's clock; the clocks of several servers must agree to within seconds, as those of one cloud
// do. The evaluator, which may have another clock, waits for record.ReclaimGrace longer.
type sweeper struct {
	queue    queue.Queue
	log      *slog.Logger
	lease    time.Duration
	interval time.Duration
}

// sweepPage is the page size of a sweep.
const sweepPage = 20

func (s *sweeper) run(ctx context.Context) {
	if !wait.Sleep(ctx, s.lease) {
		return
	}
	wait.Every(ctx, s.interval, func() {
		if err := s.sweep(ctx); err != nil && ctx.Err() == nil {
			s.log.ErrorContext(ctx, "expired leases stay until the next sweep", "error", err)
		}
	})
}

func (s *sweeper) sweep(ctx context.Context) error {
	now := s.queue.Now()
	q := store.Query{Index: record.ByWork, Partition: record.DuePartition, To: record.DueBy(now.Add(record.ReclaimGrace)), Limit: sweepPage}
	var failed error
	for it, err := range records.Items(ctx, s.queue.Store, q) {
		if err == nil {
			err = s.reclaim(ctx, now, it)
		}
		failed = errors.Join(failed, err)
	}
	return failed
}

// reclaim reclaims a run whose lease by a worker has expired. Other pending work is the evaluator's.
func (s *sweeper) reclaim(ctx context.Context, now time.Time, it store.Item) error {
	if !record.IsRun(it.Key) {
		return nil
	}
	run, err := records.Decode[record.RunItem](it)
	if err != nil || run.Lease == nil || run.Queue != record.QueueWorkers || run.Lease.Until.After(now) {
		return err
	}
	s.log.InfoContext(ctx, "the lease of a worker has expired; its run is reclaimed", "run", run.ID, "worker", run.Lease.Holder, "attempt",
		run.Attempts)
	return s.queue.ReclaimExpired(ctx, run.ID)
}
