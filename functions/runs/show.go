package runs

import (
	"context"

	"assay/shared/api"
	"assay/shared/record"
	"assay/shared/runview"
)

func show(ctx context.Context, c *api.Call, r *record.RunItem) (record.Run, error) {
	roles, err := c.Roles(ctx, r.Scope())
	if err != nil {
		return record.Run{}, err
	}
	reader := runview.Reader{Viewer: &c.Viewer, Now: c.Now()}
	return reader.ShowWithLinks(ctx, c.Files, r, roles)
}
