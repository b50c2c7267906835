package deletion_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/service/deletion"
	"assay/shared/storage/store"
	"assay/shared/storage/store/embedded"
	"assay/shared/storage/store/storetest"
)

func TestTrash_RestoresWhatWasDeleted(t *testing.T) {
	forEachStore(t, func(t *testing.T, s store.Store) {
		for _, kind := range kinds {
			t.Run(string(kind), func(t *testing.T) {
				f := newFixture(t, s, kind)
				before := f.contents()
				f.must(f.delete(t.Context(), s))
				f.background(2 * record.RequestTime)
				if trashed, entries := deleted(f.contents()); trashed < 2 || entries != 1 {
					t.Fatalf("%d items and %d entries", trashed, entries)
				}
				f.must(f.restore(t.Context(), s))
				f.background(time.Minute)
				f.same(before, f.contents())
			})
		}
	})
}

// TestTrash_KeepsGrants deletes and restores a task with the largest teams. Meanwhile, its members find it among their deleted tasks.
func TestTrash_KeepsGrants(t *testing.T) {
	forEachStore(t, func(t *testing.T, s store.Store) {
		f := newFixture(t, s, record.TaskInTrash)
		for team := range 3 {
			f.task.Register(fmt.Sprint("owner", team), func(r *record.RegistrationItem) {
				for i := range record.MaxTeam - 1 {
					r.Members = append(r.Members, recordtest.UserID(fmt.Sprint("member", team, "-", i)))
				}
			})
		}
		before := f.contents()
		member := recordtest.UserID("member1-7")
		deletedTasks := func() []deletion.DeletedTask {
			found, err := deletion.DeletedTasks(t.Context(), s, member)
			f.must(err)
			return found
		}
		f.must(f.delete(t.Context(), s))
		f.background(2 * record.RequestTime)
		if found := deletedTasks(); len(found) != 1 || found[0].ID != f.task.ID || found[0].Grant.Team != recordtest.Team("owner1") {
			t.Errorf("the member is told of %+v", found)
		}
		f.must(f.restore(t.Context(), s))
		f.background(time.Minute)
		f.same(before, f.contents())
		if found := deletedTasks(); len(found) > 0 {
			t.Errorf("the member is told of %+v after the restoration", found)
		}
	})
}

// What the index of the trash lacks while a task is restored comes back once the lag of the store has passed, and so at once in a store
// that does not lag.
func TestTrash_RestoresWhatTheIndexLacked(t *testing.T) {
	for _, lag := range []time.Duration{0, 5 * time.Second} {
		t.Run(lag.String(), func(t *testing.T) {
			f := newFixture(t, recordtest.OpenStore(t, embedded.Options{}), record.TaskInTrash)
			s := &storetest.Lagging{Store: f.Store, Delay: lag, Now: func() time.Time { return f.now }}
			before := f.contents()
			f.must(f.delete(t.Context(), s))
			f.must(f.restore(t.Context(), s))
			if trashed, _ := deleted(f.contents()); (trashed > 0) != (lag > 0) {
				t.Fatalf("%d items are still in the trash", trashed)
			}
			f.now = f.now.Add(lag)
			f.must(f.deleter(s).Continue(t.Context(), f.entry.Key()))
			f.same(before, f.contents())
		})
	}
}

func TestTrash_IsPurged(t *testing.T) {
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			f := newFixture(t, recordtest.OpenStore(t, embedded.Options{}), kind)
			f.must(f.delete(t.Context(), f.Store))
			f.background(record.TrashTime - time.Hour)
			if trashed, _ := deleted(f.contents()); trashed == 0 {
				t.Fatal("purged too early")
			}
			f.background(4 * time.Hour)
			if trashed, entries := deleted(f.contents()); trashed > 0 || entries > 0 {
				t.Fatalf("%d items and %d entries are left", trashed, entries)
			}
			f.must(f.restore(t.Context(), f.Store))
		})
	}
}

// A process that dies while it deletes or restores leaves work to the background worker, which ends with everything deleted or restored.
func TestTrash_IsResumed(t *testing.T) {
	for _, kind := range kinds {
		if kind == record.DatasetInTrash { // one transaction each
			continue
		}
		t.Run(string(kind), func(t *testing.T) {
			for _, die := range []func(store.Store, int64, func()) *storetest.Hooked{storetest.BeforeCall, storetest.AfterCall} {
				storetest.AtEachCall(t, func(n int64) *storetest.Hooked {
					f := newFixture(t, recordtest.OpenStore(t, embedded.Options{}), kind)
					before := f.contents()
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					dying := die(f.Store, n, cancel)
					if err := f.delete(ctx, dying); err == nil {
						_ = f.restore(ctx, dying)
					}
					f.background(4 * record.RequestTime)
					if _, entries := deleted(f.contents()); entries == 1 {
						f.must(f.restore(t.Context(), f.Store))
						f.background(time.Minute)
					}
					f.same(before, f.contents())
					if t.Failed() {
						t.Fatalf("stopped at call %d", n)
					}
					return dying
				})
			}
		})
	}
}

// Several requests restore at the same time, while the background worker continues the deletion.
func TestTrash_IsRestoredOnce(t *testing.T) {
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			for range 5 {
				f := newFixture(t, recordtest.OpenStore(t, embedded.Options{}), kind)
				before := f.contents()
				f.must(f.delete(t.Context(), f.Store))
				var all sync.WaitGroup
				for range 3 {
					all.Go(func() { _ = f.restore(t.Context(), f.Store) })
				}
				all.Go(func() { _ = f.deleter(f.Store).Continue(t.Context(), f.entry.Key()) })
				all.Wait()
				f.background(4 * record.RequestTime)
				f.same(before, f.contents())
			}
		})
	}
}

// Evaluations that the background worker moves to the trash during the restoring of their run are restored, too.
func TestTrash_IsRestoredWhileItMoves(t *testing.T) {
	storetest.AtEachCall(t, func(n int64) *storetest.Hooked {
		f := newFixture(t, recordtest.OpenStore(t, embedded.Options{}), record.RunInTrash)
		f.addEvaluations()
		before := f.contents()
		f.must(f.begin(t.Context(), f.Store))
		hooked := storetest.BeforeCall(f.Store, n, func() {
			f.now = f.now.Add(2 * record.RequestTime)
			_ = f.deleter(unfinished{f.Store, f.entry.Key()}).Continue(t.Context(), f.entry.Key())
		})
		_ = f.restore(t.Context(), hooked)
		f.background(4 * record.RequestTime)
		if _, entries := deleted(f.contents()); entries == 1 {
			f.must(f.restore(t.Context(), f.Store))
			f.background(time.Minute)
		}
		f.same(before, f.contents())
		return hooked
	})
}

// unfinished refuses to change the record of the key.
type unfinished struct {
	store.Store
	key store.Key
}

func (s unfinished) Write(ctx context.Context, writes ...store.Write) error {
	for _, w := range writes {
		if w.Item.Key == s.key && w.Op != store.OpCheck {
			return context.Canceled
		}
	}
	return s.Store.Write(ctx, writes...)
}
