package tasks

import (
	"context"

	"assay/shared/api"
	"assay/shared/deletion"
	"assay/shared/record"
	"assay/shared/records"
)

// remove deletes a task with everything in it. If the request ends before that, the evaluator resumes the deletion.
func remove(ctx context.Context, c *api.Call, t *record.TaskItem) error {
	files, err := filesOf(ctx, c, t.ID)
	if err != nil {
		return err
	}
	c.DeleteFiles(files...)
	return deletion.Deleter{Store: c.Store, Now: c.Now}.Task(ctx, t, c.Caller.ID)
}

// filesOf names the objects of the task's datasets.
func filesOf(ctx context.Context, c *api.Call, taskID string) (keys []string, err error) {
	sources := []records.Source{records.Partition(record.ByTask, record.TaskPartition(taskID, record.KindDataset, 0))}
	err = records.Each(ctx, c.Store, record.MaxTaskDatasets, sources, func(d *record.DatasetItem) error {
		keys = append(keys, d.ObjectKeys()...)
		return nil
	})
	return keys, err
}
