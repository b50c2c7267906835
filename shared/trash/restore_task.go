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
	o, err := records.Get[record.Organizer](ctx, t.Store, store.Strong, record.OrganizerKey(d.OrganizerID))
	if err != nil {
		return err
	}
	if o == nil {
		return conflict("The organizer of the task was deleted, so the task cannot be restored.")
	}
	task, err := find[record.TaskItem](ctx, t, key)
	if err != nil {
		return err
	}
	if task == nil {
		return gone
	}
	if err := t.begin(ctx, d, by); err != nil {
		return err
	}
	if err := t.restoreContents(ctx, d, task); err != nil {
		return err
	}
	b := &batch{Tx: new(records.Tx).Check(o), deletion: d}
	if err := CountTask(ctx, t.Store, b.Tx, t.Now(), d.OrganizerID, 1); err != nil {
		return err
	}
	items, err := t.get(ctx, in, key)
	if err != nil || len(items) == 0 {
		return err
	}
	if err := b.back(items[0]); err != nil {
		return err
	}
	if err := records.CreateMissing[record.Event](ctx, t.Store, b.Tx, task.ClosingEvent(t.Now())); err != nil {
		return err
	}
	d.PendingWork = &record.PendingWork{Kind: record.RestoreTrash, NotBefore: record.At(t.Now().Add(lag)), State: record.Decided}
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

// restoreContents brings back what lies in the trash with the task, except the task itself.
func (t Trash) restoreContents(ctx context.Context, d *record.DeletionItem, task *record.TaskItem) error {
	return t.each(ctx, d, func(key store.Key) error {
		if key == task.Key() {
			return nil
		}
		items, err := t.get(ctx, in, key)
		if err != nil {
			return err
		}
		return t.moveAll(ctx, d, items, func(b *batch, it store.Item) error {
			if record.IsRun(it.Key) {
				if it, err = t.waiting(ctx, it); err != nil {
					return err
				}
			}
			if it.Sort == "DATASET" {
				set, err := records.Decode[record.DatasetItem](it)
				if err == nil {
					err = records.CreateMissing[record.Event](ctx, t.Store, b.Tx, set.ClosingEvent(t.Now()))
				}
				if err != nil {
					return err
				}
			}
			if strings.HasPrefix(it.Sort, record.RegistrationPrefix) {
				r, err := records.Decode[record.RegistrationItem](it)
				if err != nil {
					return err
				}
				for _, id := range r.Members {
					b.Create(r.Grant(id, task.Visibility == record.Private, t.Now()))
				}
			}
			return b.back(it)
		})
	})
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

// each calls do with the keys that items had which lie in the trash for the deletion.
func (t Trash) each(ctx context.Context, d *record.DeletionItem, do func(store.Key) error) error {
	q := store.Query{Index: record.ByKind, Partition: record.TrashPartition(d.ID), Limit: page, MaxBytes: store.ScanBytes}
	return records.EachItem(ctx, t.Store, q, func(it store.Item) error {
		key, err := record.Untrash(store.Item{Key: it.Key})
		if err != nil {
			return err
		}
		return do(key.Key)
	})
}
