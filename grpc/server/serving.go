package server

import (
	"context"
	"sync"
	"time"

	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
	"assay/shared/wait"
)

// serving records in the store which subqueues have workers. It caches what it has recorded, so that it seldom reads and writes the
// item, which all servers share.
type serving struct {
	mu        sync.Mutex
	noted     record.Serving
	subqueues map[string][]record.Subqueue // by worker, of its last Lease
}

const (
	noteInterval = 15 * time.Second // how often a waiting worker is recorded
	maxTracked   = 10_000           // workers whose subqueues are cached; of others only those of their runs are recorded
)

// track records a worker that calls Lease now and, if it waits, until the context ends.
func (s *serving) track(ctx context.Context, env Env, holder record.Lease, wants []demand, builds bool, waits time.Duration) {
	var queues []record.Subqueue
	for _, w := range wants {
		if queues = append(queues, record.WorkerSubqueue(w.pool, w.work)); builds && w.work == record.ExecuteRepository {
			queues = append(queues, record.BuilderSubqueue(w.pool))
		}
	}
	s.mu.Lock()
	if s.subqueues == nil || len(s.subqueues) >= maxTracked {
		s.subqueues = map[string][]record.Subqueue{}
	}
	s.subqueues[workerKey(&holder)] = queues
	s.mu.Unlock()
	s.note(ctx, env, queues)
	if waits > 0 {
		go wait.Every(ctx, noteInterval, func() { s.note(ctx, env, queues) })
	}
}

func workerKey(l *record.Lease) string { return l.UserID + " " + l.Holder }

// noteHeartbeat records the worker that has leased the run.
func (s *serving) noteHeartbeat(ctx context.Context, env Env, run *record.RunItem) {
	s.mu.Lock()
	queues := s.subqueues[workerKey(run.Lease)]
	s.mu.Unlock()
	if queues == nil {
		queues = []record.Subqueue{record.WorkerSubqueue(run.Pool, run.Work())}
	}
	s.note(ctx, env, queues)
}

func (s *serving) note(ctx context.Context, env Env, queues []record.Subqueue) {
	now := env.Now()
	s.mu.Lock()
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
		if all == nil {
			all = &record.Serving{Meta: record.NewMeta(now)}
		}
		if !all.Note(now, queues) {
			return nil
		}
		return new(records.Tx).Save(all, now).Commit(ctx, env.Store)
	})
	if err != nil && ctx.Err() == nil {
		env.Log.WarnContext(ctx, "the workers that serve queues cannot be recorded; they are with a later call", "error", err)
	}
}
