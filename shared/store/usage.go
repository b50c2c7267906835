package store

import (
	"context"
	"sync/atomic"
)

// Usage counts what the calls of a context cost, for the budgets that tests hold every operation to.
type Usage struct {
	Calls  atomic.Int64 // calls of Get, Query and Write that reached the table, also those that then failed
	Read   atomic.Int64 // the keys of Gets, found or not, and the items that Queries fetched, also those left out as expired
	Writes atomic.Int64 // see Cost
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

// Cost is what a Write adds to Usage.Writes, whether or not its conditions hold: one for each item written or checked,
// and one more for each index entry of an item put. Entries that vanish are not counted: no caller knows them.
func Cost(writes []Write) int {
	n := len(writes)
	for i := range writes {
		if !writes[i].Op.puts() {
			continue
		}
		for _, k := range writes[i].Item.Indexes {
			if !k.IsZero() {
				n++
			}
		}
	}
	return n
}
