package deletions

import (
	"context"

	"assay/shared/api"
	"assay/shared/page"
	"assay/shared/record"
	"assay/shared/records"
)

func list(ctx context.Context, c *api.Call, _ api.PublicTarget) (p page.Page[record.Deletion], err error) {
	roles, err := c.RolesOf(ctx)
	if err != nil {
		return p, err
	}
	sources, err := c.AllPartitions(ctx, record.KindDeletion)
	if err != nil {
		return p, err
	}
	keep := func(d *record.DeletionItem) bool {
		return c.Page.Matches("taskId", d.TaskID) && c.Page.Matches("kind", string(d.Kind))
	}
	p.Cursor, err = records.List(ctx, c.Store, records.Selection{Sources: sources, Cursor: c.Page.Cursor, Limit: c.Page.Limit}, keep,
		func(d *record.DeletionItem) (bool, error) { return p.Add(d.For(roles(d.Scope()))) })
	return p, err
}
