package store

import (
	"context"
	"math"
	"sync/atomic"
)

// Usage counts what the calls of a context cost, for the budgets that tests hold every operation to.
type Usage struct {
	Calls  atomic.Int64 // calls of Get, Query and Write that reached the table, also those that then failed
	Read   atomic.Int64 // the keys of Gets, found or not, and the items that Queries fetched, also those left out as expired
	Writes atomic.Int64 // see Cost
	// Thousandths of the capacity units that DynamoDB says it consumed; an embedded store has none.
	ReadUnits, WriteUnits atomic.Int64
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

// Counted reports whether the context has a Usage.
func Counted(ctx context.Context) bool { return ctx.Value(usageKey{}) != nil }

// CountUnits adds capacity units to the context's Usage, if it has one.
func CountUnits(ctx context.Context, read, written float64) {
	if u, ok := ctx.Value(usageKey{}).(*Usage); ok {
		u.ReadUnits.Add(int64(math.Round(read * 1000)))
		u.WriteUnits.Add(int64(math.Round(written * 1000)))
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
