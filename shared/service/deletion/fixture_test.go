package deletion_test

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

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/service/deletion"
	"assay/shared/service/records"
	"assay/shared/storage/store"
	"assay/shared/storage/store/dynamo/dynamotest"
	"assay/shared/storage/store/embedded"
	"assay/shared/storage/store/storetest"
)

// kinds are all kinds of deletions.
var kinds = []record.DeletedKind{record.TaskInTrash, record.DatasetInTrash, record.SubmissionInTrash, record.RunInTrash}

// organizerTasks is how many tasks the organizer of a fixture has.
const organizerTasks = 3

// fixture is a task with two datasets and two teams. Ann deletes resources of it.
type fixture struct {
	*recordtest.Builder
	t         *testing.T
	kind      record.DeletedKind // of the resource
	task      *recordtest.Task
	dataset   *recordtest.Dataset
	run       *recordtest.Run // of ann; nil: nobody submitted to the task
	unrelated *recordtest.Run // of another task
	keys      []store.Key     // of the records in the task that is not submitted to
	now       time.Time
	entry     *record.DeletionItem
}

// newUnused returns a fixture whose task nobody submitted to.
func newUnused(t *testing.T, s store.Store, kind record.DeletedKind) *fixture {
	t.Helper()
	f := &fixture{Builder: recordtest.New(t, s), t: t, kind: kind, now: time.Now()}
	f.Batch(func() {
		f.unrelated = f.Task().Dataset().Run("ann")
		f.Put(&record.TaskCount{Meta: record.MetaOf(f.unrelated.Access.OrganizerID, f.now), Tasks: organizerTasks})
	})
	f.collectKeys(func() {
		f.task = f.Task()
		f.dataset = f.task.Dataset()
		f.task.Dataset()
		f.task.Register("ann")
		f.task.Register("bob")
		f.Put(&record.Allowance{Meta: record.MetaOf(recordtest.UserID("bob"), f.now), TaskID: f.task.ID, Used: record.Used{Total: 1}})
	})
	f.Put(record.NewAudit(f.now, f.task.Scope(), recordtest.UserID("ann"), "done", "/", nil, nil))
	return f
}

// newFixture returns a fixture in which the dataset has a run of each team, unless the dataset is deleted.
func newFixture(t *testing.T, s store.Store, kind record.DeletedKind, options ...recordtest.RunOption) *fixture {
	t.Helper()
	f := newUnused(t, s, kind)
	if kind == record.DatasetInTrash {
		return f
	}
	f.Batch(func() {
		f.run = f.dataset.Run("ann", options...)
		f.dataset.Run("bob")
		a := &record.Allowance{Meta: record.MetaOf(f.run.Access.RegistrationID, f.now), TaskID: f.task.ID, Submissions: 1,
			Used: record.Used{Total: 1}}
		a.Keep(f.dataset.ID)
		f.Put(a)
	})
	return f
}

func (f *fixture) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// collectKeys adds to f.keys those of the records that build makes.
func (f *fixture) collectKeys(build func()) {
	f.t.Helper()
	s := f.Store
	var mu sync.Mutex
	f.Store = &storetest.Hooked{Store: s, Before: func(c storetest.Call) error {
		mu.Lock()
		defer mu.Unlock()
		for _, w := range c.Writes {
			f.keys = append(f.keys, w.Item.Key)
		}
		return nil
	}}
	f.Batch(build)
	f.Store = s
}

func (f *fixture) deleter(s store.Store) deletion.Deleter {
	return deletion.Deleter{Store: s, Files: recordtest.OpenFiles(f.t), Now: func() time.Time { return f.now }}
}

// delete deletes the resource in s, like a request.
func (f *fixture) delete(ctx context.Context, s store.Store) error {
	if err := f.begin(ctx, s); err != nil {
		return err
	}
	return f.deleter(s).Continue(ctx, f.entry.Key())
}

// begin makes the change of the request that deletes, without what follows the change.
func (f *fixture) begin(ctx context.Context, s store.Store) error {
	return records.Retry(ctx, func() (err error) {
		d, tx := f.deleter(s), new(records.Tx)
		by := recordtest.UserID("ann")
		switch f.kind {
		case record.TaskInTrash:
			f.entry, err = d.DeleteTask(ctx, tx, recordtest.Get[record.TaskItem](f.t, f.Store, f.task.Key()), by, f.run != nil)
		case record.DatasetInTrash:
			f.entry, err = d.DeleteDataset(ctx, tx, recordtest.Get[record.DatasetItem](f.t, f.Store, f.dataset.Key()), by)
		case record.SubmissionInTrash:
			s := recordtest.Get[record.SubmissionItem](f.t, f.Store, f.run.Submission.Key())
			var runs []*record.RunItem
			for _, id := range s.RunIDs {
				runs = append(runs, recordtest.Get[record.RunItem](f.t, f.Store, record.RunKey(id)))
			}
			f.entry, err = d.DeleteSubmission(ctx, tx, s, runs, by, true)
		case record.RunInTrash:
			f.entry, err = d.DeleteRun(ctx, tx, recordtest.Get[record.RunItem](f.t, f.Store, f.run.Key()), by, true)
		}
		if err != nil {
			return err
		}
		return tx.Commit(ctx, s)
	})
}

// addEvaluations gives the run more evaluations than one transaction moves.
func (f *fixture) addEvaluations() {
	f.t.Helper()
	r := recordtest.Get[record.RunItem](f.t, f.Store, f.run.Key())
	for range 39 {
		e := *recordtest.Get[record.EvaluationItem](f.t, f.Store, record.EvaluationKey(r.Evaluations[0]))
		e.Meta = record.NewMeta(f.now)
		f.Put(&e)
		r.Evaluations = append([]string{e.ID}, r.Evaluations...)
	}
	f.Replace(r)
}

// restore restores the resource in s, like a request of an organizer.
func (f *fixture) restore(ctx context.Context, s store.Store) error {
	d := f.deleter(s)
	err := records.Change(ctx, s, f.entry.Key(), func(entry *record.DeletionItem, tx *records.Tx) error {
		if entry.Over() {
			return nil
		}
		_, err := d.Restore(ctx, tx, entry, recordtest.UserID("olga"))
		return err
	})
	if err != nil {
		return err
	}
	return d.Continue(ctx, f.entry.Key())
}

// background does the pending work of deletions that is due from now until later.
func (f *fixture) background(later time.Duration) {
	f.t.Helper()
	ctx, d := f.t.Context(), f.deleter(f.Store)
	for range 3 {
		f.now = f.now.Add(later / 3)
		for _, it := range f.pending() {
			r, work, err := record.DecodePending(it)
			f.must(err)
			switch {
			case work.NotBefore.After(f.now):
			case work.Is(record.MoveToTrash), work.Is(record.RestoreTrash), work.Is(record.PurgeTrash):
				f.must(d.Continue(ctx, r.Key()))
			case work.Is(record.DeleteDataset):
				f.must(d.ContinueDataset(ctx, r.Key()))
			case work.Is(record.DeleteUser):
				f.must(d.ContinueUser(ctx, r.Key()))
			}
		}
	}
}

// pending returns the records with pending work.
func (f *fixture) pending() (items []store.Item) {
	f.t.Helper()
	for _, partition := range []string{record.DueDatasets, record.DueOthers} {
		some, err := f.Store.Query(f.t.Context(), store.Query{Index: record.ByWork, Partition: partition, Limit: 100})
		f.must(err)
		items = append(items, some...)
	}
	return items
}

// deleteUser deletes the user, and returns the id that replaces the user's.
func (f *fixture) deleteUser(name string) (replacement string) {
	f.t.Helper()
	u := &record.User{Meta: record.MetaOf(recordtest.UserID(name), f.now)}
	u.Delete(recordtest.UserID("root"), f.now)
	f.Put(u)
	f.background(4 * record.RequestTime)
	if recordtest.Get[record.User](f.t, f.Store, u.Key()) != nil {
		f.t.Fatalf("%s is not deleted", name)
	}
	return u.ReplacedBy
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
			if it.Sort == "DATASET" { // whose deletion replaces other work, so that a reevaluation is pending then
				delete(members, "pendingWork")
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

func forEachStore(t *testing.T, test func(*testing.T, store.Store)) {
	t.Run("embedded", func(t *testing.T) { test(t, recordtest.OpenStore(t, embedded.Options{})) })
	t.Run("dynamo", func(t *testing.T) { test(t, dynamotest.Open(t, dynamotest.Start(t))) })
}
