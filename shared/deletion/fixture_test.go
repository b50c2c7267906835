package deletion_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"assay/shared/deletion"
	"assay/shared/record"
	"assay/shared/record/recordtest"
	"assay/shared/records"
	"assay/shared/store"
	"assay/shared/store/storetest"
	"assay/shared/trash"
)

// organizerTasks is how many tasks the organizer of a fixture has.
const organizerTasks = 3

// fixture is a task with two datasets and two registrations, without submissions.
type fixture struct {
	*recordtest.Builder
	t         *testing.T
	task      *recordtest.Task
	datasets  []*recordtest.Dataset
	unrelated *recordtest.Run // of another task
	keys      []store.Key     // of everything in the task
	deletes   record.DeletedKind
}

// newFixture returns a fixture whose task or first dataset the test deletes.
func newFixture(t *testing.T, s store.Store, deletes record.DeletedKind) *fixture {
	t.Helper()
	f := &fixture{Builder: recordtest.New(t, s), t: t, deletes: deletes}
	f.Batch(func() {
		f.unrelated = f.Task().Dataset().Run("ann")
		f.Put(&record.TaskCount{Meta: record.MetaOf(f.unrelated.Access.OrganizerID, time.Now()), Tasks: organizerTasks})
	})
	f.collectKeys(func() {
		f.task = f.Task()
		f.datasets = []*recordtest.Dataset{f.task.Dataset(), f.task.Dataset()}
		f.task.Register("ann")
		f.task.Register("bob")
		f.Put(&record.Allowance{Meta: record.MetaOf(recordtest.UserID("bob"), time.Now()), TaskID: f.task.ID, Used: record.Used{Total: 1}})
	})
	f.Put(record.NewAudit(time.Now(), f.task.Scope(), recordtest.UserID("bob"), "done", "/", nil, nil))
	return f
}

// forEachKind calls test with each kind of deletion.
func forEachKind(t *testing.T, test func(t *testing.T, deletes record.DeletedKind)) {
	for _, kind := range []record.DeletedKind{record.TaskInTrash, record.DatasetInTrash} {
		t.Run(string(kind), func(t *testing.T) { test(t, kind) })
	}
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

// deletedKeys are the keys of what the deletion deletes.
func (f *fixture) deletedKeys() []store.Key {
	if f.deletes == record.TaskInTrash {
		return f.keys
	}
	id := f.datasets[0].ID
	return []store.Key{record.DatasetKey(id), record.TruthKey(id), record.TruthSecretKey(id)}
}

// read returns the record to be deleted, with its pending work; nil when it is deleted.
func (f *fixture) read() (record.Record, *record.PendingWork) {
	f.t.Helper()
	key := f.datasets[0].Key()
	if f.deletes == record.TaskInTrash {
		key = f.task.Key()
	}
	items, err := f.Store.Get(context.Background(), store.Strong, key)
	f.must(err)
	if !items[0].Exists() {
		return nil, nil
	}
	r, work, err := record.DecodePending(items[0])
	f.must(err)
	return r, work
}

func (f *fixture) setPendingWork(w *record.PendingWork) {
	f.t.Helper()
	r, _ := f.read()
	switch r := r.(type) {
	case *record.TaskItem:
		r.PendingWork = w
	case *record.DatasetItem:
		r.PendingWork = w
	}
	f.Replace(r)
}

// marked reports whether the deletion is pending and can still be refused.
func (f *fixture) marked() bool {
	f.t.Helper()
	_, work := f.read()
	return work.Is(record.DeleteDataset) && work.State == record.Marked
}

// delete deletes in s, as a request of bob does.
func (f *fixture) delete(ctx context.Context, s store.Store) error {
	f.t.Helper()
	d := deletion.Deleter{Store: s, Now: time.Now}
	r, _ := f.read()
	if f.deletes == record.TaskInTrash {
		tx := new(records.Tx)
		entry, err := d.Task(ctx, tx, r.(*record.TaskItem), recordtest.UserID("bob"), false)
		if err != nil {
			return err
		}
		if err := tx.Commit(ctx, s); err != nil {
			return err
		}
		return trash.Trash{Store: s, Now: time.Now}.Continue(ctx, entry.Key())
	}
	return d.Dataset(ctx, r.(*record.DatasetItem), recordtest.UserID("bob"))
}

// resume does the pending work, as the evaluator does.
func (f *fixture) resume() error {
	d := deletion.Deleter{Store: f.Store, Now: time.Now}
	if f.deletes == record.TaskInTrash {
		return f.resumeAt(time.Now)
	}
	return d.ResumeDataset(f.t.Context(), f.datasets[0].Key())
}

// resumeAt goes on with what was deleted, at an instant.
func (f *fixture) resumeAt(now func() time.Time) error {
	deletions := records.Of(record.KindTask, f.task.ID, record.KindDeletion)
	return records.Each(f.t.Context(), f.Store, 10, deletions, func(d *record.DeletionItem) error {
		return trash.Trash{Store: f.Store, Now: now}.Continue(f.t.Context(), d.Key())
	})
}

// admit returns the change that makes a submission, after everything that it depends on has been read.
func (f *fixture) admit() *records.Tx {
	f.t.Helper()
	a := &record.Allowance{Meta: record.MetaOf(recordtest.UserID("ann"), time.Now()), TaskID: f.task.ID, Submissions: 1}
	a.Keep(f.datasets[0].ID)
	grant := recordtest.Get[record.Registered](f.t, f.Store, record.RegisteredKey(recordtest.UserID("ann"), f.task.ID))
	return new(records.Tx).Check(grant).Create(a)
}

// commits reports whether the change was made.
func (f *fixture) commits(tx *records.Tx) bool {
	f.t.Helper()
	err := tx.Commit(f.t.Context(), f.Store)
	if !records.IsConflict(err) {
		f.must(err)
	}
	return err == nil
}

// auditEntries counts those of the action by bob.
func (f *fixture) auditEntries(action string) (n int) {
	f.t.Helper()
	entries := []records.Source{records.AuditEntries(f.task.OrganizerID)}
	f.must(records.Each(f.t.Context(), f.Store, 10, entries, func(a *record.AuditEntry) error {
		if a.Action == action && a.ActorID == recordtest.UserID("bob") {
			n++
		}
		return nil
	}))
	return n
}

// left counts the records that there are at the keys.
func (f *fixture) left(keys []store.Key) (n int) {
	f.t.Helper()
	for _, key := range keys {
		items, err := f.Store.Get(context.Background(), store.Strong, key)
		f.must(err)
		if items[0].Exists() {
			n++
		}
	}
	return n
}

// outcome counts the records that a deletion left.
type outcome struct {
	version         int64 // of the record to be deleted; 0 when it is
	deleted, others int   // records that are left of those to be deleted, and of all others in the task
	tasks           int   // of the organizer
	audited         int   // audit entries of the deletion
}

func (f *fixture) outcome() outcome {
	f.t.Helper()
	deleted := f.left(f.deletedKeys())
	counted := recordtest.TasksOf(f.t, f.Store, f.task.OrganizerID)
	action := map[record.DeletedKind]string{record.TaskInTrash: record.TaskDeleted, record.DatasetInTrash: record.DatasetDeleted}[f.deletes]
	var version int64
	if r, _ := f.read(); r != nil {
		version = r.(interface{ Revision() int64 }).Revision()
	}
	return outcome{
		version: version,
		deleted: deleted,
		others:  f.left(f.keys) - deleted,
		tasks:   counted,
		audited: f.auditEntries(action),
	}
}

// whole is the outcome of a deletion that deleted nothing, and gone that of a complete one.
func (f *fixture) whole() outcome {
	n := len(f.deletedKeys())
	return outcome{version: 1, deleted: n, others: len(f.keys) - n, tasks: organizerTasks}
}

func (f *fixture) gone() outcome {
	o := f.whole()
	o.version = 0
	o.deleted = 0
	o.audited = 1
	if f.deletes == record.TaskInTrash {
		o.tasks--
	}
	return o
}

func (f *fixture) check(want outcome) {
	f.t.Helper()
	if got := f.outcome(); got != want {
		f.t.Fatalf("%+v is left, want %+v", got, want)
	}
}
