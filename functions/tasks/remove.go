package tasks

import (
	"context"

	"assay/shared/api"
	"assay/shared/follow"
	"assay/shared/record"
	"assay/shared/table"
)

// remove deletes a task with what stands below it. Should the request die on the way, the evaluator goes on with it.
func remove(ctx context.Context, c *api.Call, t *record.TaskItem) (api.Change, error) {
	files, err := filesOf(ctx, c, t.ID)
	if err != nil {
		return api.Change{}, err
	}
	if err := follow.Delete(ctx, c.Store, c.Now(), t, c.Caller.ID); err != nil {
		return api.Change{}, err
	}
	return api.Change{After: func(ctx context.Context) {
		if err := c.Files.Delete(ctx, files...); err != nil {
			c.Log.WarnContext(ctx, "files of a deleted task stay behind until the next cleaning", "task", t.ID, "error", err)
		}
	}}, nil
}

// filesOf names the objects of the task's datasets.
func filesOf(ctx context.Context, c *api.Call, taskID string) (keys []string, err error) {
	sources := []table.Source{table.Partition(record.ByTask, record.OfTask(taskID, record.KindDataset, 0))}
	err = table.Each(ctx, c.Store, record.MaxTaskDatasets, sources, func(d *record.DatasetItem) error {
		keys = append(keys, d.ObjectKeys()...)
		return nil
	})
	return keys, err
}
