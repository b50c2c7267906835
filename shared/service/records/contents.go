package records

import (
	"context"
	"slices"

	"assay/shared/domain/record"
	"assay/shared/storage/store"
)

// contentsPage is how many items EachInTask reads at once.
const contentsPage = 100

// EachInTask calls do with the items of everything in a task. It passes the items of the task's own partition one by one. Then it
// passes the items of each run, submission and dataset together, and repeats such a call after a conflict.
func EachInTask(ctx context.Context, s store.Store, taskID string, do func([]store.Item) error) error {
	own := store.Query{Partition: record.TaskKey(taskID).Partition, Limit: contentsPage, MaxBytes: store.ScanBytes, Consistency: store.Strong}
	if err := EachItem(ctx, s, own, func(it store.Item) error { return do([]store.Item{it}) }); err != nil {
		return err
	}
	lists := slices.Concat(Of(record.KindTask, taskID, record.KindRun), Of(record.KindTask, taskID, record.KindSubmission),
		Of(record.KindTask, taskID, record.KindDataset))
	for _, list := range lists {
		q := store.Query{Index: list.Index, Partition: list.Partition, Limit: contentsPage, MaxBytes: store.ScanBytes}
		err := EachItem(ctx, s, q, func(it store.Item) error {
			return Retry(ctx, func() error {
				items, err := Contents(ctx, s, it.Key)
				if err != nil {
					return err
				}
				return do(items)
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Datasets returns all datasets of the task, the oldest first.
func Datasets(ctx context.Context, s store.Store, taskID string) (sets []*record.DatasetItem, err error) {
	q := store.Query{Index: record.ByTask, Partition: record.TaskDatasets(taskID), Limit: record.MaxTaskDatasets}
	err = EachItem(ctx, s, q, func(it store.Item) error {
		d, err := Decode[record.DatasetItem](it)
		sets = append(sets, d)
		return err
	})
	return sets, err
}

// Contents returns the items of the key's partition. For a run they follow the items of its evaluations.
func Contents(ctx context.Context, s store.Store, key store.Key) (items []store.Item, err error) {
	q := store.Query{Partition: key.Partition, Limit: contentsPage, Consistency: store.Strong}
	var evaluations []store.Item
	err = EachItem(ctx, s, q, func(it store.Item) error {
		items = append(items, it)
		if !record.IsRun(it.Key) {
			return nil
		}
		r, err := Decode[record.RunItem](it)
		if err == nil {
			evaluations, err = Evaluations(ctx, s, r)
		}
		return err
	})
	return append(evaluations, items...), err
}

// Evaluations returns the items of the run's evaluations, with their values per topic.
func Evaluations(ctx context.Context, s store.Store, r *record.RunItem) ([]store.Item, error) {
	keys := slices.Concat(Keys(r.Evaluations, record.EvaluationKey), Keys(r.Evaluations, record.TopicsKey))
	items, err := GetItems(ctx, s, store.Strong, keys...)
	return slices.DeleteFunc(items, isMissing), err
}
