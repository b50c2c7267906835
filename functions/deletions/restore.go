package deletions

import (
	"context"

	"assay/shared/api"
	"assay/shared/deletion"
	"assay/shared/record"
)

// restore restores the resource of an entry. If the request ends before that, the evaluator continues.
func restore(ctx context.Context, c *api.Call, entry *record.DeletionItem) error {
	d := deletion.Deleter{Store: c.Store, Now: c.Now}
	addTo := d.RestoreForTeam
	if c.Organizes() {
		addTo = d.Restore
	}
	if err := addTo(ctx, c.Tx, entry, c.Caller.ID); err != nil {
		return err
	}
	c.Propagate(d.Continue, entry.Key())
	return c.UpsertProfile(ctx)
}
