package deletion

import (
	"context"
	"strings"

	"assay/shared/domain/record"
	"assay/shared/language/lists"
	"assay/shared/language/problem"
	"assay/shared/service/queue"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

// taskOf returns a task that lies in the trash, with its organizer.
func (d Deleter) taskOf(ctx context.Context, entry *record.DeletionItem) (*record.TaskItem, *record.Organizer, error) {
	o, err := records.Require[record.Organizer](ctx, d.Store, store.Strong, record.OrganizerKey(entry.OrganizerID),
		problem.Conflict.New("The organizer of the task was deleted, so nothing of the task can be restored."))
	if err != nil {
		return nil, nil, err
	}
	task, err := records.Require[record.TaskItem](ctx, d.bin(entry), store.Strong, record.TaskKey(entry.ResourceID), errPurged)
	return task, o, err
}

// restoreTask brings back the contents of the task, and the task last. Items that the index of the trash did not have yet follow in a
// confirming pass.
func (d Deleter) restoreTask(ctx context.Context, entry *record.DeletionItem) error {
	task, o, err := d.taskOf(ctx, entry)
	if err != nil {
		return err
	}
	if err := d.restoreContents(ctx, entry, task); err != nil {
		return err
	}
	b := &batch{Tx: new(records.Tx).Check(o), entry: entry}
	if err := records.CountTasks(ctx, d.Store, b.Tx, d.Now(), entry.OrganizerID, 1); err != nil {
		return err
	}
	if err := b.record(task, (*batch).back); err != nil {
		return err
	}
	if err := records.CreateMissing[record.Event](ctx, d.Store, b.Tx, task.ClosingEvent(d.Now())); err != nil {
		return err
	}
	b.Create(d.restored(b, entry.RestoredBy))
	entry.PendingWork = &record.PendingWork{
		Kind: record.RestoreTrash, NotBefore: record.At(d.Now().Add(d.Store.Lag())), State: record.Decided,
	}
	return b.Replace(entry).Commit(ctx, d.Store)
}

// sweepRestored is the confirming pass for a restored task.
func (d Deleter) sweepRestored(ctx context.Context, entry *record.DeletionItem) error {
	task, err := records.Get[record.TaskItem](ctx, d.Store, store.Strong, record.TaskKey(entry.ResourceID))
	if err != nil {
		return err
	}
	if task != nil {
		if err := d.restoreContents(ctx, entry, task); err != nil {
			return err
		}
	}
	return new(records.Tx).Delete(entry).Commit(ctx, d.Store)
}

// restoreContents brings back everything in the task except the task itself. Runs come after the records that their evaluation reads.
func (d Deleter) restoreContents(ctx context.Context, entry *record.DeletionItem, task *record.TaskItem) error {
	for _, runs := range []bool{false, true} {
		err := d.each(ctx, entry, func(key store.Key) error {
			if key == task.Key() || record.IsGrantKey(key) || record.IsRun(key) != runs { // grants come with their registration
				return nil
			}
			items, err := d.bin(entry).Get(ctx, store.Strong, key)
			if err != nil || !items[0].Exists() {
				return records.Failed(err)
			}
			return d.moveAll(ctx, entry, items, func(b *batch, it store.Item) error { return d.backInTask(ctx, b, it, task) })
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// backInTask adds to b that an item of the task comes back: a registration with its grants, a run as it continues now.
func (d Deleter) backInTask(ctx context.Context, b *batch, it store.Item, task *record.TaskItem) (err error) {
	switch {
	case record.IsRun(it.Key):
		if it, err = d.continuing(ctx, it); err != nil {
			return err
		}
	case it.Sort == "DATASET":
		set, err := records.Decode[record.DatasetItem](it)
		if err == nil {
			err = records.CreateMissing[record.Event](ctx, d.Store, b.Tx, set.ClosingEvent(d.Now()))
		}
		if err != nil {
			return err
		}
	case strings.HasPrefix(it.Sort, record.RegistrationPrefix):
		r, err := records.Decode[record.RegistrationItem](it)
		if err != nil {
			return err
		}
		for _, id := range r.Members {
			b.Create(r.Grant(id, task.Visibility == record.Private, d.Now()))
		}
		b.DeleteKeys(lists.Map(r.GrantKeys(), record.TrashKey)...)
	}
	return b.back(it)
}

// continuing returns the item of a restored run as it continues now.
func (d Deleter) continuing(ctx context.Context, it store.Item) (store.Item, error) {
	r, err := records.Decode[record.RunItem](it)
	if err != nil {
		return it, err
	}
	truth, err := records.Get[record.TruthVersion](ctx, d.Store, store.Strong, record.TruthKey(r.DatasetID))
	if err != nil {
		return it, err
	}
	if err := queue.Restore(r, truth, d.Now()); err != nil {
		return it, err
	}
	return record.Item(r)
}
