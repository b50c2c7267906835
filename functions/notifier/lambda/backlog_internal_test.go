package main

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"assay/functions/notifier"
	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/gateway/schedule"
	"assay/shared/service/records"
	"assay/shared/storage/store"
	"assay/shared/storage/store/embedded"
)

// TestRunDue_EmptiesBacklog holds that one call delivers more than a few passes begin, and makes no schedule for the rest.
func TestRunDue_EmptiesBacklog(t *testing.T) {
	s, now := recordtest.OpenStore(t, embedded.Options{}), time.Now()
	e := record.NewEvent(now, record.EventRunFailed, access.Scope{TaskID: record.NewID(now)}, "/v1/runs/1")
	for range 300 {
		box := record.NewMailbox(record.NewID(now), now)
		box.Add(e, now.Add(-time.Hour))
		if err := new(records.Tx).Create(box).Commit(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	w := notifier.New(s, time.Now, slog.New(slog.DiscardHandler))
	f := newFunction(w, nil) // a schedule would be a panic
	if _, err := f.Handle(t.Context(), schedule.Invocation{Event: schedule.Event{Wake: schedule.WakeNotify}}); err != nil {
		t.Fatal(err)
	}
	if next, err := w.NextDue(t.Context()); err != nil || !next.IsZero() {
		t.Errorf("something is left until %s, %v", next, err)
	}
}

// What cannot be delivered, which nobody knows how to, does not keep the function awake.
func TestRunDue_WaitsWhenNothingIsDelivered(t *testing.T) {
	s := recordtest.OpenStore(t, embedded.Options{})
	it := store.Item{Key: store.Key{Partition: "UNKNOWN#1", Sort: "UNKNOWN"}, Data: []byte("{}")}
	it.Indexes[record.ByWork-1] = store.Key{Partition: record.OutboxPartition, Sort: strings.TrimSuffix(record.DueBy(time.Now()), "$") + "#1"}
	if err := s.Write(t.Context(), store.Create(it)); err != nil {
		t.Fatal(err)
	}
	w := notifier.New(s, time.Now, slog.New(slog.DiscardHandler))
	if err := w.RunDue(t.Context()); err == nil {
		t.Error("it is done")
	}
}

// failingStore fails to read once it was asked for due work often enough.
type failingStore struct {
	store.Store
	succeed int // queries
}

func (s *failingStore) Query(ctx context.Context, q store.Query) ([]store.Item, error) {
	s.succeed--
	if s.succeed < 0 {
		return nil, errors.New("the table is down")
	}
	return s.Store.Query(ctx, q)
}

// TestRunDue_TriesAgainAfterAFailure: whichever read fails, of due work or of the time of the next, another call follows.
func TestRunDue_TriesAgainAfterAFailure(t *testing.T) {
	s := &failingStore{Store: recordtest.OpenStore(t, embedded.Options{})}
	w := notifier.New(s, time.Now, slog.New(slog.DiscardHandler))
	for n := 0; ; n++ {
		s.succeed = n
		next, err := runDue(t.Context(), w)
		if err == nil {
			if n < 4 { // both lines are read twice
				t.Errorf("only %d reads could fail", n)
			}
			return
		}
		if next.Before(time.Now()) {
			t.Errorf("after a failure of read %d, the next call is at %v", n, next)
		}
	}
}
