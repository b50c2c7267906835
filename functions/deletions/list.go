package deletions

import (
	"context"

	"assay/shared/domain/page"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
)

func list(ctx context.Context, c *api.Call, _ api.PublicTarget) (p page.Page[record.Deletion], err error) {
	sources, err := c.AllPartitions(ctx, record.KindDeletion)
	if err != nil {
		return p, err
	}
	rolesOf, err := c.RolesOf(ctx)
	if err != nil {
		return p, err
	}
	keep := func(d *record.DeletionItem) bool {
		return c.Page.Matches("organizerId", d.OrganizerID) && c.Page.Matches("taskId", d.TaskID) &&
			c.Page.Matches("kind", string(d.Kind))
	}
	return api.PageOf(ctx, c, sources, keep, func(d *record.DeletionItem) record.Deletion { return d.For(rolesOf(d.Scope())) })
}
