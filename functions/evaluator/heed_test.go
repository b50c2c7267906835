package evaluator_test

import (
	"testing"
	"time"

	"assay/shared/record"
	"assay/shared/store"
)

// TestDrainGoesAroundWhatIsBroken: a record that cannot be read holds up nothing that waits behind it.
func TestDrainGoesAroundWhatIsBroken(t *testing.T) {
	s := newScene(t)
	broken := store.Item{Key: record.RunKey(record.NewID(time.Now())), Data: []byte("this is no run")}
	broken.Indexes[record.ByWork-1] = store.Key{Partition: record.OfQueue(record.QueueBuiltin), Sort: record.At(time.Unix(0, 0)).String() + "#broken"}
	s.must(s.Store.Write(s.ctx, store.Create(broken)))
	r := s.add(ranked)
	if err := s.Drain(s.ctx); err == nil {
		t.Error("what is broken was not told of")
	}
	if got := s.run(r.ID); got.State != record.Completed {
		t.Errorf("the run behind it is %s", got.State)
	}
}

// TestNext: whoever is woken learns when to be woken next.
func TestNext(t *testing.T) {
	s := newScene(t)
	next := func() time.Time {
		at, err := s.Next(s.ctx)
		s.must(err)
		return at
	}
	if at := next(); !at.IsZero() {
		t.Errorf("with nothing there, next at %v", at)
	}
	now := s.Now()
	waits := s.add(ranked, func(r *record.RunItem) { r.Queue = record.QueueWorkers })
	if at := next().Sub(waits.QueuedAt.Time); at != time.Hour {
		t.Errorf("a run that waits for a worker is looked at after %v", at)
	}
	s.wait(2 * time.Hour)
	if at := next().Sub(waits.QueuedAt.Time); at != record.QueueTime {
		t.Errorf("once it was told that nobody asks, it is looked at after %v", at)
	}
	leased := s.add(ranked, func(r *record.RunItem) {
		r.State, r.Lease = record.Evaluating, &record.Lease{ID: "x", Holder: "y", Until: record.At(now.Add(3 * time.Hour))}
	})
	if at := next(); !at.Equal(leased.Lease.Until.Time) {
		t.Errorf("next at %v, and the lease lapses at %v", at, leased.Lease.Until)
	}
}

// TestALostWordIsFound: a file whose arrival nobody was told of is found by the cleaning, and the run goes on.
func TestALostWordIsFound(t *testing.T) {
	s := newScene(t)
	r := s.add(ranked, func(r *record.RunItem) {
		r.State, r.QueuedAt, r.Files[0].State = record.AwaitingUpload, nil, record.FilePending
	})
	s.wait(49 * time.Hour)
	s.must(s.Clean(s.ctx))
	if got := s.run(r.ID); got.State != record.Queued || got.Files[0].State != record.FileStored {
		t.Errorf("the run is %s, its file %s", got.State, got.Files[0].State)
	}
}
