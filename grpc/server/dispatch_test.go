package server

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"assay/shared/queue"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
	"assay/shared/store/embedded"
)

// metered counts what a store is asked.
type metered struct {
	store.Store
	queries atomic.Int64
}

func (m *metered) Query(ctx context.Context, q store.Query) ([]store.Item, error) {
	m.queries.Add(1)
	return m.Store.Query(ctx, q)
}

// office is a dispatcher over a store of its own, which tells it of changes.
type office struct {
	*dispatcher
	t     *testing.T
	table *metered
}

func newOffice(t *testing.T, every time.Duration) *office {
	t.Helper()
	o := &office{t: t}
	s, err := embedded.Open(filepath.Join(t.TempDir(), "table"), embedded.Options{OnChange: func(items []store.Item) {
		if o.dispatcher != nil {
			o.changed(items)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	o.table = &metered{Store: s}
	o.dispatcher = newDispatcher(queue.Queue{Store: o.table, Now: time.Now}, slog.New(slog.DiscardHandler), time.Minute, every)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		o.run(ctx)
	}()
	t.Cleanup(func() {
		stop()
		<-ended
		_ = s.Close()
	})
	return o
}

// add makes a run that waits.
func (o *office) add(task, pool string, kind record.SubmissionType) *record.RunItem {
	o.t.Helper()
	at := record.At(time.Now())
	r := &record.RunItem{Queue: record.QueueWorkers, Pool: pool, Type: kind}
	r.Meta = record.NewMeta(time.Now())
	r.State, r.QueuedAt, r.Files = record.Queued, &at, []record.File{}
	r.TaskID, r.DatasetID = task, record.NewID(time.Now())
	if err := new(records.Tx).Create(r).Commit(o.t.Context(), o.table); err != nil {
		o.t.Fatal(err)
	}
	return r
}

func images(pool string) []demand { return []demand{{pool, record.ExecuteImage}} }

func TestWorkReachesThoseWhoWaitAtOnce(t *testing.T) {
	o := newOffice(t, time.Hour)
	const workers, runs = 20, 30
	got := make(chan *record.RunItem, runs)
	var all sync.WaitGroup
	for i := range workers {
		all.Go(func() {
			for {
				r := o.lease(t.Context(), by(fmt.Sprint(i)), images("default"), 10*time.Second)
				if r == nil || r.Label == "last" {
					return
				}
				got <- r
			}
		})
	}
	task := record.NewID(time.Now())
	for range runs {
		o.add(task, "", record.ImageType)
	}
	seen := map[string]bool{}
	for range runs {
		r := <-got
		if seen[r.ID] || r.State != record.Running {
			t.Fatalf("run %s, which is %s, was handed out twice: %v", r.ID, r.State, seen[r.ID])
		}
		seen[r.ID] = true
	}
	o.answerEmpty(true)
	all.Wait()
}

func TestIdleWorkersCostWhatOneCosts(t *testing.T) {
	const every = 50 * time.Millisecond
	for _, workers := range []int{0, 1, 200} {
		o := newOffice(t, every)
		var all sync.WaitGroup
		for range workers {
			all.Go(func() { o.lease(t.Context(), by("idle"), images("default"), 20*every) })
		}
		time.Sleep(20 * every)
		all.Wait()
		n := o.table.queries.Load()
		if most := int64(min(workers, 1) * 25); n > most || workers > 0 && n < 5 {
			t.Errorf("%d idle workers asked the store %d times in 20 looks", workers, n)
		}
	}
}

func TestWhoeverDoesNotWaitIsAnsweredAtOnce(t *testing.T) {
	o := newOffice(t, time.Hour)
	if r := o.lease(t.Context(), by("x"), images("default"), 0); r != nil {
		t.Fatal(r)
	}
	added := o.add(record.NewID(time.Now()), "", record.ImageType)
	if r := o.lease(t.Context(), by("x"), images("default"), 0); r == nil || r.ID != added.ID {
		t.Fatal(r)
	}
	if r := o.lease(t.Context(), by("x"), images("default"), 30*time.Millisecond); r != nil {
		t.Fatal(r)
	}
}

func TestWorkForOthersIsLeftAlone(t *testing.T) {
	o := newOffice(t, time.Hour)
	o.add(record.NewID(time.Now()), "gpu", record.ImageType)
	o.add(record.NewID(time.Now()), "", record.RepositoryType)
	if r := o.lease(t.Context(), by("x"), images("default"), 30*time.Millisecond); r != nil {
		t.Errorf("leased %+v", r)
	}
	wants := []demand{{"default", record.ExecuteRepository}, {"gpu", record.ExecuteImage}}
	for range wants {
		if r := o.lease(t.Context(), by("x"), wants, time.Second); r == nil {
			t.Error("what the worker can do was not handed out")
		}
	}
}

func TestNothingIsLeasedToThoseWhoLeft(t *testing.T) {
	o := newOffice(t, time.Hour)
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan *record.RunItem)
	go func() { left <- o.lease(ctx, by("gone"), images("default"), time.Minute) }()
	time.Sleep(20 * time.Millisecond)
	leave()
	if r := <-left; r != nil {
		t.Fatal(r)
	}
	o.add(record.NewID(time.Now()), "", record.ImageType)
	if r := o.lease(t.Context(), by("x"), images("default"), time.Second); r == nil || r.Lease.Holder != "x" {
		t.Errorf("%+v", r)
	}
}

func TestWhoeverLeavesWhileHeIsServedIsAnswered(t *testing.T) {
	d := newDispatcher(queue.Queue{Now: time.Now}, slog.New(slog.DiscardHandler), time.Minute, time.Hour)
	w := &waiter{demands: images("default"), leased: make(chan *record.RunItem, 1)}
	d.join(w)
	claimed, told := d.claim(w.demands[0])
	if claimed != w || d.leave(w) {
		t.Fatal("a waiter who is being served left without an answer")
	}
	d.unclaim(w, w.demands[0], told)
	select {
	case run := <-w.leased:
		if run != nil {
			t.Error(run)
		}
	default:
		t.Error("nobody answers a waiter who left")
	}
}

func TestAStoppedDispatcherSendsEverybodyAway(t *testing.T) {
	o := newOffice(t, time.Hour)
	answered := make(chan *record.RunItem)
	go func() { answered <- o.lease(t.Context(), by("x"), images("default"), time.Minute) }()
	time.Sleep(20 * time.Millisecond)
	o.answerEmpty(true)
	if r := <-answered; r != nil {
		t.Fatal(r)
	}
	if r := o.lease(t.Context(), by("x"), images("default"), time.Minute); r != nil {
		t.Fatal(r)
	}
}

func TestSweeper_ReclaimsExpiredLeasesAfterTheFirstLeaseTime(t *testing.T) {
	o := newOffice(t, time.Hour)
	task := record.NewID(time.Now())
	confirmed, silent := o.add(task, "", record.ImageType), o.add(task, "", record.ImageType)
	now := time.Now()
	leases := queue.Queue{Store: o.table, Now: func() time.Time { return now }}
	for _, id := range []string{confirmed.ID, silent.ID} {
		r, err := leases.Lease(t.Context(), record.WorkerSubqueue("default", record.ExecuteImage), new(queue.FairOrder), by("w"), time.Second)
		if err != nil || r == nil || r.ID != id {
			t.Fatal(r, err)
		}
		if id == confirmed.ID {
			if _, err := leases.Heartbeat(t.Context(), queue.LeaseRefOf(r), time.Second, 0, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	const lease = 100 * time.Millisecond
	s := &sweeper{queue: queue.Queue{Store: o.table, Now: func() time.Time { return now.Add(time.Second) }}, log: slog.New(slog.DiscardHandler), lease: lease, interval: 10 * time.Millisecond}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	started := time.Now()
	go s.run(ctx)
	for attempts := map[string]int{confirmed.ID: 1, silent.ID: 0}; len(attempts) > 0; time.Sleep(5 * time.Millisecond) {
		for id, want := range attempts {
			r, err := records.Get[record.RunItem](t.Context(), o.table, store.Strong, record.RunKey(id))
			if err != nil {
				t.Fatal(err)
			}
			if r.State != record.Queued {
				continue
			}
			if r.Attempts != want || time.Since(started) < lease {
				t.Errorf("%d attempts after %v, want %d", r.Attempts, time.Since(started), want)
			}
			delete(attempts, id)
		}
		if time.Since(started) > 10*time.Second {
			t.Fatal("an expired lease was not reclaimed")
		}
	}
}

// by is a lease to be of a worker with the name.
func by(name string) record.Lease { return record.Lease{Holder: name} }
