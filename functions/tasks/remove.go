package tasks

import (
	"context"

	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/language/problem"
	"assay/shared/service/deletion"
)

// remove moves a task to the trash, with everything in it. If the request ends before everything is moved, the background
// worker continues.
func remove(ctx context.Context, c *api.Call, t *record.TaskItem) error {
	with := c.Page.Value("with")
	if name := c.Page.Value("name"); with != "" && name != t.Name {
		return problem.Conflict.New("%q is not the current name of the task, so nothing was deleted. Give its current name to delete "+
			"it with all its submissions.", name)
	}
	d := deletion.Deleter{Store: c.Store, Now: c.Now}
	entry, err := d.DeleteTask(ctx, c.Tx, t, c.Caller.ID, with != "")
	if err != nil {
		return err
	}
	c.Propagate(d.Continue, entry.Key())
	return c.UpsertProfile(ctx)
}
