package store

import (
	"context"
	"sync/atomic"
)

// Usage counts what the calls of a context cost, for the budgets that tests hold every operation to.
type Usage struct {
	Calls atomic.Int64 // calls of Get, Query and Write that reached the table, also those that then failed
	Read  atomic.Int64 // the keys of Gets, found or not, and the items that Queries fetched, also those left out as expired
}

type usageKey struct{}

// WithUsage returns a context whose store calls are counted in u.
func WithUsage(ctx context.Context, u *Usage) context.Context {
	return context.WithValue(ctx, usageKey{}, u)
}

// Count adds a call's cost to the context's Usage, if it has one. Implementations call it once in each call.
func Count(ctx context.Context, read int) {
	if u, ok := ctx.Value(usageKey{}).(*Usage); ok {
		u.Calls.Add(1)
		u.Read.Add(int64(read))
	}
}
