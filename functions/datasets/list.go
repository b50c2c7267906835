package datasets

import (
	"context"

	"assay/shared/domain/page"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/service/records"
	"assay/shared/service/visibility"
)

func list(ctx context.Context, c *api.Call, _ api.PublicTarget) (p page.Page[record.Dataset], err error) {
	sources, err := c.PartitionsFor(ctx, record.KindDataset, visibility.Filter{TaskIDs: c.Page.Values("taskId")})
	if err != nil {
		return p, err
	}
	keep := func(d *record.DatasetItem) bool {
		return c.Page.Matches("split", string(d.Split)) && c.Page.MatchesText("name", d.Name)
	}
	selection := records.Selection{Sources: sources, Cursor: c.Page.Cursor, Limit: c.Page.Limit}
	p.Cursor, err = records.List(ctx, c.Store, selection, keep, func(d *record.DatasetItem) (bool, error) {
		roles, _, err := c.InputRoles(ctx, d)
		if err != nil {
			return false, err
		}
		return p.Add(d.For(roles))
	})
	return p, err
}
