package deletions

import (
	"context"

	"assay/shared/api"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/trash"
)

// removeEntry restores what was deleted. It works with transactions of its own, each of which requires that the entry is as it was found.
func removeEntry(ctx context.Context, c *api.Call, d *record.DeletionItem) error {
	if err := c.UpsertProfile(ctx); err != nil {
		return err
	}
	if err := c.Tx.Commit(ctx, c.Store); err != nil {
		return err
	}
	c.Tx = new(records.Tx)
	bin := trash.Trash{Store: c.Store, Now: c.Now}
	if c.Organizes() {
		return bin.Restore(ctx, d.Key(), c.Caller.ID)
	}
	return bin.RestoreForTeam(ctx, d.Key(), c.Caller.ID)
}
