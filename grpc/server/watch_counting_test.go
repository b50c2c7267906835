package server

import (
	"context"
	"sync/atomic"

	"assay/shared/store"
)

// counting counts what a store is asked.
type counting struct {
	store.Store
	gets, keys, queries atomic.Int64
}

func (c *counting) Get(ctx context.Context, k store.Consistency, keys ...store.Key) ([]store.Item, error) {
	c.gets.Add(1)
	c.keys.Add(int64(len(keys)))
	return c.Store.Get(ctx, k, keys...)
}

func (c *counting) Query(ctx context.Context, q store.Query) ([]store.Item, error) {
	c.queries.Add(1)
	return c.Store.Query(ctx, q)
}
