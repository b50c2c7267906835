package deletion_test

import (
	"context"
	"fmt"
	"testing"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/language/problem"
	"assay/shared/service/records"
	"assay/shared/storage/store"
	"assay/shared/storage/store/embedded"
	"assay/shared/storage/store/storetest"
)

func TestDeletion_LeavesNothing(t *testing.T) {
	forUnused(t, func(t *testing.T, kind record.DeletedKind) {
		f := newUnused(t, recordtest.OpenStore(t, embedded.Options{}), kind)
		f.collectKeys(func() {
			for i := range 120 { // of three records each: more than a few transactions hold
				f.task.Register(fmt.Sprintf("user %d", i))
			}
		})
		f.must(f.delete(t.Context(), f.Store))
		f.check(f.gone())
		if f.auditEntries("done") != 1 {
			t.Error("an earlier audit entry was deleted")
		}
		if recordtest.Get[record.SubmissionItem](t, f.Store, f.unrelated.Submission.Key()) == nil {
			t.Error("a submission to another task was deleted")
		}
	})
}

// A request that read the task before its deletion registers a user, and an index has a dataset too late.
func TestDeletion_SweepsWhatWasWrittenMeanwhile(t *testing.T) {
	f := newUnused(t, recordtest.OpenStore(t, embedded.Options{}), record.TaskInTrash)
	f.must(f.delete(t.Context(), f.Store))
	f.collectKeys(func() {
		f.task.Register("late")
		f.task.Dataset()
	})
	f.background(2 * record.RequestTime)
	f.check(f.gone())
}

func TestDeletion_IsRefusedWithSubmissions(t *testing.T) {
	forUnused(t, func(t *testing.T, kind record.DeletedKind) {
		for name, submit := range map[string]func(*fixture){
			"in lists":      func(f *fixture) { f.dataset.Run("ann") },
			"in allowances": func(f *fixture) { f.Commit(f.admit()) },
		} {
			t.Run(name, func(t *testing.T) {
				f := newUnused(t, recordtest.OpenStore(t, embedded.Options{}), kind)
				submit(f)
				before, _ := f.read()
				if err := f.delete(t.Context(), f.Store); !problem.Conflict.Is(err) {
					t.Fatal(err)
				}
				f.check(f.whole())
				if now, _ := f.read(); now.Stored() != before.Stored() {
					t.Errorf("the record was written: %+v", now)
				}
			})
		}
	})
}

// The process dies before a call of the store, or after the call and before its answer.
func TestDeletion_IsResumed(t *testing.T) {
	forUnused(t, func(t *testing.T, kind record.DeletedKind) {
		s := recordtest.OpenStore(t, embedded.Options{})
		for _, die := range []func(store.Store, int64, func()) *storetest.Hooked{storetest.BeforeCall, storetest.AfterCall} {
			storetest.AtEachCall(t, func(n int64) *storetest.Hooked {
				f := newUnused(t, s, kind)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				dying := die(s, n, cancel)
				err := f.delete(ctx, dying)
				r, work := f.read()
				if r != nil && (kind == record.TaskInTrash || !work.Is(record.DeleteDataset)) {
					if err == nil {
						t.Fatalf("stopped at call %d: nothing will resume it", n)
					}
					f.check(f.whole())
					return dying
				}
				f.background(4 * record.RequestTime)
				f.check(f.gone())
				return dying
			})
		}
	})
}

// A submission that was admitted before the deletion is made at each point of it: either the submission is there and the
// dataset whole, or there is neither.
func TestDeletion_RacesWithSubmission(t *testing.T) {
	s := recordtest.OpenStore(t, embedded.Options{})
	made := 0
	refused := 0
	storetest.AtEachCall(t, func(n int64) *storetest.Hooked {
		f := newUnused(t, s, record.DatasetInTrash)
		tx := f.admit()
		tried := false
		submitted := false
		racing := storetest.BeforeCall(s, n, func() { tried, submitted = true, f.commits(tx) })
		err := f.delete(t.Context(), racing)
		if submitted {
			made++
			f.check(f.whole())
			if !problem.Conflict.Is(err) || f.marked() {
				t.Fatalf("submitted at call %d: %v, still marked: %t", n, err, f.marked())
			}
			return racing
		}
		if tried {
			refused++
		}
		f.check(f.gone())
		if err != nil {
			t.Fatalf("at call %d: %v", n, err)
		}
		return racing
	})
	if made == 0 || refused == 0 {
		t.Errorf("%d submissions were made, %d refused: only one of the two was tested", made, refused)
	}
}

// Another process refuses the same deletion because of a submission, the submission is deleted, another is admitted, and
// perhaps the record is marked again: what was found under the first mark no longer holds.
func TestDeletion_DecidesOnlyUnderTheMarkThatItRead(t *testing.T) {
	s, removed := recordtest.OpenStore(t, embedded.Options{}), 0
	for _, again := range []bool{false, true} {
		storetest.AtEachCall(t, func(n int64) *storetest.Hooked {
			f := newUnused(t, s, record.DatasetInTrash)
			var tx *records.Tx
			racing := storetest.BeforeCall(s, n, func() {
				if !f.marked() {
					return
				}
				removed++
				_, mark := f.read()
				f.setPendingWork(nil)
				tx = f.admit()
				if again {
					f.setPendingWork(mark)
				}
			})
			err := f.delete(t.Context(), racing)
			if r, _ := f.read(); (r == nil) != (err == nil) {
				t.Fatalf("at call %d: %+v is left: %v", n, r, err)
			}
			if err != nil {
				f.check(f.whole())
				return racing
			}
			f.check(f.gone())
			if tx != nil && f.commits(tx) {
				t.Fatalf("at call %d: there is a submission to what was deleted", n)
			}
			return racing
		})
	}
	if removed == 0 {
		t.Error("no mark was removed")
	}
}

// Work that a deletion replaces is pending again when the deletion is refused.
func TestDeletion_RefusedRestoresPendingWork(t *testing.T) {
	for _, tt := range []struct {
		before, after record.PendingKind
		option        func(*record.DatasetItem)
	}{
		{record.AcceptTruth, record.AcceptTruth, func(d *record.DatasetItem) {
			d.Truths = []record.File{recordtest.File("new", "q1 0 d1 1", record.FileStored)}
		}},
		{record.Reevaluate, record.Reevaluate, nil},
	} {
		t.Run(string(tt.before), func(t *testing.T) {
			f := newUnused(t, recordtest.OpenStore(t, embedded.Options{}), record.DatasetInTrash)
			if tt.option != nil {
				d := f.dataset.DatasetItem
				tt.option(d)
				f.Replace(d)
			}
			f.setPendingWork(record.NewPendingWork(tt.before, f.now))
			tx, marked := f.admit(), false
			racing := &storetest.Hooked{Store: f.Store, Before: func(storetest.Call) error {
				if !marked && f.marked() {
					marked = true
					f.Commit(tx)
				}
				return nil
			}}
			if err := f.delete(t.Context(), racing); !problem.Conflict.Is(err) || !marked {
				t.Fatalf("marked %t: %v", marked, err)
			}
			f.check(f.whole())
			want := record.NewPendingWork(tt.after, f.now)
			if _, work := f.read(); !work.Is(tt.after) || work.State != want.State {
				t.Errorf("%+v", work)
			}
		})
	}
}
