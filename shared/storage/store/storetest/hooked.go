package storetest

import (
	"context"
	"sync/atomic"
	"testing"

	"assay/shared/storage/store"
)

// Call is a call of a Hooked store: a Get of Keys, a Query, or a Write of Writes.
type Call struct {
	Number int64 // from 1
	Keys   []store.Key
	Query  *store.Query
	Writes []store.Write
}

// Hooked is a store that calls functions before and after the calls of another store. They count calls, inject failures, or change
// something at that moment.
type Hooked struct {
	store.Store
	Before func(Call) error // if it returns an error, the call fails with it and is not made
	After  func(Call)
	calls  atomic.Int64
}

// Calls returns the number of calls so far.
func (h *Hooked) Calls() int64 { return h.calls.Load() }

func (h *Hooked) around(c Call, do func() error) error {
	c.Number = h.calls.Add(1)
	if h.Before != nil {
		if err := h.Before(c); err != nil {
			return err
		}
	}
	err := do()
	if h.After != nil {
		h.After(c)
	}
	return err
}

// Get implements store.Store.
func (h *Hooked) Get(ctx context.Context, c store.Consistency, keys ...store.Key) (items []store.Item, err error) {
	err = h.around(Call{Keys: keys}, func() (err error) {
		items, err = h.Store.Get(ctx, c, keys...)
		return err
	})
	return items, err
}

// Query implements store.Store.
func (h *Hooked) Query(ctx context.Context, q store.Query) (items []store.Item, err error) {
	err = h.around(Call{Query: &q}, func() (err error) {
		items, err = h.Store.Query(ctx, q)
		return err
	})
	return items, err
}

// Write implements store.Store.
func (h *Hooked) Write(ctx context.Context, writes ...store.Write) error {
	return h.around(Call{Writes: writes}, func() error { return h.Store.Write(ctx, writes...) })
}

// BeforeCall returns s with do called before the n-th call.
func BeforeCall(s store.Store, n int64, do func()) *Hooked {
	return &Hooked{Store: s, Before: func(c Call) error {
		if c.Number == n {
			do()
		}
		return nil
	}}
}

// AfterCall returns s with do called after the n-th call.
func AfterCall(s store.Store, n int64, do func()) *Hooked {
	return &Hooked{Store: s, After: func(c Call) {
		if c.Number == n {
			do()
		}
	}}
}

// AtEachCall calls try with 1, 2 and so on, to do something at that call of the store that try returns. It ends when the store was
// called less often. It fails after fewer than some ten rounds, because then nothing was tested.
func AtEachCall(t *testing.T, try func(n int64) *Hooked) {
	t.Helper()
	for n := int64(1); n < 300; n++ {
		if try(n).Calls() < n {
			if n < 10 {
				t.Fatalf("the work ended after %d calls", n-1)
			}
			return
		}
	}
	t.Fatal("the work does not end")
}
