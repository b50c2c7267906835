package server

import (
	"context"
	"sync/atomic"

	"assay/shared/store"
)

// countingStore counts calls of a store.
type countingStore struct {
	store.Store
	gets, keys, queries atomic.Int64
}

func (c *countingStore) Get(ctx context.Context, k store.Consistency, keys ...store.Key) ([]store.Item, error) {
	c.gets.Add(1)
	c.keys.Add(int64(len(keys)))
	return c.Store.Get(ctx, k, keys...)
}

func (c *countingStore) Query(ctx context.Context, q store.Query) ([]store.Item, error) {
	c.queries.Add(1)
	return c.Store.Query(ctx, q)
}
