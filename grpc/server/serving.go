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

// serving caches which workers this server has noted as seen, so that it reads and writes the item of all servers only
// now and then.
type serving struct {
	mu        sync.Mutex
	noted     record.Serving
	subqueues map[string][]record.Subqueue // by worker: what it last asked for
}

const (
	noteInterval = 15 * time.Second // how often a worker that waits is noted
	maxTracked   = 10_000           // how many workers are remembered; of others, each run alone tells what they serve
)

// keep notes a worker that asks for work now, and as long as the context lasts if it waits.
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

// noteHeartbeat notes the worker that holds the run.
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
	news := s.noted.Note(now, queues)
	s.mu.Unlock()
	if !news {
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
		env.Log.WarnContext(ctx, "workers that were seen cannot be noted; they are when they are next seen after a while", "error", err)
	}
}
