package organizers

import (
	"context"

	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/service/deletion"
)

// remove deletes an organizer without tasks, and its audit entries. The log records the deletion.
func remove(ctx context.Context, c *api.Call, o *record.Organizer) error {
	d := deletion.Deleter{Store: c.Store, Now: c.Now}
	c.After(func(ctx context.Context) {
		c.Log.InfoContext(ctx, "organizer deleted", "organizer", o.ID, "name", o.Name, "user", c.Caller.ID)
		if err := d.SweepOrganizer(ctx, o); err != nil {
			c.Log.WarnContext(ctx, "grants, audit entries or webhooks of an organizer were not deleted", "organizer", o.ID, "error", err)
		}
	})
	return d.DeleteOrganizer(ctx, c.Tx, o)
}
