package follow_test

import (
	"context"
	"testing"
	"time"

	"assay/shared/follow"
	"assay/shared/problem"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

// unused is the dataset of the scene that no run is on.
func (sc *scene) unused() *record.DatasetItem {
	sc.t.Helper()
	return get[record.DatasetItem](sc, record.DatasetKey(sc.datasets[1]))
}

// admitted is a submission of ada's to the unused dataset, on its way: all that it hangs on has been read.
func (sc *scene) admitted() *records.Tx {
	sc.t.Helper()
	a := &record.Allowance{Meta: meta(), TaskID: sc.task.ID, Submissions: 1}
	a.ID = ada
	a.Keep(sc.datasets[1])
	return new(records.Tx).Check(get[record.Registered](sc, record.RegisteredKey(ada, sc.task.ID))).Create(a)
}

// came commits what was on its way, and reports whether it came.
func (sc *scene) came(tx *records.Tx) bool {
	sc.t.Helper()
	err := tx.Commit(sc.t.Context(), sc.Store)
	if err != nil && !records.IsConflict(err) {
		sc.t.Fatal(err)
	}
	return err == nil
}

// dropped counts the audit entries of deleted datasets.
func (sc *scene) dropped() int { return sc.told(record.DatasetDeleted) }

// told counts the audit entries of the action, by bob.
func (sc *scene) told(action string) (n int) {
	sc.t.Helper()
	sc.must(records.Each(sc.t.Context(), sc.Store, 10, []records.Source{records.AuditEntries(sc.task.OrganizerID)}, func(a *record.AuditEntry) error {
		if a.Action == action && a.ActorID == bob {
			n++
		}
		return nil
	}))
	return n
}

func TestADatasetThatRunsUseStaysAsItIs(t *testing.T) {
	sc := newScene(t, open(t))
	sc.commit(sc.admitted()) // which the allowance alone tells, as when the lists lag
	for _, id := range sc.datasets {
		before := get[record.DatasetItem](sc, record.DatasetKey(id))
		if err := follow.DeleteDataset(t.Context(), sc, time.Now(), before, bob); !problem.Conflict.Is(err) {
			t.Errorf("%v", err)
		}
		if d := get[record.DatasetItem](sc, before.Key()); d == nil || d.Version != before.Version {
			t.Errorf("%+v", d)
		}
	}
}

func TestADatasetsDeletionThatStopsAnywhereIsTakenUpAgain(t *testing.T) {
	for _, answered := range []bool{false, true} {
		everywhere(t, func(sc *scene, n int64) *interrupted {
			ctx, die := context.WithCancel(t.Context())
			s := &interrupted{Store: sc.Store, n: n, before: die}
			if answered {
				s.before, s.after = nil, die
			}
			d := sc.unused()
			err := follow.DeleteDataset(ctx, s, time.Now(), d, bob)
			if left := sc.unused(); left != nil && !left.Deleting() {
				if err == nil || left.Version != d.Version {
					t.Fatalf("stopped at call %d: the dataset stays, %+v: %v", n, left, err)
				}
				return s
			}
			due, err := sc.Query(t.Context(), store.Query{Index: record.ByWork, Partition: record.DuePartition, To: record.DueBy(time.Now().Add(2 * follow.Patience)), Limit: 1000})
			sc.must(err)
			for _, it := range due {
				if it.Key == d.Key() {
					sc.must(follow.ResumeDataset(t.Context(), sc, time.Now(), it.Key))
				}
			}
			if left := sc.unused(); left != nil || get[record.Truth](sc, record.TruthKey(d.ID)) != nil || get[record.TruthSecret](sc, record.TruthSecretKey(d.ID)) != nil || sc.dropped() != 1 {
				t.Fatalf("stopped at call %d: what is left is %+v, and it is told %d times", n, left, sc.dropped())
			}
			return s
		})
	}
}

// A submission that was admitted before the deletion began is made at whatever point of it: either it is there, and the
// dataset takes more of them, or there is neither.
func TestARunOnItsWayEndsADatasetsDeletionOrNeverComes(t *testing.T) {
	made, refused := 0, 0
	everywhere(t, func(sc *scene, n int64) *interrupted {
		tx, asked, came := sc.admitted(), false, false
		s := &interrupted{Store: sc.Store, n: n, before: func() { asked, came = true, sc.came(tx) }}
		err := follow.DeleteDataset(t.Context(), s, time.Now(), sc.unused(), bob)
		d := sc.unused()
		if came {
			made++
			if !problem.Conflict.Is(err) || d == nil || d.Deleting() {
				t.Fatalf("at call %d: a run came, and the deletion: %v; the dataset: %+v", n, err, d)
			}
			return s
		}
		if asked {
			refused++
		}
		if err != nil || d != nil {
			t.Fatalf("at call %d: no run came, and the deletion: %v; the dataset: %+v", n, err, d)
		}
		return s
	})
	if made == 0 || refused == 0 {
		t.Errorf("%d runs were made, %d refused: the test tests only one of the two", made, refused)
	}
}

// Another one at the same deletion finds a run and takes the mark off; the run goes, another submission is admitted, and
// the dataset is marked once more: what was found out under the first mark no longer holds.
func TestADatasetIsDeletedUnderTheMarkThatWasDecidedOn(t *testing.T) {
	met := 0
	for _, again := range []bool{false, true} {
		everywhere(t, func(sc *scene, n int64) *interrupted {
			var tx *records.Tx
			s := &interrupted{Store: sc.Store, n: n, before: func() {
				d := sc.unused()
				if d == nil || !d.Deleting() {
					return
				}
				mark := d.PendingWork
				d.PendingWork = nil
				sc.commit(new(records.Tx).Replace(d))
				tx = sc.admitted()
				if again {
					d.PendingWork = mark
					sc.commit(new(records.Tx).Replace(d))
				}
				met++
			}}
			err := follow.DeleteDataset(t.Context(), s, time.Now(), sc.unused(), bob)
			gone := sc.unused() == nil
			if gone != (err == nil) {
				t.Fatalf("at call %d: the dataset is gone: %t, and the deletion: %v", n, gone, err)
			}
			if tx != nil && sc.came(tx) && gone {
				t.Fatalf("at call %d: there is a run on a dataset that is no more", n)
			}
			return s
		})
	}
	if met == 0 {
		t.Error("the mark was never met")
	}
}
