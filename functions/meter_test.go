package functions_test

import (
	"context"
	"fmt"

	"assay/shared/store"
	"assay/shared/store/dynamo/dynamotest"
)

// meter is a store that counts what is asked of it.
type meter struct {
	store.Store
	reading, writing store.Usage
	units            dynamotest.Units // of reads and writes; an embedded store has none
}

func (m *meter) count(ctx context.Context, u *store.Usage) context.Context {
	return dynamotest.WithUnits(store.WithUsage(ctx, u), &m.units)
}

func (m *meter) Get(ctx context.Context, c store.Consistency, keys ...store.Key) ([]store.Item, error) {
	return m.Store.Get(m.count(ctx, &m.reading), c, keys...)
}

func (m *meter) Query(ctx context.Context, q store.Query) ([]store.Item, error) {
	return m.Store.Query(m.count(ctx, &m.reading), q)
}

func (m *meter) Write(ctx context.Context, writes ...store.Write) error {
	return m.Store.Write(m.count(ctx, &m.writing), writes...)
}

// cost is what something took: calls that read, the items that they read, and calls that wrote.
type cost struct{ reads, items, writes int64 }

func (c cost) String() string {
	return fmt.Sprintf("%d reads of %d items, %d writes", c.reads, c.items, c.writes)
}

func (m *meter) total() cost {
	return cost{m.reading.Calls.Load(), m.reading.Read.Load(), m.writing.Calls.Load()}
}

// of returns what do costs.
func (m *meter) of(do func()) cost {
	before := m.total()
	do()
	after := m.total()
	return cost{after.reads - before.reads, after.items - before.items, after.writes - before.writes}
}
