package due

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"assay/shared/domain/record"
	"assay/shared/storage/store"
)

// TestHandleChange_RemembersNothing: a process that only handles changes makes no pass, which would forget work that rests.
func TestHandleChange_RemembersNothing(t *testing.T) {
	l := &Line{Partition: record.OutboxPartition, Places: 1, Do: func(context.Context, store.Item) error { return nil }}
	w := &Worker{Now: time.Now, Log: slog.New(slog.DiscardHandler), Lines: []*Line{l}}
	it := store.Item{Key: store.Key{Partition: "A", Sort: "x"}}
	it.Indexes[record.ByWork-1] = store.Key{Partition: l.Partition, Sort: strings.TrimSuffix(record.DueBy(time.Now()), "$")}
	if next, err := w.HandleChange(t.Context(), it); err != nil || !next.IsZero() {
		t.Errorf("the work was not done: %v, %v", next, err)
	}
	if len(l.places.running)+len(l.places.resting) > 0 {
		t.Errorf("the places remember %v, %v", l.places.running, l.places.resting)
	}
}
