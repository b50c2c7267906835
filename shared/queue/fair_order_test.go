package queue_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"assay/shared/queue"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

// ids makes ids in ascending order.
func (s *scene) ids(n int) []string {
	var all []string
	for range n {
		s.now = s.now.Add(time.Millisecond)
		all = append(all, record.NewID(s.now))
	}
	return all
}

// queued makes a run of the task and the team that waits in the queue.
func (s *scene) queued(q, task, team string) *record.RunItem {
	s.t.Helper()
	s.task, s.user = task, team
	r := s.addWork(task, "", record.ImageType)
	r.Queue = q
	s.commit(new(records.Tx).Replace(r))
	return r
}

// TestOrder_TasksAndTeamsTakeTurns has one team with many runs, another team of the same task, and another task: they are
// served in turn in both queues, and each team's runs in the order in which they came.
func TestOrder_TasksAndTeamsTakeTurns(t *testing.T) {
	for q, sub := range map[string]record.Subqueue{
		record.QueueBuiltin: record.BuiltinSubqueue(), record.QueueWorkers: record.WorkerSubqueue(record.DefaultPool, record.ExecuteImage),
	} {
		t.Run(q, func(t *testing.T) {
			s := newScene(t, openStore(t))
			tasks, teams := s.ids(2), s.ids(3)
			waiting := map[string][]string{} // ids by team
			add := func(name, task, team string, n int) {
				for range n {
					waiting[name] = append(waiting[name], s.queued(q, task, team).ID)
				}
			}
			add("a", tasks[0], teams[1], 40)
			add("b", tasks[0], teams[0], 3)
			add("c", tasks[0], teams[2], 2)
			add("x", tasks[1], teams[1], 4)
			var order queue.FairOrder
			var got strings.Builder
			for range 14 {
				r, err := s.queue().Lease(s.ctx, sub, &order, record.Lease{Holder: "w"}, leaseTime)
				if err != nil || r == nil {
					t.Fatal(r, err)
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
			// One turn of each task; within the first, one of each of its teams.
			if want := "bxaxcxbxacbaaa"; got.String() != want {
				t.Errorf("the turns went %s, want %s", &got, want)
			}
		})
	}
}

// TestOrder_CostsOneReadWhenOneRunWaits counts what a lease reads.
func TestOrder_CostsOneReadWhenOneRunWaits(t *testing.T) {
	s := newScene(t, openStore(t))
	s.add()
	var order queue.FairOrder
	calls := func() int64 {
		var u store.Usage
		if _, err := s.queue().Lease(store.WithUsage(s.ctx, &u), record.BuiltinSubqueue(), &order, record.Lease{Holder: "w"}, leaseTime); err != nil {
			t.Fatal(err)
		}
		return u.Calls.Load()
	}
	if leased, empty, again := calls(), calls(), calls(); leased != 2 || empty != 2 || again != 1 {
		t.Errorf("a lease costs %d calls, of which one writes; the look after it %d, and the next %d", leased, empty, again)
	}
}

// TestOrder_ServesRunsOfOlderBuilds has runs in both queues under the keys that builds before turns by team wrote.
func TestOrder_ServesRunsOfOlderBuilds(t *testing.T) {
	s := newScene(t, openStore(t))
	tasks, teams := s.ids(2), s.ids(2)
	old := map[string]bool{}
	for q, prefix := range map[string]string{record.QueueBuiltin: "", record.QueueWorkers: "default#image#" + tasks[0] + "#"} {
		for i := range 3 {
			r := s.queued(q, tasks[0], teams[i%2])
			old[r.ID] = true
			items, err := s.store.Get(s.ctx, store.Strong, r.Key())
			if err != nil {
				t.Fatal(err)
			}
			items[0].Indexes[record.ByWork-1].Sort = prefix + r.QueuedAt.Format("2006-01-02T15:04:05.000Z") + "#" + r.ID
			if err := s.store.Write(s.ctx, store.Replace(items[0])); err != nil {
				t.Fatal(err)
			}
			old[s.queued(q, tasks[i%2], teams[0]).ID] = false
		}
	}
	turns := 0
	for turn, err := range s.queue().TeamBacklogs(s.ctx) {
		if err != nil || turn.Since.Before(start) || turn.Since.After(s.now) {
			t.Fatalf("%+v, %v", turn, err)
		}
		turns++
	}
	if turns != 5 { // three of their own, and one of a team in each task
		t.Errorf("%d turns with workers, want 5", turns)
	}
	for _, sub := range []record.Subqueue{record.BuiltinSubqueue(), record.WorkerSubqueue("", record.ExecuteImage)} {
		var order queue.FairOrder
		for range 6 {
			r, err := s.queue().Lease(s.ctx, sub, &order, record.Lease{Holder: "w"}, leaseTime)
			if err != nil || r == nil {
				t.Fatalf("%v, %v, with %d runs left", r, err, len(old))
			}
			delete(old, r.ID)
		}
	}
	if len(old) != 0 {
		t.Errorf("never served: %v", old)
	}
}
