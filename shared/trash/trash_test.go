package trash_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"assay/shared/record"
	"assay/shared/record/recordtest"
	"assay/shared/records"
	"assay/shared/store"
	"assay/shared/store/dynamo/dynamotest"
	"assay/shared/store/embedded"
	"assay/shared/store/storetest"
	"assay/shared/trash"
)

// kinds are all kinds of deletions.
var kinds = []record.DeletedKind{record.TaskInTrash, record.DatasetInTrash, record.SubmissionInTrash, record.RunInTrash}

// fixture is a task with two teams, and a dataset with a run of each, unless a dataset is deleted.
type fixture struct {
	*recordtest.Builder
	t       *testing.T
	kind    record.DeletedKind
	task    *recordtest.Task
	dataset *recordtest.Dataset
	run     *recordtest.Run
	now     time.Time
	entry   *record.DeletionItem
}

func newFixture(t *testing.T, s store.Store, kind record.DeletedKind, options ...recordtest.RunOption) *fixture {
	t.Helper()
	f := &fixture{Builder: recordtest.New(t, s), t: t, kind: kind, now: time.Now()}
	f.Batch(func() {
		f.task = f.Task()
		f.task.Register("ann")
		f.task.Register("bob")
		f.dataset = f.task.Dataset()
		if kind != record.DatasetInTrash {
			f.run = f.dataset.Run("ann", options...)
			f.dataset.Run("bob")
			a := &record.Allowance{Meta: record.MetaOf(f.run.Access.RegistrationID, f.now), TaskID: f.task.ID, Submissions: 1,
				Used: record.Used{Total: 1}}
			a.Keep(f.dataset.ID)
			f.Put(a)
		}
		f.Put(&record.TaskCount{Meta: record.MetaOf(f.task.OrganizerID, f.now), Tasks: 1})
	})
	return f
}

func (f *fixture) trash(s store.Store) trash.Trash {
	return trash.Trash{Store: s, Files: recordtest.OpenFiles(f.t), Now: func() time.Time { return f.now }}
}

func (f *fixture) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// delete deletes, as a request does.
func (f *fixture) delete(ctx context.Context, s store.Store) error {
	if err := f.begin(ctx, s); err != nil {
		return err
	}
	return f.trash(s).Continue(ctx, f.entry.Key())
}

// begin writes the deletion, whose rest has yet to move.
func (f *fixture) begin(ctx context.Context, s store.Store) error {
	bin, tx := f.trash(s), new(records.Tx)
	by := recordtest.UserID("ann")
	var err error
	switch f.kind {
	case record.TaskInTrash:
		f.entry = record.NewDeletion(f.now, f.kind, f.task.ID, f.task.Path(), f.task.Name, f.task.Scope(), by, false)
		task := recordtest.Get[record.TaskItem](f.t, f.Store, f.task.Key())
		err = bin.Task(ctx, tx, task, f.entry)
	case record.DatasetInTrash:
		f.entry = record.NewDeletion(f.now, f.kind, f.dataset.ID, f.dataset.Path(), "", f.dataset.Scope(), by, false)
		set := recordtest.Get[record.DatasetItem](f.t, f.Store, f.dataset.Key())
		err = bin.Dataset(ctx, tx, set, f.entry)
	case record.SubmissionInTrash:
		f.entry = record.NewDeletion(f.now, f.kind, f.run.SubmissionID, "", "", f.run.Submission.Scope(), by, true)
		run := recordtest.Get[record.RunItem](f.t, f.Store, f.run.Key())
		sub := recordtest.Get[record.SubmissionItem](f.t, f.Store, f.run.Submission.Key())
		err = bin.Submission(ctx, tx, sub, []*record.RunItem{run}, f.entry)
	case record.RunInTrash:
		f.entry = record.NewDeletion(f.now, f.kind, f.run.ID, "", "", f.run.Scope(), by, true)
		err = bin.Run(ctx, tx, recordtest.Get[record.RunItem](f.t, f.Store, f.run.Key()), f.entry)
	}
	if err != nil {
		return err
	}
	return tx.Commit(ctx, s)
}

// evaluator does the pending work of the trash, as of later on.
func (f *fixture) evaluator(later time.Duration) {
	f.t.Helper()
	bin := f.trash(f.Store)
	due := store.Query{Index: record.ByWork, Partition: record.DuePartition, Limit: 100}
	for range 3 {
		f.now = f.now.Add(later / 3)
		items, err := f.Store.Query(f.t.Context(), due)
		f.must(err)
		for _, it := range items {
			r, work, err := record.DecodePending(it)
			f.must(err)
			switch {
			case work.NotBefore.After(f.now):
			case work.Is(record.MoveToTrash):
				f.must(bin.Continue(f.t.Context(), r.Key()))
			case work.Is(record.RestoreTrash):
				f.must(bin.Resume(f.t.Context(), r.Key()))
			case work.Is(record.PurgeTrash):
				f.must(bin.Purge(f.t.Context(), r.Key()))
			}
		}
	}
}

// contents returns what there is, save audit entries and usage, in a form that tells nothing of versions and instants.
func (f *fixture) contents() map[store.Key]string {
	f.t.Helper()
	all := map[store.Key]string{}
	for after := (store.Key{}); ; {
		items, last, err := f.Store.(store.Scanner).Scan(f.t.Context(), after, 1000)
		f.must(err)
		for _, it := range items {
			var members map[string]any
			f.must(json.Unmarshal(it.Data, &members))
			for _, name := range []string{"version", "updatedAt", "createdAt", "queuedAt", "Version", "UpdatedAt", "CreatedAt"} {
				delete(members, name)
			}
			if strings.HasPrefix(it.Partition, "AUDIT#") || it.Sort == "USAGE" {
				continue
			}
			if strings.HasPrefix(it.Sort, "TASKS#") { // in whichever part of the count
				all[store.Key{Partition: it.Partition, Sort: "TASKS"}] = fmt.Sprint(recordtest.TasksOf(f.t, f.Store, f.task.OrganizerID))
				continue
			}
			data, err := json.Marshal(members)
			f.must(err)
			it.Indexes[record.ByWork-1] = store.Key{}
			all[it.Key] = fmt.Sprintf("%s %v", data, it.Indexes)
		}
		after = last
		if last == (store.Key{}) {
			return all
		}
	}
}

// deleted counts the items that lie in the trash, and the entries.
func deleted(contents map[store.Key]string) (trashed, entries int) {
	for key := range contents {
		if strings.HasPrefix(key.Partition, "TRASH#") {
			trashed++
		}
		if strings.HasPrefix(key.Partition, "DELETION#") {
			entries++
		}
	}
	return trashed, entries
}

func (f *fixture) same(want, got map[store.Key]string) {
	f.t.Helper()
	for _, key := range slices.Concat(slices.Collect(maps.Keys(want)), slices.Collect(maps.Keys(got))) {
		if want[key] != got[key] {
			f.t.Errorf("%v is\n%s\nwant\n%s", key, got[key], want[key])
		}
	}
}

// forget has the trash forget the user, whose deletion finds nothing under way.
func (f *fixture) forget(userID, replacement string) {
	f.t.Helper()
	all, err := f.trash(f.Store).ForgetUser(f.t.Context(), userID, replacement)
	f.must(err)
	if !all {
		f.t.Fatal("something is left")
	}
}

func forEachStore(t *testing.T, test func(*testing.T, store.Store)) {
	t.Run("embedded", func(t *testing.T) { test(t, recordtest.OpenStore(t, embedded.Options{})) })
	t.Run("dynamo", func(t *testing.T) { test(t, dynamotest.Open(t, dynamotest.Start(t))) })
}

func TestTrash_RestoresWhatWasDeleted(t *testing.T) {
	forEachStore(t, func(t *testing.T, s store.Store) {
		for _, kind := range kinds {
			t.Run(string(kind), func(t *testing.T) {
				f := newFixture(t, s, kind)
				before := f.contents()
				f.must(f.delete(t.Context(), s))
				f.evaluator(2 * record.RequestTime)
				if trashed, entries := deleted(f.contents()); trashed < 2 || entries != 1 {
					t.Fatalf("%d items and %d entries", trashed, entries)
				}
				f.must(f.trash(s).Restore(t.Context(), f.entry.Key(), recordtest.UserID("ann")))
				f.evaluator(time.Minute)
				f.same(before, f.contents())
			})
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
			f.must(f.trash(s).Restore(t.Context(), f.entry.Key(), recordtest.UserID("ann")))
			if trashed, _ := deleted(f.contents()); (trashed > 0) != (lag > 0) {
				t.Fatalf("%d items are still in the trash", trashed)
			}
			f.now = f.now.Add(lag)
			f.must(f.trash(s).Resume(t.Context(), f.entry.Key()))
			f.same(before, f.contents())
		})
	}
}

func TestTrash_IsPurged(t *testing.T) {
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			f := newFixture(t, recordtest.OpenStore(t, embedded.Options{}), kind)
			f.must(f.delete(t.Context(), f.Store))
			f.evaluator(record.TrashTime - time.Hour)
			if trashed, _ := deleted(f.contents()); trashed == 0 {
				t.Fatal("purged too early")
			}
			f.evaluator(4 * time.Hour)
			if trashed, entries := deleted(f.contents()); trashed > 0 || entries > 0 {
				t.Fatalf("%d items and %d entries are left", trashed, entries)
			}
			f.must(f.trash(f.Store).Restore(t.Context(), f.entry.Key(), ""))
		})
	}
}

// A process that dies while it deletes or restores leaves work that the evaluator ends: all is deleted, or all is there.
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
						_ = f.trash(dying).Restore(ctx, f.entry.Key(), recordtest.UserID("ann"))
					}
					f.evaluator(4 * record.RequestTime)
					if _, entries := deleted(f.contents()); entries == 1 {
						f.must(f.trash(f.Store).Restore(t.Context(), f.entry.Key(), recordtest.UserID("ann")))
						f.evaluator(time.Minute)
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

// Several restore at the same time, while the evaluator goes on with the deletion.
func TestTrash_IsRestoredOnce(t *testing.T) {
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			for range 5 {
				f := newFixture(t, recordtest.OpenStore(t, embedded.Options{}), kind)
				before := f.contents()
				f.must(f.delete(t.Context(), f.Store))
				bin := f.trash(f.Store)
				var all sync.WaitGroup
				for range 3 {
					all.Go(func() { _ = bin.Restore(t.Context(), f.entry.Key(), recordtest.UserID("ann")) })
				}
				all.Go(func() { _ = bin.Continue(t.Context(), f.entry.Key()) })
				all.Wait()
				f.evaluator(4 * record.RequestTime)
				f.same(before, f.contents())
			}
		})
	}
}

// What the evaluator moves while a run with many evaluations is restored does not stay in the trash.
func TestTrash_IsRestoredWhileItMoves(t *testing.T) {
	storetest.AtEachCall(t, func(n int64) *storetest.Hooked {
		f := newFixture(t, recordtest.OpenStore(t, embedded.Options{}), record.RunInTrash)
		r := recordtest.Get[record.RunItem](t, f.Store, f.run.Key())
		for range 39 {
			e := *recordtest.Get[record.EvaluationItem](t, f.Store, record.EvaluationKey(r.Evaluations[0]))
			e.Meta = record.NewMeta(f.now)
			f.Put(&e)
			r.Evaluations = append([]string{e.ID}, r.Evaluations...)
		}
		f.Replace(r)
		before := f.contents()
		f.must(f.begin(t.Context(), f.Store))
		hooked := storetest.BeforeCall(f.Store, n, func() {
			f.now = f.now.Add(2 * record.RequestTime)
			_ = f.trash(unfinished{f.Store, f.entry.Key()}).Continue(t.Context(), f.entry.Key())
		})
		_ = f.trash(hooked).Restore(t.Context(), f.entry.Key(), recordtest.UserID("ann"))
		f.evaluator(4 * record.RequestTime)
		if _, entries := deleted(f.contents()); entries == 1 {
			f.must(f.trash(f.Store).Restore(t.Context(), f.entry.Key(), recordtest.UserID("ann")))
			f.evaluator(time.Minute)
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
