package server

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/service/queue"
	"assay/shared/storage/store"
	"assay/shared/storage/store/embedded"
)

// startDispatcher runs a dispatcher in a synctest bubble, over a store that notifies it of changes. It counts the calls of the store.
func startDispatcher(t *testing.T, pollInterval time.Duration) (*dispatcher, *recordtest.Dataset, *store.Usage) {
	t.Helper()
	var d *dispatcher
	s := recordtest.OpenStore(t, embedded.Options{OnChange: func(items []store.Item) { d.changed(items) }})
	d = newDispatcher(queue.Queue{Store: s, Now: time.Now}, slog.New(slog.DiscardHandler), time.Minute, pollInterval)
	u := new(store.Usage)
	go d.run(store.WithUsage(t.Context(), u))
	return d, recordtest.New(t, s).Task().Dataset(), u
}

func inPool(pool string) recordtest.RunOption { return func(r *recordtest.Run) { r.Pool = pool } }

func ofRepository(r *recordtest.Run) { r.Type = record.RepositoryType }

func images(pool string) []demand { return []demand{{pool, record.ExecuteImage}} }

func holder(name string) record.Lease { return record.Lease{Holder: name} }

func TestDispatcher_LeasesEachNewRunOnceWithoutAPoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const workers, runs = 20, 30
		d, dataset, _ := startDispatcher(t, time.Hour)
		leased := make(chan *record.RunItem, 2*runs)
		for i := range workers {
			go func() {
				for r := d.lease(t.Context(), holder(fmt.Sprint(i)), images("default"), time.Minute); r != nil; {
					leased <- r
					r = d.lease(t.Context(), holder(fmt.Sprint(i)), images("default"), time.Minute)
				}
			}()
		}
		for range runs {
			dataset.Run("ann", recordtest.OfImage)
		}
		synctest.Wait()
		seen := map[string]bool{}
		for range len(leased) {
			r := <-leased
			if seen[r.ID] || r.State != record.Running {
				t.Errorf("run %s, which is %s, was leased twice: %v", r.ID, r.State, seen[r.ID])
			}
			seen[r.ID] = true
		}
		if len(seen) != runs {
			t.Errorf("%d of %d runs were leased", len(seen), runs)
		}
	})
}

func TestDispatcher_PollsOnceForAllIdleWorkers(t *testing.T) {
	for workers, want := range map[int]int64{0: 0, 1: 21, 200: 21} { // one poll for the first demand, and one in each interval
		synctest.Test(t, func(t *testing.T) {
			d, _, usage := startDispatcher(t, time.Second)
			time.Sleep(time.Millisecond)
			for range workers {
				go d.lease(t.Context(), holder("idle"), images("default"), time.Minute)
			}
			time.Sleep(20 * time.Second)
			if n := usage.Calls.Load(); n != want {
				t.Errorf("%d idle workers cost %d calls in 20 intervals, want %d", workers, n, want)
			}
		})
	}
}

func TestDispatcher_AnswersAtOnceWithoutWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, dataset, _ := startDispatcher(t, time.Hour)
		began := time.Now()
		if r := d.lease(t.Context(), holder("x"), images("default"), 0); r != nil {
			t.Error(r)
		}
		run := dataset.Run("ann", recordtest.OfImage)
		if r := d.lease(t.Context(), holder("x"), images("default"), 0); r == nil || r.ID != run.ID {
			t.Error(r)
		}
		if time.Since(began) > 0 {
			t.Errorf("the answers took %s", time.Since(began))
		}
		if r := d.lease(t.Context(), holder("x"), images("default"), time.Minute); r != nil || time.Since(began) != time.Minute {
			t.Errorf("%v after %s", r, time.Since(began))
		}
	})
}

// TestDispatcher_PollsForWhoCameDuringAPoll adds a worker that does not wait between the start and the end of a poll.
func TestDispatcher_PollsForWhoCameDuringAPoll(t *testing.T) {
	d := newDispatcher(queue.Queue{}, slog.New(slog.DiscardHandler), time.Minute, time.Hour)
	w := &waiter{holder: holder("x"), demands: images("default"), noWait: true, leased: make(chan *record.RunItem, 1)}
	d.demands(true)
	if !d.join(w) {
		t.Fatal("the dispatcher has stopped")
	}
	d.answerEmpty(false)
	if len(w.leased) > 0 {
		t.Error("it is answered before a poll for it began")
	}
	d.demands(false)
	d.answerEmpty(false)
	if len(w.leased) != 1 {
		t.Error("it is not answered after the poll")
	}
}

func TestDispatcher_LeasesOnlyWhatIsDemanded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, dataset, _ := startDispatcher(t, time.Hour)
		dataset.Run("ann", recordtest.OfImage, inPool("gpu"))
		dataset.Run("ann", recordtest.OfImage, ofRepository)
		if r := d.lease(t.Context(), holder("x"), images("default"), time.Second); r != nil {
			t.Errorf("leased %+v", r)
		}
		wants := []demand{{"default", record.ExecuteRepository}, {"gpu", record.ExecuteImage}}
		for range wants {
			if r := d.lease(t.Context(), holder("x"), wants, time.Second); r == nil {
				t.Error("a demanded run was not leased")
			}
		}
	})
}

func TestDispatcher_LeasesNothingToAWorkerThatLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, dataset, _ := startDispatcher(t, time.Hour)
		ctx, leave := context.WithCancel(t.Context())
		left := make(chan *record.RunItem)
		go func() { left <- d.lease(ctx, holder("gone"), images("default"), time.Minute) }()
		synctest.Wait()
		leave()
		if r := <-left; r != nil {
			t.Error(r)
		}
		dataset.Run("ann", recordtest.OfImage)
		if r := d.lease(t.Context(), holder("x"), images("default"), time.Second); r == nil || r.Lease.Holder != "x" {
			t.Errorf("%+v", r)
		}
	})
}

func TestDispatcher_AnswersWaiterThatLeaves(t *testing.T) {
	d := newDispatcher(queue.Queue{Now: time.Now}, slog.New(slog.DiscardHandler), time.Minute, time.Hour)
	w := &waiter{demands: images("default"), leased: make(chan *record.RunItem, 1)}
	d.join(w)
	claimed, notifications := d.claim(w.demands[0])
	if claimed != w || d.leave(w) {
		t.Fatal("a waiter that is claimed left without an answer")
	}
	d.unclaim(w, w.demands[0], notifications)
	select {
	case run := <-w.leased:
		if run != nil {
			t.Error(run)
		}
	default:
		t.Error("a waiter that left is not answered")
	}
}

func TestDispatcher_StopAnswersAllWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, _, _ := startDispatcher(t, time.Hour)
		began := time.Now()
		answered := make(chan *record.RunItem)
		go func() { answered <- d.lease(t.Context(), holder("x"), images("default"), time.Minute) }()
		synctest.Wait()
		d.answerEmpty(true)
		before := <-answered
		after := d.lease(t.Context(), holder("x"), images("default"), time.Minute)
		if before != nil || after != nil ||
			time.Since(began) > 0 {
			t.Errorf("%v, %v after %s", before, after, time.Since(began))
		}
	})
}

// TestDispatcher_RemembersWhoWasServed empties the queue by leasing all runs of a payer. The payer's next run still comes after the run
// of another payer.
func TestDispatcher_RemembersWhoWasServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, dataset, _ := startDispatcher(t, time.Hour)
		paidBy := func(payer string) recordtest.RunOption { return func(r *recordtest.Run) { r.Payer = payer } }
		lease := func() *record.RunItem { return d.lease(t.Context(), holder("x"), images("default"), 0) }
		dataset.Run("ann", recordtest.OfImage, paidBy("a"))
		if lease() == nil || lease() != nil {
			t.Fatal("not one run was leased")
		}
		dataset.Run("ann", recordtest.OfImage, paidBy("a"))
		dataset.Run("ben", recordtest.OfImage, paidBy("b"))
		if r := lease(); r == nil || r.Payer != "b" {
			t.Errorf("leased %+v, want the run of the payer that was not served yet", r)
		}
	})
}

// TestDispatcher_RemembersSoManyOrders requests more pools than a dispatcher remembers orders for.
func TestDispatcher_RemembersSoManyOrders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, _, _ := startDispatcher(t, time.Hour)
		for i := range maxOrders + 10 {
			d.lease(t.Context(), holder("x"), images(fmt.Sprint("pool-", i)), 0)
		}
		synctest.Wait()
		if n := d.orders.Len(); n != maxOrders {
			t.Errorf("%d orders are remembered, want %d", n, maxOrders)
		}
	})
}

func TestSweeper_ReclaimsExpiredLeasesAfterTheFirstLeaseTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := recordtest.OpenStore(t, embedded.Options{})
		dataset := recordtest.New(t, s).Task().Dataset()
		q := queue.Queue{Store: s, Now: time.Now}
		var order queue.FairOrder
		runs := []*recordtest.Run{dataset.Run("ann", recordtest.OfImage), dataset.Run("ann", recordtest.OfImage)}
		for range runs {
			r, err := q.Lease(t.Context(), record.WorkerSubqueue("default", record.ExecuteImage), &order, holder("w"), time.Second)
			if err != nil || r == nil {
				t.Fatal(r, err)
			}
		}
		sweeper := &sweeper{queue: q, log: slog.New(slog.DiscardHandler), lease: time.Minute, interval: time.Second}
		go sweeper.run(t.Context())
		reclaimed := func() (n int) {
			synctest.Wait()
			for _, r := range runs {
				if recordtest.Get[record.RunItem](t, s, r.Key()).State == record.Queued {
					n++
				}
			}
			return n
		}
		time.Sleep(59 * time.Second)
		if n := reclaimed(); n != 0 {
			t.Errorf("%d runs are reclaimed within the first lease time", n)
		}
		time.Sleep(2 * time.Second)
		if n := reclaimed(); n != 2 {
			t.Errorf("%d of 2 runs are reclaimed after it", n)
		}
	})
}

func TestServing_HeartbeatCountsForAllDemandsOfTheWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		env := Env{Store: recordtest.OpenStore(t, embedded.Options{}), Now: time.Now, Log: slog.New(slog.DiscardHandler)}
		lease := record.Lease{Holder: "worker", UserID: recordtest.UserID("robot")}
		run := &record.RunItem{Pool: "gpu", Type: record.ImageType, Lease: &lease}
		serves := func(w record.Work) bool {
			return recordtest.Get[record.Serving](t, env.Store, record.ServingKey()).Serves(record.WorkerSubqueue("gpu", w), time.Now())
		}
		var s serving
		s.track(t.Context(), env, lease, []demand{{"gpu", record.ExecuteImage}, {"gpu", record.Evaluate}}, false, 0)
		time.Sleep(time.Hour)
		s.noteHeartbeat(t.Context(), env, run)
		if !serves(record.ExecuteImage) || !serves(record.Evaluate) || serves(record.ExecuteRepository) {
			t.Error("a heartbeat is not recorded for the demands of its worker")
		}
		time.Sleep(time.Hour)
		var restarted serving
		restarted.noteHeartbeat(t.Context(), env, run)
		if !serves(record.ExecuteImage) || serves(record.Evaluate) {
			t.Error("a server that does not know the demands of a worker does not record the work of its run")
		}
	})
}
