package queue_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/service/queue"
	"assay/shared/storage/store"
	"assay/shared/storage/store/dynamo/dynamotest"
	"assay/shared/storage/store/storetest"
)

// withPlaces returns the queue of processes that count places: two for each payer, and one for the slow lane.
func (f *fixture) withPlaces() queue.Queue {
	q := f.queue()
	q.Places = &queue.Places{Payer: 2, Slow: 1}
	return q
}

func onBothStores(t *testing.T, test func(*testing.T, *fixture)) {
	t.Helper()
	t.Run("embedded", func(t *testing.T) { test(t, newFixture(t)) })
	t.Run("DynamoDB", func(t *testing.T) {
		f := fixtureIn(t, dynamotest.Open(t, dynamotest.Start(t)))
		f.now = time.Now() // the store lets items expire by this time
		test(t, f)
	})
}

// TestPlaces_AreNotExceeded lets many processes lease runs of two payers at once, each a different run. At most two runs of a payer are
// leased at any time, each run is leased once, and runs without a place stay unchanged.
func TestPlaces_AreNotExceeded(t *testing.T) {
	onBothStores(t, func(t *testing.T, f *fixture) {
		q := f.withPlaces()
		q.Store = storetest.SlowWrites(f.Store)
		var ids []string
		for range 8 {
			ids = append(ids, f.add(turn("A u 1 x")).ID, f.add(turn("B v 2 y")).ID)
		}
		leased := map[string]*atomic.Int64{"A": {}, "B": {}}
		refused := make(chan struct{})
		refuse := sync.OnceFunc(func() { close(refused) })
		var all sync.WaitGroup
		for _, id := range ids {
			all.Go(func() {
				for {
					r, err := q.LeaseRun(f.ctx, new(queue.FairOrder), id, record.Lease{Holder: "process"}, leaseTime)
					if errors.Is(err, queue.ErrNoPlace) {
						refuse()
						continue
					}
					if err != nil || r == nil {
						t.Errorf("run %s: %v, %v", id, r, err)
						return
					}
					if n := leased[r.Payer].Add(1); n > 2 {
						t.Errorf("%d runs of a payer are leased", n)
						refuse()
					}
					<-refused // so that some process finds no place
					leased[r.Payer].Add(-1)
					if _, err = q.CompleteEvaluation(f.ctx, queue.LeaseRefOf(r), f.outcome(f.truth)); err != nil {
						t.Error(err)
					}
					return
				}
			})
		}
		all.Wait()
		for _, id := range ids {
			if r := f.run(id); r.State != record.Completed || r.Attempts != 1 {
				t.Errorf("a run is %s after %d attempts", r.State, r.Attempts)
			}
		}
	})
}

// TestPlaces_OfOnePayerDelayNoOther takes all places of a payer. Neither a message nor the order leases another run of the payer,
// and other payers have their own places. After a lease expires, for example because its process died, its place is free.
func TestPlaces_OfOnePayerDelayNoOther(t *testing.T) {
	onBothStores(t, func(t *testing.T, f *fixture) {
		var ofA []*record.RunItem
		for range 3 {
			ofA = append(ofA, f.add(turn("A u 1 x")))
		}
		ofB := f.add(turn("B v 2 y"))
		var order queue.FairOrder
		lease := func() *record.RunItem {
			t.Helper()
			r, err := f.withPlaces().Lease(f.ctx, record.BuiltinSubqueue(), &order, record.Lease{Holder: "process"}, leaseTime)
			f.must(err)
			return r
		}
		for _, r := range ofA[:2] {
			if got, err := f.withPlaces().LeaseRun(f.ctx, &order, r.ID, record.Lease{Holder: "dead"}, leaseTime); err != nil || got == nil {
				t.Fatal(got, err)
			}
		}
		_, err := f.withPlaces().LeaseRun(f.ctx, &order, ofA[2].ID, record.Lease{Holder: "process"}, leaseTime)
		if r := f.run(ofA[2].ID); !errors.Is(err, queue.ErrNoPlace) || r.Version != ofA[2].Version || r.State != record.Queued {
			t.Fatalf("without a place: %v, and the run is %s", err, r.State)
		}
		if r := lease(); r == nil || r.ID != ofB.ID {
			t.Fatalf("leased %v, want the run of the other payer", r)
		}
		if r := lease(); r != nil {
			t.Fatalf("leased %s of a payer without a place", r.ID)
		}
		f.now = f.now.Add(leaseTime)
		if r := lease(); r == nil || r.ID != ofA[2].ID || r.Attempts != 1 {
			t.Fatalf("leased %v once the other leases are over", r)
		}
	})
}

// TestPlaces_OfTheSlowLaneAreForAll queues runs of two payers in the slow lane. They get its only place one after the other.
func TestPlaces_OfTheSlowLaneAreForAll(t *testing.T) {
	f := newFixture(t)
	slow := func(r *recordtest.Run) { r.Queue = record.QueueSlow }
	f.add(turn("A u 1 x"), slow)
	f.add(turn("B v 2 y"), slow)
	var order queue.FairOrder
	lease := func() *record.RunItem {
		t.Helper()
		r, err := f.withPlaces().Lease(f.ctx, record.SlowSubqueue(), &order, record.Lease{Holder: "process"}, leaseTime)
		f.must(err)
		return r
	}
	first := lease()
	if first == nil || lease() != nil {
		t.Fatal("the slow lane has another place than one")
	}
	_, err := f.queue().CompleteEvaluation(f.ctx, queue.LeaseRefOf(first), f.outcome(f.truth))
	f.must(err)
	if second := lease(); second == nil || second.Payer == first.Payer {
		t.Errorf("then it leases %v", second)
	}
}

// TestPlaces_CostOneReadAndOneSmallWrite compares leases with places and without.
func TestPlaces_CostOneReadAndOneSmallWrite(t *testing.T) {
	f := newFixture(t)
	calls := func(q queue.Queue) int64 {
		var u store.Usage
		id := f.add(turn("A u 1 x")).ID
		counted := store.WithUsage(f.ctx, &u)
		if r, err := q.LeaseRun(counted, new(queue.FairOrder), id, record.Lease{Holder: "w"}, leaseTime); err != nil || r == nil {
			t.Fatal(r, err)
		}
		return u.Calls.Load()
	}
	if with, without := calls(f.withPlaces()), calls(f.queue()); with != without+1 {
		t.Errorf("%d calls with places and %d without", with, without)
	}
}

// TestPlaces_SearchesEndWithoutAPlace has more payers than a search reads at once, and none gets a place, of their own or of the slow
// lane. The search ends, and tries only one run in the slow lane.
func TestPlaces_SearchesEndWithoutAPlace(t *testing.T) {
	const payers = 30
	for queued, sub := range map[string]record.Subqueue{
		record.QueueBuiltin: record.BuiltinSubqueue(), record.QueueSlow: record.SlowSubqueue(),
	} {
		t.Run(queued, func(t *testing.T) {
			f := newFixture(t)
			for i := range 2 * payers {
				of := fmt.Sprintf("p%02d u %d x", i%payers, i)
				f.add(turn(of), func(r *recordtest.Run) { r.Queue = queued })
			}
			q := f.withPlaces()
			q.Places.Payer = 1
			lease := func() (*record.RunItem, int64) {
				var u store.Usage
				ctx, cancel := context.WithTimeout(store.WithUsage(f.ctx, &u), 20*time.Second)
				defer cancel()
				r, err := q.Lease(ctx, sub, new(queue.FairOrder), record.Lease{Holder: "process"}, leaseTime)
				f.must(err)
				return r, u.Calls.Load()
			}
			leased := 0
			for r, _ := lease(); r != nil; r, _ = lease() {
				leased++
			}
			want, most := payers, int64(20*payers)
			if queued == record.QueueSlow {
				want, most = 1, 10
			}
			if leased != want {
				t.Errorf("%d runs are leased, want %d", leased, want)
			}
			if _, calls := lease(); calls > most {
				t.Errorf("a search without a place makes %d calls, want at most %d", calls, most)
			}
		})
	}
}

// TestPlaces_InTheSlowLaneAreNoneOfThePayer moves a run with a place of its payer to the slow lane and evaluates it there. The
// payer then has both places for other runs.
func TestPlaces_InTheSlowLaneAreNoneOfThePayer(t *testing.T) {
	f := newFixture(t)
	q := f.withPlaces()
	leaseRun := func() *record.RunItem {
		t.Helper()
		r, err := q.LeaseRun(f.ctx, new(queue.FairOrder), f.add(turn("A u 1 x")).ID, record.Lease{Holder: "process"}, leaseTime)
		f.must(err)
		return r
	}
	_, err := q.MoveToSlowLane(f.ctx, queue.LeaseRefOf(leaseRun()))
	f.must(err)
	slow, err := q.Lease(f.ctx, record.SlowSubqueue(), new(queue.FairOrder), record.Lease{Holder: "process"}, leaseTime)
	if slow == nil || err != nil {
		t.Fatal(slow, err)
	}
	leaseRun()
	leaseRun()
}

// TestPlaces_OfARunAreOne returns a run and leases it again. It has one place, and the other is free for another run.
func TestPlaces_OfARunAreOne(t *testing.T) {
	f := newFixture(t)
	q := f.withPlaces()
	lease := func(r *record.RunItem) *record.RunItem {
		t.Helper()
		leased, err := q.LeaseRun(f.ctx, new(queue.FairOrder), r.ID, record.Lease{Holder: "process"}, leaseTime)
		f.must(err)
		return leased
	}
	first, second := f.add(turn("A u 1 x")), f.add(turn("A u 1 x"))
	_, err := q.Release(f.ctx, queue.LeaseRefOf(lease(first)))
	f.must(err)
	lease(first)
	lease(second)
}
