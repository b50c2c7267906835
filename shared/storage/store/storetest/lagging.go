package storetest

import (
	"context"
	"slices"
	"sync"
	"time"

	"assay/shared/storage/store"
)

// Lagging is a store whose indexes lack created items until Delay has passed by Now.
type Lagging struct {
	store.Store
	Delay time.Duration
	Now   func() time.Time

	mu      sync.Mutex
	created map[store.Key]time.Time
}

// Lag implements store.Store.
func (l *Lagging) Lag() time.Duration { return l.Delay }

// Write implements store.Store.
func (l *Lagging) Write(ctx context.Context, writes ...store.Write) error {
	if err := l.Store.Write(ctx, writes...); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.created == nil {
		l.created = map[store.Key]time.Time{}
	}
	for _, w := range writes {
		if w.Op == store.OpCreate {
			l.created[w.Item.Key] = l.Now()
		}
	}
	return nil
}

// Query implements store.Store.
func (l *Lagging) Query(ctx context.Context, q store.Query) ([]store.Item, error) {
	if q.Index == store.Table {
		return l.Store.Query(ctx, q)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	all := q
	all.Limit, all.MaxBytes = q.Limit+len(l.created), 0
	items, err := l.Store.Query(ctx, all)
	items = slices.DeleteFunc(items, func(it store.Item) bool {
		at, created := l.created[it.Key]
		return created && l.Now().Sub(at) < l.Delay
	})
	return q.Truncate(items[:min(q.Limit, len(items))]), err
}
