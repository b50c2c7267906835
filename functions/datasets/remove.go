package datasets

import (
	"context"

	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/service/deletion"
)

// remove moves a dataset that no run uses to the trash.
func remove(ctx context.Context, c *api.Call, set *record.DatasetItem) error {
	d := deletion.Deleter{Store: c.Store, Now: c.Now}
	entry, err := d.DeleteDataset(ctx, c.Tx, set, c.Caller.ID)
	if err != nil {
		return err
	}
	c.Propagate(d.Continue, entry.Key())
	return c.UpsertProfile(ctx)
}
