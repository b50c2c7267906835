package trash

import (
	"context"
	"strings"

	"assay/shared/queue"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

// restoreTask brings back what is in the task, and the task last. What the index of the trash did not have yet follows in a confirming
// pass.
func (t Trash) restoreTask(ctx context.Context, d *record.DeletionItem, by string) error {
	key := record.TaskKey(d.ResourceID)
	o, err := records.Require[record.Organizer](ctx, t.Store, store.Strong, record.OrganizerKey(d.OrganizerID),
		conflict("The organizer of the task was deleted, so the task cannot be restored."))
	if err != nil {
		return err
	}
	task, err := records.Require[record.TaskItem](ctx, t.bin(d), store.Strong, key, gone)
	if err != nil {
		return err
	}
	if err := t.begin(ctx, d, by); err != nil {
		return err
	}
	if err := t.restoreContents(ctx, d, task); err != nil {
		return err
	}
	b := &batch{Tx: new(records.Tx).Check(o), deletion: d}
	if err := records.CountTasks(ctx, t.Store, b.Tx, t.Now(), d.OrganizerID, 1); err != nil {
		return err
	}
	if err := b.record(task, (*batch).back); err != nil {
		return err
	}
	if err := records.CreateMissing[record.Event](ctx, t.Store, b.Tx, task.ClosingEvent(t.Now())); err != nil {
		return err
	}
	d.PendingWork = &record.PendingWork{Kind: record.RestoreTrash, NotBefore: record.At(t.Now().Add(t.Store.Lag())), State: record.Decided}
	return b.Replace(d).Create(t.audit(d, by)).Commit(ctx, t.Store)
}

// sweepRestored is the confirming pass for a task that is restored.
func (t Trash) sweepRestored(ctx context.Context, key store.Key) error {
	return t.step(ctx, key, record.RestoreTrash, func(d *record.DeletionItem) error {
		task, err := records.Get[record.TaskItem](ctx, t.Store, store.Strong, record.TaskKey(d.ResourceID))
		if err != nil {
			return err
		}
		if task != nil {
			if err := t.restoreContents(ctx, d, task); err != nil {
				return err
			}
		}
		return new(records.Tx).Delete(d).Commit(ctx, t.Store)
	})
}

// restoreContents brings back what lies in the trash with the task, except the task itself, and runs after all that their evaluation reads.
func (t Trash) restoreContents(ctx context.Context, d *record.DeletionItem, task *record.TaskItem) error {
	for _, runs := range []bool{false, true} {
		err := t.each(ctx, d, func(key store.Key) error {
			if key == task.Key() || record.IsRun(key) != runs {
				return nil
			}
			items, err := t.bin(d).Get(ctx, store.Strong, key)
			if err != nil || !items[0].Exists() {
				return records.Failed(err)
			}
			return t.moveAll(ctx, d, items, func(b *batch, it store.Item) error { return t.backInTask(ctx, b, it, task) })
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// backInTask adds to b an item of the task as it goes on now, with the grants of a registration.
func (t Trash) backInTask(ctx context.Context, b *batch, it store.Item, task *record.TaskItem) (err error) {
	switch {
	case record.IsRun(it.Key):
		if it, err = t.waiting(ctx, it); err != nil {
			return err
		}
	case it.Sort == "DATASET":
		set, err := records.Decode[record.DatasetItem](it)
		if err == nil {
			err = records.CreateMissing[record.Event](ctx, t.Store, b.Tx, set.ClosingEvent(t.Now()))
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
			b.Create(r.Grant(id, task.Visibility == record.Private, t.Now()))
		}
	}
	return b.back(it)
}

// waiting returns the item of a run as it goes on now.
func (t Trash) waiting(ctx context.Context, it store.Item) (store.Item, error) {
	r, err := records.Decode[record.RunItem](it)
	if err != nil {
		return it, err
	}
	truth, err := records.Get[record.Truth](ctx, t.Store, store.Strong, record.TruthKey(r.DatasetID))
	if err != nil {
		return it, err
	}
	if err := queue.Restore(r, truth, t.Now()); err != nil {
		return it, err
	}
	return record.Item(r)
}
