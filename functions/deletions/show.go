package deletions

import (
	"context"

	"assay/shared/api"
	"assay/shared/record"
)

func show(ctx context.Context, c *api.Call, d *record.DeletionItem) (record.Deletion, error) {
	roles, err := c.Roles(ctx, d.Scope())
	return d.For(roles), err
}
