package datasets

import (
	"context"

	"assay/shared/api"
	"assay/shared/deletion"
	"assay/shared/record"
)

// remove deletes a dataset that no run uses, which goes to the trash.
func remove(ctx context.Context, c *api.Call, d *record.DatasetItem) error {
	return deletion.Deleter{Store: c.Store, Now: c.Now}.Dataset(ctx, d, c.Caller.ID)
}
