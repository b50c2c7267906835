package datasets

import (
	"context"

	"assay/shared/access"
	"assay/shared/api"
	"assay/shared/page"
	"assay/shared/record"
	"assay/shared/visibility"
)

func list(ctx context.Context, c *api.Call, _ api.PublicTarget) (p page.Page[record.Dataset], err error) {
	sources, err := c.PartitionsFor(ctx, record.KindDataset, visibility.Filter{TaskIDs: c.Page.Values("taskId")})
	if err != nil {
		return p, err
	}
	g, err := c.Grants(ctx)
	if err != nil {
		return p, err
	}
	var keep func(*record.DatasetItem) bool
	if len(c.Page.Values("split"))+len(c.Page.Values("name")) > 0 {
		keep = func(d *record.DatasetItem) bool {
			return c.Page.Matches("split", string(d.Split)) && c.Page.MatchesText("name", d.Name)
		}
	}
	return api.PageOf(ctx, c, sources, keep, func(d *record.DatasetItem) record.Dataset {
		return d.For(access.Roles(c.Caller, g.Grants, d.Scope()))
	})
}
