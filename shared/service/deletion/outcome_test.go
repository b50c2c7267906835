package deletion_test

import (
	"context"
	"testing"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

// forUnused calls test with each kind of resource that is deleted only if nobody submitted to it.
func forUnused(t *testing.T, test func(t *testing.T, kind record.DeletedKind)) {
	for _, kind := range []record.DeletedKind{record.TaskInTrash, record.DatasetInTrash} {
		t.Run(string(kind), func(t *testing.T) { test(t, kind) })
	}
}

// deletedKeys are the keys of what the deletion deletes.
func (f *fixture) deletedKeys() []store.Key {
	if f.kind == record.TaskInTrash {
		return f.keys
	}
	id := f.dataset.ID
	return []store.Key{record.DatasetKey(id), record.TruthKey(id), record.TruthSecretKey(id)}
}

// read returns the record to be deleted, with its pending work; nil when it is deleted.
func (f *fixture) read() (record.Record, *record.PendingWork) {
	f.t.Helper()
	key := f.dataset.Key()
	if f.kind == record.TaskInTrash {
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

// admit returns the change that makes a submission, after everything that it depends on has been read.
func (f *fixture) admit() *records.Tx {
	f.t.Helper()
	a := &record.Allowance{Meta: record.MetaOf(recordtest.UserID("ann"), f.now), TaskID: f.task.ID, Submissions: 1}
	a.Keep(f.dataset.ID)
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

// auditEntries counts those of the action by ann.
func (f *fixture) auditEntries(action string) (n int) {
	f.t.Helper()
	entries := []records.Source{records.AuditEntries(f.task.OrganizerID)}
	f.must(records.Each(f.t.Context(), f.Store, 10, entries, func(a *record.AuditEntry) error {
		if a.Action == action && a.ActorID == recordtest.UserID("ann") {
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
	action := map[record.DeletedKind]string{record.TaskInTrash: record.TaskDeleted, record.DatasetInTrash: record.DatasetDeleted}[f.kind]
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
	if f.kind == record.TaskInTrash {
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
