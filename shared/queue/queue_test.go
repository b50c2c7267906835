package queue_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"assay/shared/measure"
	"assay/shared/queue"
	"assay/shared/record"
	"assay/shared/record/recordtest"
	"assay/shared/store"
)

func TestLease_ReclaimedRunKeepsItsPlace(t *testing.T) {
	f := newFixture(t)
	first, second := f.add(), f.add()
	if r := f.lease(); r.ID != first.ID || r.State != record.Evaluating || r.Attempts != 1 {
		t.Fatalf("leased %+v, want the first run", r)
	}
	if r := f.lease(); r.ID != second.ID {
		t.Fatalf("leased %s, want the second run", r.ID)
	}
	if r := f.lease(); r != nil {
		t.Fatalf("leased %s from an empty queue", r.ID)
	}
	f.now = f.now.Add(2 * leaseTime)
	f.add()
	f.reclaim(first.ID)
	if r := f.lease(); r.ID != first.ID || r.Attempts != 2 {
		t.Fatalf("leased %s before the run that was reclaimed", r.ID)
	}
}

func TestCompleteEvaluation_RacingWorkersAndRepeatedMessagesWriteOnce(t *testing.T) {
	const runs, workers = 40, 8
	f := newFixture(t)
	f.Batch(func() {
		for range runs {
			f.add()
		}
	})
	var written, stale atomic.Int64
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			for {
				r, err := f.queue().Lease(f.ctx, record.BuiltinSubqueue(), &f.order, record.Lease{Holder: fmt.Sprint("worker ", w)}, leaseTime)
				if err != nil || r == nil {
					if err != nil {
						t.Error(err)
					}
					return
				}
				var twice sync.WaitGroup
				for range 2 {
					twice.Go(func() {
						_, err := f.queue().CompleteEvaluation(f.ctx, queue.LeaseRefOf(r), f.outcome(f.truth))
						switch {
						case err == nil:
							written.Add(1)
						case errors.Is(err, queue.ErrStaleLease):
							stale.Add(1)
						default:
							t.Error(err)
						}
					})
				}
				twice.Wait()
			}
		})
	}
	all.Wait()
	if written.Load() != runs || stale.Load() != runs {
		t.Fatalf("%d outcomes written and %d refused, want %d of each", written.Load(), stale.Load(), runs)
	}
	index, partition := record.List(record.KindDataset, f.dataset.ID, record.KindEvaluation, 2)
	ranked, err := f.Store.Query(f.ctx, store.Query{Index: index, Partition: partition, Limit: 2 * runs})
	if err != nil || len(ranked) != runs {
		t.Fatalf("%d evaluations, %v; want %d", len(ranked), err, runs)
	}
}

func TestEvaluation_OutdatedTruthKeepsTheLease(t *testing.T) {
	f := newFixture(t)
	r := f.add()
	l := queue.LeaseRefOf(f.lease())
	old := f.changeTruth()
	_, completed := f.queue().CompleteEvaluation(f.ctx, l, f.outcome(old))
	_, failed := f.queue().FailAgainst(f.ctx, l, old, reasons(measure.Error, "x"))
	_, withoutTruth := f.queue().FailAgainst(f.ctx, l, nil, reasons(measure.Error, "no truth"))
	for _, err := range []error{completed, failed, withoutTruth} {
		if !errors.Is(err, queue.ErrTruthChanged) {
			t.Errorf("got %v, want ErrTruthChanged", err)
		}
	}
	if got := f.run(r.ID); got.State != record.Evaluating || got.Lease == nil {
		t.Fatalf("the run went to %s", got.State)
	}
	if _, err := f.queue().CompleteEvaluation(f.ctx, l, f.outcome(f.truth)); err != nil {
		t.Fatal(err)
	}
}

func TestCompleteEvaluation_DeletesTheOldestBeyondTheMaximum(t *testing.T) {
	f := newFixture(t)
	id := f.add().ID
	var made []string
	for range record.MaxEvaluations + 2 {
		r, err := f.queue().CompleteEvaluation(f.ctx, queue.LeaseRefOf(f.lease()), f.outcome(f.truth))
		f.must(err)
		made = append(made, r.EvaluationID)
		f.changeTruth()
		f.reevaluate(id)
	}
	if got := f.run(id).Evaluations; !slices.Equal(got, made[2:]) {
		t.Fatalf("the run has the evaluations %s", got)
	}
	for i, evaluationID := range made {
		e := evaluationOf(f, evaluationID)
		topics := recordtest.Get[record.Topics](t, f.Store, record.TopicsKey(evaluationID))
		if gone := i < 2; (e == nil) != gone || (topics == nil) != gone {
			t.Fatalf("evaluation %d: %v, %v", i, e, topics)
		}
		if e != nil && e.Unlisted != (i < len(made)-1) {
			t.Fatalf("evaluation %d of %d is superseded: %v", i, len(made), e.Unlisted)
		}
	}
}

func TestFailAttempt_LastFailureListsAllAttempts(t *testing.T) {
	f := newFixture(t)
	id := f.addCounted().ID
	for n := range record.MaxAttempts {
		l := queue.LeaseRefOf(f.lease())
		if n == 0 {
			_, err := f.queue().FailAttempt(f.ctx, l, "it broke")
			f.must(err)
			continue
		}
		f.now = f.now.Add(leaseTime)
		f.reclaim(id)
		if err := f.queue().Extend(f.ctx, l, leaseTime); !errors.Is(err, queue.ErrStaleLease) {
			t.Fatalf("a reclaimed lease is extended: %v", err)
		}
	}
	r := f.run(id)
	if r.State != record.Failed || r.Counted || f.counted() != 0 || r.FinishedAt == nil {
		t.Fatalf("%s, counted %v, quota %d", r.State, r.Counted, f.counted())
	}
	if len(r.Diagnostics) != 4 || r.Diagnostics[0].Severity != measure.Error || !strings.Contains(r.Diagnostics[1].Message, "it broke") {
		t.Fatalf("%+v", r.Diagnostics)
	}
}

func TestFailStale_FailsRunsInTheStateAlone(t *testing.T) {
	f := newFixture(t)
	id := f.addCounted().ID
	f.must(f.queue().FailStale(f.ctx, id, record.AwaitingUpload, reasons(measure.Error, "no file")...))
	if r := f.run(id); r.State != record.Queued || len(r.Diagnostics) != 0 {
		t.Fatalf("%s %v", r.State, r.Diagnostics)
	}
	f.must(f.queue().FailStale(f.ctx, id, record.Queued, reasons(measure.Error, "nobody came")...))
	if r := f.run(id); r.State != record.Failed || len(r.Diagnostics) != 1 || f.counted() != 0 {
		t.Fatalf("%s %v", r.State, r.Diagnostics)
	}
}

func TestCompleteEvaluation_FailedRunCountsAgain(t *testing.T) {
	f := newFixture(t)
	id := f.addCounted().ID
	_, err := f.queue().FailAgainst(f.ctx, queue.LeaseRefOf(f.lease()), f.truth, reasons(measure.Error, "x"))
	f.must(err)
	if n := f.counted(); n != 0 {
		t.Fatalf("%d runs count after the failure", n)
	}
	f.changeTruth()
	f.reevaluate(id)
	_, err = f.queue().CompleteEvaluation(f.ctx, queue.LeaseRefOf(f.lease()), f.outcome(f.truth))
	f.must(err)
	if n := f.counted(); n != 1 || !f.run(id).Counted {
		t.Fatalf("%d runs count after the evaluation", n)
	}
}

// ids makes ids in ascending order.
func ids(n int) []string {
	var all []string
	for i := range n {
		all = append(all, record.NewID(start.Add(time.Duration(i)*time.Millisecond)))
	}
	return all
}

// addIn makes a run of the task and the team that waits in the queue.
func (f *fixture) addIn(q, task, team string) *record.RunItem {
	return f.addImage("", func(r *recordtest.Run) {
		r.Queue = q
		r.TaskID = task
		r.UserID = team
	})
}

// TestFairOrder_AlternatesTasksAndTeams has a team with many runs, two other teams of the same task, and another task, in both queues.
func TestFairOrder_AlternatesTasksAndTeams(t *testing.T) {
	for q, sub := range map[string]record.Subqueue{
		record.QueueBuiltin: record.BuiltinSubqueue(), record.QueueWorkers: record.WorkerSubqueue(record.DefaultPool, record.ExecuteImage),
	} {
		t.Run(q, func(t *testing.T) {
			f := newFixture(t)
			tasks, teams := ids(2), ids(3)
			waiting := map[string][]string{} // ids by team
			add := func(name, task, team string, n int) {
				for range n {
					waiting[name] = append(waiting[name], f.addIn(q, task, team).ID)
				}
			}
			add("a", tasks[0], teams[1], 40)
			add("b", tasks[0], teams[0], 3)
			add("c", tasks[0], teams[2], 2)
			add("x", tasks[1], teams[1], 4)
			var order queue.FairOrder
			var got strings.Builder
			for range 14 {
				r := f.leaseFrom(sub, &order)
				if r == nil {
					t.Fatal("nothing to lease")
				}
				for name, ids := range waiting {
					if i := slices.Index(ids, r.ID); i == 0 {
						got.WriteString(name)
						waiting[name] = ids[1:]
					} else if i > 0 {
						t.Errorf("run %d of team %s comes before its first", i, name)
					}
				}
			}
			// The tasks alternate, and within the first its teams.
			if want := "bxaxcxbxacbaaa"; got.String() != want {
				t.Errorf("the order is %s, want %s", &got, want)
			}
		})
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

// TestFairOrder_ServesRunsOfOlderBuilds has runs in both queues under keys without a team, which earlier builds wrote.
func TestFairOrder_ServesRunsOfOlderBuilds(t *testing.T) {
	f := newFixture(t)
	tasks, teams := ids(2), ids(2)
	old := map[string]bool{}
	for q, prefix := range map[string]string{record.QueueBuiltin: "", record.QueueWorkers: "default#image#" + tasks[0] + "#"} {
		for i := range 3 {
			r := f.addIn(q, tasks[0], teams[i%2])
			old[r.ID] = true
			items, err := f.Store.Get(f.ctx, store.Strong, r.Key())
			f.must(err)
			items[0].Indexes[record.ByWork-1].Sort = prefix + r.QueuedAt.Format("2006-01-02T15:04:05.000Z") + "#" + r.ID
			f.must(f.Store.Write(f.ctx, store.Replace(items[0])))
			old[f.addIn(q, tasks[i%2], teams[0]).ID] = false
		}
	}
	backlogs := 0
	for b, err := range f.queue().TeamBacklogs(f.ctx) {
		if err != nil || b.Since.Before(start) || b.Since.After(f.now) {
			t.Fatalf("%+v, %v", b, err)
		}
		backlogs++
	}
	if backlogs != 5 { // three of old keys, and one of a team in each task
		t.Errorf("%d backlogs for workers, want 5", backlogs)
	}
	for _, sub := range []record.Subqueue{record.BuiltinSubqueue(), record.WorkerSubqueue("", record.ExecuteImage)} {
		var order queue.FairOrder
		for range 6 {
			r := f.leaseFrom(sub, &order)
			if r == nil {
				t.Fatalf("nothing to lease, with %d runs left", len(old))
			}
			delete(old, r.ID)
		}
	}
	if len(old) != 0 {
		t.Errorf("never served: %v", old)
	}
}
