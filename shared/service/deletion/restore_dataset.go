package deletion

import (
	"context"

	"assay/shared/domain/record"
	"assay/shared/language/problem"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

// restoreDataset adds to b that a dataset comes back with its ground truth. Pending work of the dataset goes on.
func (d Deleter) restoreDataset(ctx context.Context, b *batch) error {
	task, err := d.task(ctx, b, b.entry.TaskID)
	if err != nil {
		return err
	}
	inTask := store.Query{Index: record.ByTask, Partition: record.TaskDatasets(task.ID), Limit: record.MaxTaskDatasets}
	others, err := d.Store.Query(ctx, inTask)
	if err != nil {
		return records.Failed(err)
	}
	if len(others) == record.MaxTaskDatasets {
		return problem.Conflict.New("The task has %d datasets, which is the most. Delete one, and restore this one then.", record.MaxTaskDatasets)
	}
	if d.OutcomeOnly {
		return nil
	}
	items, err := records.Contents(ctx, d.bin(b.entry), record.DatasetKey(b.entry.ResourceID))
	if err != nil {
		return err
	}
	for _, it := range items {
		if it.Sort == "DATASET" {
			set, err := records.Decode[record.DatasetItem](it)
			if err != nil {
				return err
			}
			set.PrivateTask = task.Visibility == record.Private
			record.Touch(set, d.Now())
			if it, err = record.Item(set); err != nil {
				return err
			}
			if err := records.CreateMissing[record.Event](ctx, d.Store, b.Tx, set.ClosingEvent(d.Now())); err != nil {
				return err
			}
			if set.IsTimed() {
				if err := d.renewEmbargo(ctx, b, set.ID); err != nil {
					return err
				}
			}
		}
		if err := b.back(it); err != nil {
			return err
		}
	}
	return nil
}
