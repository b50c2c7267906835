package runs

import (
	"context"

	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/service/runview"
)

func show(ctx context.Context, c *api.Call, r *record.RunItem) (record.Run, error) {
	roles, err := c.Roles(ctx, r.Scope())
	if err != nil {
		return record.Run{}, err
	}
	reader := runview.Reader{Viewer: &c.Viewer, Now: c.Now()}
	return reader.ShowWithLinks(ctx, c.Files, r, roles)
}
