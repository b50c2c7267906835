package datasets

import (
	"context"

	"assay/shared/api"
	"assay/shared/follow"
	"assay/shared/record"
)

// remove deletes a dataset that no run uses.
func remove(ctx context.Context, c *api.Call, d *record.DatasetItem) error {
	c.DeleteFiles(d.ObjectKeys()...)
	return follow.DeleteDataset(ctx, c.Store, c.Now(), d, c.Caller.ID)
}
