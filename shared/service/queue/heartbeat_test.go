package queue_test

import (
	"errors"
	"testing"

	"assay/shared/domain/record"
	"assay/shared/service/queue"
	"assay/shared/storage/store/storetest"
)

func lines(texts ...string) []record.LogLine {
	var all []record.LogLine
	for _, text := range texts {
		all = append(all, record.LogLine{Stream: record.StreamStdout, Text: text})
	}
	return all
}

func TestHeartbeat_StoresEachLineOnce(t *testing.T) {
	f := newFixture(t)
	f.addImage("")
	l := f.leaseRef()
	version := f.run(l.RunID).Version
	for _, beat := range []struct {
		first  int64
		lines  []record.LogLine
		err    error
		change int64 // of the version
	}{
		{0, lines("a", "b"), nil, 1}, {0, lines("a", "b"), nil, 0}, {1, lines("b", "c"), nil, 1}, {0, lines("a"), nil, 0},
		{4, lines("e"), queue.ErrLinesMissing, 0}, {3, lines("d"), nil, 1}, {4, nil, nil, 0},
	} {
		if _, err := f.queue().Heartbeat(f.ctx, l, leaseTime, beat.first, beat.lines); !errors.Is(err, beat.err) {
			t.Fatalf("%+v: %v", beat, err)
		}
		version += beat.change
		if f.run(l.RunID).Version != version {
			t.Fatalf("%+v: version %d, want %d", beat, f.run(l.RunID).Version, version)
		}
	}
	_, err := f.queue().Release(f.ctx, l)
	f.must(err)
	if _, err := f.queue().Heartbeat(f.ctx, l, leaseTime, 4, lines("e")); !errors.Is(err, queue.ErrStaleLease) {
		t.Errorf("lines under an old lease: %v", err)
	}
	r := f.run(l.RunID)
	if want := "Attempt 1 of 3 begins on the worker worker.\na\nb\nc\nd"; r.LogTail != want || r.Logs.Execution.Lines != 5 {
		t.Errorf("tail %q, %+v", r.LogTail, r.Logs)
	}
}

// A heartbeat without lines writes only the extension of the lease. So the index still says that the run is due at the original end of
// the lease.
func TestHeartbeat_LeavesTheRunAsItIs(t *testing.T) {
	f := newFixture(t)
	id := f.addImage("").ID
	l := f.leaseRef()
	beat := func() error {
		_, err := f.queue().Heartbeat(f.ctx, l, leaseTime, 0, nil)
		return err
	}
	f.must(beat()) // confirms the lease
	confirmed := f.run(id)
	due := confirmed.Lease.Until
	f.now = f.now.Add(leaseTime / 2)
	f.must(beat())
	if r := f.run(id); r.Stored() != confirmed.Stored() {
		t.Errorf("a heartbeat wrote the run: version %d, %d before", r.Stored(), confirmed.Stored())
	}
	if _, err := f.queue().Heartbeat(f.ctx, l, leaseTime, 1, nil); !errors.Is(err, queue.ErrLinesMissing) {
		t.Errorf("a heartbeat behind lines that did not come: %v", err)
	}
	f.now = due.Time
	if f.reclaim(id) {
		t.Fatal("a run was reclaimed whose lease had been extended")
	}
	r := f.run(id)
	if want := due.Add(leaseTime / 2); !r.Lease.Until.Equal(want) {
		t.Errorf("it is due again at %s, want %s", r.Lease.Until, want)
	}
	f.now = r.Lease.Until.Time
	if !f.reclaim(id) || f.run(id).State != record.Queued {
		t.Errorf("a run whose lease is over is %s", f.run(id).State)
	}
	if err := beat(); !errors.Is(err, queue.ErrStaleLease) {
		t.Errorf("a heartbeat after that: %v", err)
	}
}

// When a heartbeat and a reclaim race, only one succeeds: no worker is told that it has a lease after the run was given to another.
func TestHeartbeat_RacesWithTheEndOfItsLease(t *testing.T) {
	f := newFixture(t)
	id := f.addImage("").ID
	l := f.leaseRef()
	_, err := f.queue().Heartbeat(f.ctx, l, leaseTime, 0, nil)
	f.must(err)
	f.now = f.now.Add(leaseTime)
	meanwhile := func(do func()) queue.Queue {
		q := f.queue()
		once := false
		q.Store = &storetest.Hooked{Store: q.Store, Before: func(c storetest.Call) error {
			if c.Writes != nil && !once {
				once = true
				do()
			}
			return nil
		}}
		return q
	}
	beats := meanwhile(func() {
		_, err := f.queue().Heartbeat(f.ctx, l, leaseTime, 0, nil)
		f.must(err)
	})
	if reclaimed, err := beats.ReclaimExpired(f.ctx, id); err != nil || reclaimed {
		t.Errorf("reclaimed although a heartbeat was faster: %v, %v", reclaimed, err)
	}
	f.now = f.now.Add(leaseTime)
	reclaims := meanwhile(func() {
		if !f.reclaim(id) {
			t.Error("nothing was reclaimed")
		}
	})
	if _, err := reclaims.Heartbeat(f.ctx, l, leaseTime, 0, nil); !errors.Is(err, queue.ErrStaleLease) {
		t.Errorf("a heartbeat that came too late: %v", err)
	}
}
