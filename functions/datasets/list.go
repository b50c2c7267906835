package datasets

import (
	"context"

	"assay/shared/domain/access"
	"assay/shared/domain/page"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
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
	rolesOf := func(d *record.DatasetItem) (access.Role, error) {
		roles, _, err := c.InputRoles(ctx, d)
		return roles, err
	}
	return api.PageAs(ctx, c, sources, keep, rolesOf)
}
