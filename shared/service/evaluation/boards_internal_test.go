package evaluation

import (
	"fmt"
	"testing"

	"assay/shared/domain/record"
)

// TestBoards_AreKeptWithinTheirBound checks that the cache evicts the board that was used least recently, and limits the orders of a
// board.
func TestBoards_AreKeptWithinTheirBound(t *testing.T) {
	b := newBoards()
	entries := func(n int) []*Entry {
		all := make([]*Entry, n)
		for i := range all {
			all[i] = &Entry{item: new(record.EvaluationItem)}
		}
		return all
	}
	of := func(version int64) boardState { return boardState{truthVersion: version} }
	keeps := func(version int64) bool {
		ranked, _ := b.get(of(version), order{})
		return ranked != nil
	}
	for version := range int64(3) {
		if err := b.put(of(version), entries(maxKept/2)); err != nil {
			t.Fatal(err)
		}
		keeps(0) // used repeatedly
	}
	if !keeps(0) || keeps(1) || !keeps(2) {
		t.Errorf("keeps %v, %v, %v", keeps(0), keeps(1), keeps(2))
	}
	if err := b.put(of(3), entries(maxKept+1)); err != nil || keeps(3) || b.entries > maxKept {
		t.Errorf("a board of more than is kept: %v, %v, %d entries", err, keeps(3), b.entries)
	}
	if err := b.put(of(4), entries(1)); err != nil || b.entries != 1 {
		t.Errorf("%v, %d entries", err, b.entries)
	}
	for i := range 3 * maxOrders {
		b.putOrder(of(4), order{measure: fmt.Sprint(i)}, entries(1))
	}
	if kept, _ := b.kept.Get(of(4)); len(kept.orders) > maxOrders {
		t.Errorf("%d orders of a board", len(kept.orders))
	}
}
