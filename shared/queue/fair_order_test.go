package queue_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"assay/shared/queue"
	"assay/shared/record"
	"assay/shared/record/recordtest"
	"assay/shared/store"
)

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
	return f.addImage("", func(r *recordtest.Run) { r.Queue, r.TaskID, r.UserID = q, task, team })
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
	if leased, empty, again := calls(), calls(), calls(); leased != 2 || empty != 2 || again != 1 {
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
