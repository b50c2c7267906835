package follow_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"assay/shared/follow"
	"assay/shared/problem"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

// unsubmitted takes away what was submitted, as those who submitted can; what was used of the quota stays known.
func (sc *scene) unsubmitted() {
	sc.t.Helper()
	tx := new(records.Tx)
	for _, id := range sc.submissions {
		tx.DeleteKey(record.SubmissionKey(id))
	}
	a := &record.Allowance{Meta: meta(), TaskID: sc.task.ID, Total: 1}
	a.ID = bob
	sc.commit(sc.create(tx, a))
	sc.submissions = nil
}

// remove deletes the task as a request does.
func (sc *scene) remove(ctx context.Context, s store.Store) error {
	t := get[record.TaskItem](sc, sc.task.Key())
	if t == nil {
		return nil
	}
	return follow.Delete(ctx, s, time.Now(), t, bob)
}

func TestADeletedTaskLeavesNothing(t *testing.T) {
	sc := newScene(t, open(t))
	sc.unsubmitted()
	tx := new(records.Tx)
	for i := range 120 { // of three records each: more than a few transactions hold
		if tx.Len()+3 > store.MaxWrites {
			sc.commit(tx)
			tx = new(records.Tx)
		}
		sc.register(tx, record.NewID(time.Now()), fmt.Sprintf("Team %d", i))
	}
	sc.commit(tx)
	sc.must(sc.remove(t.Context(), sc.Store))
	if left := sc.left(); len(left) > 0 {
		t.Fatalf("%d records are left: %v", len(left), left[0])
	}
	if n := sc.told(record.TaskDeleted); n != 1 {
		t.Errorf("%d audit entries say that the task was deleted", n)
	}
	if n := sc.told("done"); n != 1 {
		t.Error("an audit entry went with the task")
	}
	if get[record.SubmissionItem](sc, record.SubmissionKey(sc.elsewhere)) == nil {
		t.Error("something of another task went too")
	}
}

// A request that had read the task before its deletion registers somebody, and an index tells of a dataset too late.
func TestWhatComesAfterADeletionGoesToo(t *testing.T) {
	sc := newScene(t, open(t))
	sc.unsubmitted()
	sc.must(sc.remove(t.Context(), sc.Store))
	tx := new(records.Tx)
	sc.register(tx, record.NewID(time.Now()), "Late")
	d := &record.DatasetItem{}
	d.Meta, d.TaskID = meta(), sc.task.ID
	sc.commit(sc.create(tx, d))
	items, err := sc.Query(t.Context(), store.Query{Index: record.ByWork, Partition: record.DuePartition, To: record.DueBy(time.Now().Add(follow.Patience)), Limit: 10})
	sc.must(err)
	if len(items) != 1 || items[0].Key != record.DeletedTaskKey(sc.task.ID) {
		t.Fatalf("due are %v", items)
	}
	sc.must(follow.Deleted(t.Context(), sc, time.Now(), items[0].Key))
	if left := sc.left(); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
	if get[record.DeletedTask](sc, items[0].Key) != nil {
		t.Error("that it was deleted is remembered for ever")
	}
}

func TestATaskWithSubmissionsStaysWhole(t *testing.T) {
	for name, submitted := range map[string]func(*scene){
		"as the lists tell": func(*scene) {},
		"as the allowances tell": func(sc *scene) {
			sc.unsubmitted()
			a := get[record.Allowance](sc, record.AllowanceKey(sc.task.ID, bob))
			a.Submissions = 1
			sc.commit(new(records.Tx).Replace(a))
		},
	} {
		t.Run(name, func(t *testing.T) {
			sc := newScene(t, open(t))
			submitted(sc)
			if err := sc.remove(t.Context(), sc.Store); !problem.Conflict.Is(err) {
				t.Fatal(err)
			}
			if left := sc.left(); len(left) != len(sc.keys) {
				t.Errorf("of %d records %d are left", len(sc.keys), len(left))
			}
			if task := get[record.TaskItem](sc, sc.task.Key()); task.Deleting() || task.Version != 1 {
				t.Errorf("%+v", task)
			}
		})
	}
}

func TestADeletionThatStopsAnywhereIsTakenUpAgain(t *testing.T) {
	for _, answered := range []bool{false, true} {
		everywhere(t, func(sc *scene, n int64) *interrupted {
			sc.unsubmitted()
			ctx, die := context.WithCancel(t.Context())
			s := &interrupted{Store: sc.Store, n: n, before: die}
			if answered {
				s.before, s.after = nil, die
			}
			err := sc.remove(ctx, s)
			task := get[record.TaskItem](sc, sc.task.Key())
			switch {
			case task == nil: // it was over, whether or not that was heard of
			case !task.Deleting():
				if left := sc.left(); err == nil || len(left) != len(sc.keys) || sc.counted() != organized {
					t.Fatalf("stopped at call %d: the task stays with %d of %d records, and %d are counted: %v", n, len(left), len(sc.keys), sc.counted(), err)
				}
				return s
			case task.PendingWork == nil:
				t.Fatalf("stopped at call %d: nobody will take it up: %v", n, err)
			}
			sc.must(follow.ResumeTask(t.Context(), sc.Store, time.Now(), sc.task.Key()))
			if left := sc.left(); len(left) > 0 || sc.counted() != organized-1 {
				t.Fatalf("stopped at call %d: %v are left, and %d tasks are counted", n, left, sc.counted())
			}
			return s
		})
	}
}

// A submission that was admitted before the deletion began is made at whatever point of it: either the submission is
// there and the task whole, or there is neither.
func TestASubmissionOnItsWayEndsADeletionOrNeverComes(t *testing.T) {
	made, refused := 0, 0
	everywhere(t, func(sc *scene, n int64) *interrupted {
		sc.unsubmitted()
		grant := get[record.Registered](sc, record.RegisteredKey(ada, sc.task.ID))
		a := &record.Allowance{Meta: meta(), TaskID: sc.task.ID, Submissions: 1}
		a.ID = ada
		asked, came := false, false
		s := &interrupted{Store: sc.Store, n: n, before: func() {
			tx := new(records.Tx).Check(grant).Create(a)
			sc.submit(tx, ada)
			err := tx.Commit(t.Context(), sc.Store)
			asked, came = true, err == nil
			if !came && !records.IsConflict(err) {
				t.Fatal(err)
			}
		}}
		err := sc.remove(t.Context(), s)
		task, left := get[record.TaskItem](sc, sc.task.Key()), sc.left()
		if came {
			made++
			if !problem.Conflict.Is(err) || task == nil || task.Deleting() || len(left) != len(sc.keys) {
				t.Fatalf("at call %d: a submission came, and the deletion: %v; the task: %+v; %d of %d records are left", n, err, task, len(left), len(sc.keys))
			}
			return s
		}
		if asked {
			refused++
		}
		if err != nil || task != nil || len(left) > 0 {
			t.Fatalf("at call %d: no submission came, and the deletion: %v; %v are left", n, err, left)
		}
		return s
	})
	if made == 0 || refused == 0 {
		t.Errorf("%d submissions were made, %d refused: the test tests only one of the two", made, refused)
	}
}

// Another one at the same deletion finds a submission and takes the mark off, and the submission goes again: what one of
// them decided on no longer holds.
func TestADeletionWhoseMarkIsGoneGoesNoFurther(t *testing.T) {
	everywhere(t, func(sc *scene, n int64) *interrupted {
		sc.unsubmitted()
		undone := false
		s := &interrupted{Store: sc.Store, n: n, before: func() {
			task := get[record.TaskItem](sc, sc.task.Key())
			if task == nil || !task.Deleting() || task.PendingWork.State == record.Decided {
				return
			}
			undone, task.PendingWork = true, nil
			sc.commit(new(records.Tx).Replace(task))
		}}
		err := sc.remove(t.Context(), s)
		if left := sc.left(); undone && (!records.IsConflict(err) || len(left) != len(sc.keys)) || !undone && (err != nil || len(left) > 0) {
			t.Fatalf("at call %d: undone %t: %v; %d of %d records are left", n, undone, err, len(left), len(sc.keys))
		}
		return s
	})
}

// What followed a change of visibility when the deletion began is not forgotten when it is refused.
func TestARefusedDeletionForgetsNothing(t *testing.T) {
	sc := newScene(t, open(t))
	sc.unsubmitted()
	sc.show(record.Private)
	a := &record.Allowance{Meta: meta(), TaskID: sc.task.ID, Submissions: 1}
	a.ID = ada
	s, version, marked := &interrupted{Store: sc.Store}, sc.task.Version, false
	s.n, s.before = 7, func() {
		marked = get[record.TaskItem](sc, sc.task.Key()).Deleting()
		sc.commit(new(records.Tx).Create(a))
	}
	if err := sc.remove(t.Context(), s); !problem.Conflict.Is(err) {
		t.Fatal(err)
	}
	task := get[record.TaskItem](sc, sc.task.Key())
	if !marked || task.Version != version || !task.PendingWork.Is(record.PropagateTask) || task.PendingWork.State != record.FirstPass {
		t.Fatalf("%+v", task)
	}
	for range 2 {
		sc.must(follow.Task(t.Context(), sc, sc.later(), sc.task.Key()))
	}
	if f := get[record.TaskItem](sc, sc.task.Key()).PendingWork; f != nil || len(get[record.DatasetItem](sc, record.DatasetKey(sc.datasets[0])).ID) == 0 ||
		!get[record.DatasetItem](sc, record.DatasetKey(sc.datasets[0])).PrivateTask {
		t.Errorf("%+v", f)
	}
}
