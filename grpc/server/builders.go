package server

import (
	"context"
	"sync"

	"assay/shared/record"
	"assay/shared/store"
	"assay/shared/table"
)

// builders remembers which pools this server has noted as having workers that build repositories, so that it reads and writes
// the item of all servers only now and then.
type builders struct {
	mu    sync.Mutex
	noted record.Builders
}

// note notes the pools of a worker that builds repositories.
func (b *builders) note(ctx context.Context, env Env, wants []demand) {
	var pools []string
	for _, w := range wants {
		if w.work == record.ExecuteRepository {
			pools = append(pools, w.pool)
		}
	}
	now := env.Now()
	b.mu.Lock()
	news := b.noted.Note(now, pools)
	b.mu.Unlock()
	if !news {
		return
	}
	err := table.Retry(ctx, func() error {
		all, err := table.Get[record.Builders](ctx, env.Store, store.Strong, record.BuildersKey())
		switch {
		case err != nil:
			return err
		case all == nil:
			all = &record.Builders{Meta: record.NewMeta(now)}
			all.Note(now, pools)
			return new(table.Tx).Create(all).Commit(ctx, env.Store)
		case !all.Note(now, pools):
			return nil
		}
		record.Touch(all, now)
		return new(table.Tx).Replace(all).Commit(ctx, env.Store)
	})
	if err != nil {
		env.Log.WarnContext(ctx, "a pool that builds repositories cannot be noted; it is when a worker of it next asks after a while", "error", err)
	}
}
