package queue_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/service/queue"
	"assay/shared/storage/store"
	"assay/shared/testing/nightlytest"

	"pgregory.net/rapid"
)

// turn sets the run's turn, as "payer submitter task team".
func turn(s string) func(*recordtest.Run) {
	parts := strings.Fields(s)
	return func(r *recordtest.Run) {
		r.Payer = parts[0]
		r.UserID = parts[1]
		r.TaskID = parts[2]
		r.Access.RegistrationID = parts[3]
	}
}

// leaseTurns leases runs until none waits, and returns their turns.
func (f *fixture) leaseTurns(sub record.Subqueue, order *queue.FairOrder) string {
	f.t.Helper()
	var got []string
	for r := f.leaseFrom(sub, order); r != nil; r = f.leaseFrom(sub, order) {
		got = append(got, r.Payer+r.UserID+r.TaskID+r.Access.RegistrationID)
	}
	return strings.Join(got, " ")
}

// TestFairOrder_TakesTurnsByPayerSubmitterTaskAndTeam queues runs of a payer with many tasks, submitters and teams, in all queues.
func TestFairOrder_TakesTurnsByPayerSubmitterTaskAndTeam(t *testing.T) {
	for queued, sub := range map[string]record.Subqueue{
		record.QueueBuiltin: record.BuiltinSubqueue(), record.QueueSlow: record.SlowSubqueue(),
		record.QueueWorkers: record.WorkerSubqueue(record.DefaultPool, record.ExecuteImage),
	} {
		t.Run(queued, func(t *testing.T) {
			f := newFixture(t)
			for _, of := range []string{
				"A s 1 x", "A s 1 x", "A s 1 y", "A s 2 x", "A s 3 x", "A s 3 x", "A t 1 z", "A t 1 z", "B u 4 w", "B u 4 w",
			} {
				f.addImage("", turn(of), func(r *recordtest.Run) { r.Queue = queued })
			}
			var order queue.FairOrder
			const want = "As1x Bu4w At1z Bu4w As2x At1z As3x As1y As3x As1x"
			if got := f.leaseTurns(sub, &order); got != want {
				t.Errorf("the turns are\n%s, want\n%s", got, want)
			}
		})
	}
}

// TestFairOrder_CountsStepsAndNotRuns lets an evaluation of one payer take more steps than all evaluations of another. Half a
// day later it no longer counts.
func TestFairOrder_CountsStepsAndNotRuns(t *testing.T) {
	f := newFixture(t)
	var order queue.FairOrder
	add := func() {
		for range 3 {
			f.add(turn("heavy u 1 x"))
			f.add(turn("light v 2 y"))
		}
	}
	add()
	order.Charge(record.Turn{Payer: "heavy", Submitter: "u", Task: "1", Team: "x"}, 100_000_000, f.now)
	order.Charge(record.Turn{Payer: "light", Submitter: "v", Task: "2", Team: "y"}, 1_000_000, f.now)
	want := "lightv2y lightv2y lightv2y heavyu1x heavyu1x heavyu1x"
	if got := f.leaseTurns(record.BuiltinSubqueue(), &order); got != want {
		t.Errorf("the turns are\n%s, want\n%s", got, want)
	}
	f.now = f.now.Add(12 * time.Hour)
	add()
	want = "heavyu1x lightv2y heavyu1x lightv2y heavyu1x lightv2y"
	if got := f.leaseTurns(record.BuiltinSubqueue(), &order); got != want {
		t.Errorf("half a day later the turns are\n%s, want\n%s", got, want)
	}
}

// mostUsed is the greatest use that counts.
const mostUsed = 200_000_000

// TestFairOrder_BoundsWhatCounts lets participants use an hour of processor time in a task. Another user's run in the task then waits
// for a few runs of a new payer, not for an hour of them.
func TestFairOrder_BoundsWhatCounts(t *testing.T) {
	f := newFixture(t)
	var order queue.FairOrder
	order.Charge(record.Turn{Payer: "organizer", Submitter: "heavy", Task: "1", Team: "x"}, 1_000_000_000_000, f.now)
	f.add(turn("organizer light 1 y"))
	for range 10 {
		f.add(turn("other v 2 z"))
	}
	for n := 1; ; n++ {
		r := f.leaseFrom(record.BuiltinSubqueue(), &order)
		if r.UserID == "light" {
			break
		}
		order.Charge(r.Turn(), 50_000_000, f.now)
		if n > mostUsed/50_000_000 {
			t.Fatalf("after %d runs of another payer, the run still waits", n)
		}
	}
}

// charged is the use of a part of a turn at an instant.
type charged struct {
	steps float64
	at    time.Time
}

// orderModel knows all waiting runs and all use.
type orderModel struct {
	waiting map[record.Turn][]string // IDs in the order of queueing
	used    map[string]charged
	last    map[string]int // by name: the number of its last charge
	charges int
}

func (m *orderModel) charge(t record.Turn, steps float64, now time.Time) {
	m.charges++
	for _, name := range t.Levels() {
		m.used[name] = charged{min(m.lately(name, now)+steps, mostUsed), now}
		m.last[name] = m.charges
	}
}

func (m *orderModel) lately(name string, now time.Time) float64 {
	c := m.used[name]
	return c.steps * math.Pow(2, -now.Sub(c.at).Minutes()/5)
}

// comes says why a turn must not come while another one waits. It returns "" if the turn may come.
func (m *orderModel) comes(t, other record.Turn, now time.Time) string {
	others := other.Levels()
	for i, name := range t.Levels() {
		if name == others[i] {
			continue
		}
		used, less := m.lately(name, now), m.lately(others[i], now)
		equal := math.Abs(used-less) <= 1e-6*max(used, less)
		switch {
		case used < 1: // without use: before all turns with use, and in any order with others
		case !equal && less < used:
			return fmt.Sprintf("%s used %.0f steps, and %s, which waits, %.0f", name, used, others[i], less)
		case equal && m.last[others[i]] < m.last[name]:
			return fmt.Sprintf("%s used as much as %s, which waits and had its turn before", name, others[i])
		}
		return ""
	}
	return ""
}

// TestFairOrder_FollowsTheModel queues, leases and charges at random. Between two runs of a payer, every other waiting payer with less
// use gets a run. The same holds for submitters, tasks and teams.
func TestFairOrder_FollowsTheModel(t *testing.T) {
	st := openStore(t)
	nightlytest.Check(t, func(rt *rapid.T) {
		f := fixtureIn(rt, st)
		pool := record.NewID(time.Now()) // of this check
		sub := record.WorkerSubqueue(pool, record.ExecuteImage)
		m := &orderModel{waiting: map[record.Turn][]string{}, used: map[string]charged{}, last: map[string]int{}}
		var order queue.FairOrder
		var last record.Turn
		rt.Repeat(map[string]func(*rapid.T){
			"queue": func(rt *rapid.T) {
				draw := func(most int, what string) string {
					return fmt.Sprint(what[:1], rapid.IntRange(0, most).Draw(rt, what))
				}
				names := []string{draw(3, "payer"), draw(1, "submitter"), draw(1, "task"), draw(1, "registration")}
				r := f.addImage(pool, turn(strings.Join(names, " ")))
				m.waiting[r.Turn()] = append(m.waiting[r.Turn()], r.ID)
			},
			"lease": func(rt *rapid.T) {
				r := f.leaseFrom(sub, &order)
				if r == nil {
					if len(m.waiting) > 0 {
						rt.Fatalf("nothing is leased, and %v waits", m.waiting)
					}
					return
				}
				last = r.Turn()
				if ids := m.waiting[last]; len(ids) == 0 || ids[0] != r.ID {
					rt.Fatalf("leased %s, and of its turn wait %v", r.ID, ids)
				}
				m.waiting[last] = m.waiting[last][1:]
				if len(m.waiting[last]) == 0 {
					delete(m.waiting, last)
				}
				for other := range m.waiting {
					if why := m.comes(last, other, f.now); why != "" {
						rt.Fatalf("leased a run of %v: %s", last, why)
					}
				}
				m.charge(last, 100_000, f.now)
			},
			"charge": func(rt *rapid.T) {
				if last.Payer != "" {
					n := rapid.Int64Range(1, 1_000_000_000).Draw(rt, "steps")
					order.Charge(last, n, f.now)
					m.charge(last, float64(n), f.now)
				}
			},
			"time passes": func(rt *rapid.T) {
				f.now = f.now.Add(time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(rt, "time")))
			},
		})
	})
}

// TestFairOrder_ReadsLittleHoweverManyWait queues runs of 1,000 payers, all with use.
func TestFairOrder_ReadsLittleHoweverManyWait(t *testing.T) {
	const payers, most = 1000, 2*8 + 1
	f := newFixture(t)
	var order queue.FairOrder
	add := func(payer string) *record.RunItem { return f.add(turn(payer + " u 1 x")) }
	f.Batch(func() {
		for i := range payers {
			payer := fmt.Sprintf("p%04d", i)
			add(payer)
			add(payer)
			order.Charge(record.Turn{Payer: payer, Submitter: "u", Task: "1", Team: "x"}, int64(1_000_000+i), f.now)
		}
	})
	lease := func() *record.RunItem {
		var u store.Usage
		r, err := f.queue().Lease(store.WithUsage(f.ctx, &u), record.BuiltinSubqueue(), &order, record.Lease{Holder: "w"}, leaseTime)
		if err != nil || r == nil {
			t.Fatal(r, err)
		}
		if n := u.Calls.Load() - 1; n > most { // one call is the write
			t.Fatalf("a lease reads %d times, want at most %d", n, most)
		}
		return r
	}
	for range 50 {
		lease()
	}
	fresh := add("p0300x") // just after the keys that the order has read
	for n := 1; lease().ID != fresh.ID; n++ {
		if n > payers/8+1 {
			t.Fatalf("a payer that used nothing has no turn in %d leases", n)
		}
	}
}

// TestLeaseLight_FindsLightRunsAmongHeavyOnes has 100 payers, one of them with 100 turns, and only submitters with much use. Their runs are
// not leased, nor is one of the submitters' runs for a new payer. Runs of submitters without use are leased at once if they are expected.
// Otherwise those of new payers are leased after some searches. Each search reads little.
func TestLeaseLight_FindsLightRunsAmongHeavyOnes(t *testing.T) {
	const most = 3 * 8 // reads of a search: of payers, of turns of one of these, and of turns of the chosen payer
	f := newFixture(t)
	var order queue.FairOrder
	f.Batch(func() {
		for i := range 100 {
			for _, of := range []string{fmt.Sprintf("p%02d heavy%d 1 x", i, i%40), fmt.Sprintf("p50 heavy%02d 1 x", i)} {
				order.Charge(f.add(turn(of)).Turn(), 60_000_000, f.now)
			}
		}
	})
	lease := func() *record.RunItem {
		var u store.Usage
		r, err := f.queue().LeaseLight(store.WithUsage(f.ctx, &u), record.BuiltinSubqueue(), &order, record.Lease{Holder: "w"}, leaseTime)
		f.must(err)
		if n := u.Calls.Load(); n > most {
			t.Fatalf("a search reads %d times, want at most %d", n, most)
		}
		return r
	}
	for range 200 {
		if r := lease(); r != nil {
			t.Fatalf("the run of %v is leased, whose submitter used much", r.Turn())
		}
	}
	order.Expect(f.add(turn("elsewhere heavy3 1 x")).Turn())
	for _, c := range []struct {
		turn     string
		expected bool
		searches int
	}{{"new light 1 x", true, 1}, {"p50 light 1 x", true, 1}, {"new light 1 x", false, 100/8 + 2}} {
		want := f.add(turn(c.turn))
		if c.expected {
			order.Expect(want.Turn())
		}
		found := lease()
		for n := 1; found == nil && n < c.searches; n++ {
			found = lease()
		}
		if found == nil || found.ID != want.ID {
			t.Errorf("%s, expected %t: %d searches lease %v", c.turn, c.expected, c.searches, found)
		}
	}
}

// TestFairOrder_ForgetsThoseThatUsedLeast charges more payers than an order remembers. It must remember the payer with the most use.
func TestFairOrder_ForgetsThoseThatUsedLeast(t *testing.T) {
	f := newFixture(t)
	var order queue.FairOrder
	charge := func(payer string, n int64) {
		order.Charge(record.Turn{Payer: payer, Submitter: "u", Task: "1", Team: "x"}, n, f.now)
	}
	charge("much", 1_000_000_000)
	for i := range 10_000 {
		charge(fmt.Sprint("a", i), 1_000_000)
	}
	charge("some", 2_000_000)
	f.add(turn("much u 1 x"))
	f.add(turn("some u 1 x"))
	const want = "someu1x muchu1x"
	if got := f.leaseTurns(record.BuiltinSubqueue(), &order); got != want {
		t.Errorf("the turns are %s, want %s", got, want)
	}
}

func TestFairOrder_CostsOneReadWhenOneRunWaits(t *testing.T) {
	f := newFixture(t)
	f.add()
	var order queue.FairOrder
	calls := func() int64 {
		var u store.Usage
		if _, err := f.queue().Lease(store.WithUsage(f.ctx, &u), record.BuiltinSubqueue(), &order, record.Lease{Holder: "w"},
			leaseTime); err != nil {
			t.Fatal(err)
		}
		return u.Calls.Load()
	}
	leased := calls()
	empty := calls()
	again := calls()
	if leased != 2 || empty != 2 || again != 1 {
		t.Errorf("a lease costs %d calls, of which one writes; one from the empty queue %d, and the next %d", leased, empty, again)
	}
}

// TestFairOrder_UnreadableRunHidesNoTurn puts an unreadable run in the first turn of a payer. The payer's other turns are still leased,
// and the search reports the run once nothing else waits.
func TestFairOrder_UnreadableRunHidesNoTurn(t *testing.T) {
	f := newFixture(t)
	damaged := f.add(turn("A s 1 x"))
	items, err := f.Store.Get(f.ctx, store.Strong, damaged.Key())
	f.must(err)
	items[0].Data = []byte("damaged")
	f.must(f.Store.Write(f.ctx, store.Replace(items[0])))
	behind := f.add(turn("A s 2 x"))
	var order queue.FairOrder
	if r := f.leaseFrom(record.BuiltinSubqueue(), &order); r == nil || r.ID != behind.ID {
		t.Fatalf("leased %v, want the run behind the unreadable one", r)
	}
	if r, err := f.queue().Lease(f.ctx, record.BuiltinSubqueue(), &order, record.Lease{Holder: "w"}, leaseTime); r != nil || err == nil {
		t.Errorf("then leased %v, and the unreadable run is no error", r)
	}
}
