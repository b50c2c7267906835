package server

import (
	"cmp"
	"context"
	"sync"
	"time"

	"assay/shared/domain/record"
	"assay/shared/language/metrics"
	"assay/shared/language/wait"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

// serving records in the store which subqueues have workers. It caches the recorded state, because all servers share the item, and
// should seldom read and write it.
type serving struct {
	mu      sync.Mutex
	noted   record.Serving
	workers map[string]*trackedWorker
}

// trackedWorker is a worker with the demands of its last call of Lease.
type trackedWorker struct {
	wants  []demand
	builds bool
	seen   time.Time
}

const (
	noteInterval = 15 * time.Second // between records of a waiting worker
	aliveTime    = time.Minute      // a worker counts as alive for this time after a call
	maxTracked   = 10_000           // cached workers; for others, only the pool and the kind of their current run are recorded
)

// track records a worker that calls Lease. If the worker waits, track records it until the context ends.
func (s *serving) track(ctx context.Context, env Env, holder record.Lease, wants []demand, builds bool, waits time.Duration) {
	worker := &trackedWorker{wants: wants, builds: builds}
	s.mu.Lock()
	if s.workers == nil || len(s.workers) >= maxTracked {
		s.workers = map[string]*trackedWorker{}
	}
	s.workers[workerKey(&holder)] = worker
	s.mu.Unlock()
	s.note(ctx, env, worker)
	if waits > 0 {
		go wait.Every(ctx, noteInterval, func() { s.note(ctx, env, worker) })
	}
}

func workerKey(l *record.Lease) string { return l.UserID + " " + l.Holder }

// noteHeartbeat records the worker that holds the lease of the run.
func (s *serving) noteHeartbeat(ctx context.Context, env Env, run *record.RunItem) {
	s.mu.Lock()
	worker := s.workers[workerKey(run.Lease)]
	s.mu.Unlock()
	s.note(ctx, env, cmp.Or(worker, &trackedWorker{wants: []demand{{run.Pool, run.Work()}}}))
}

func (w *trackedWorker) subqueues() []record.Subqueue {
	var queues []record.Subqueue
	for _, want := range w.wants {
		queues = append(queues, record.WorkerSubqueue(want.pool, want.work))
		if w.builds && want.work == record.ExecuteRepository {
			queues = append(queues, record.BuilderSubqueue(want.pool))
		}
	}
	return queues
}

func (s *serving) note(ctx context.Context, env Env, worker *trackedWorker) {
	now, queues := env.Now(), worker.subqueues()
	s.mu.Lock()
	worker.seen = now
	changed := s.noted.Note(now, queues)
	s.mu.Unlock()
	if !changed {
		return
	}
	err := records.Retry(ctx, func() error {
		all, err := records.Get[record.Serving](ctx, env.Store, store.Strong, record.ServingKey())
		if err != nil {
			return err
		}
		all = cmp.Or(all, &record.Serving{Meta: record.NewMeta(now)})
		if !all.Note(now, queues) {
			return nil
		}
		return new(records.Tx).Save(all, now).Commit(ctx, env.Store)
	})
	if err != nil && ctx.Err() == nil {
		env.Log.WarnContext(ctx, "cannot record which queues have workers; a later call records them", "error", err)
	}
}

// recordAlive records the number of live workers.
func (s *serving) recordAlive(r metrics.Recorder, now time.Time) {
	alive := map[demand]int{}
	s.mu.Lock()
	for _, w := range s.workers {
		for _, want := range w.wants {
			if now.Sub(w.seen) >= aliveTime {
				continue
			}
			if alive[want] == 0 && len(alive) >= metrics.MaxPools {
				want = demand{metrics.OtherPools, metrics.OtherPools}
			}
			alive[want]++
		}
	}
	s.mu.Unlock()
	for want, n := range alive {
		r.Record(metrics.WorkersAlive, float64(n), cmp.Or(want.pool, record.DefaultPool), string(want.work))
	}
}
