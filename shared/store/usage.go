package store

import (
	"context"
	"sync/atomic"
)

// Usage counts what the calls of a context cost, for the budgets that tests hold every operation to.
type Usage struct {
	Calls  atomic.Int64 // calls of Get, Query and Write
	Read   atomic.Int64 // items that reads fetched, also those that were filtered out or expired
	Writes atomic.Int64 // items written or checked, each index entry that changed counting as one more
}

type usageKey struct{}

// WithUsage returns a context whose store calls are counted in u.
func WithUsage(ctx context.Context, u *Usage) context.Context {
	return context.WithValue(ctx, usageKey{}, u)
}

// Count adds a call's cost to the context's Usage, if it has one. Implementations call it once in each call.
func Count(ctx context.Context, read, writes int) {
	if u, ok := ctx.Value(usageKey{}).(*Usage); ok {
		u.Calls.Add(1)
		u.Read.Add(int64(read))
		u.Writes.Add(int64(writes))
	}
}
