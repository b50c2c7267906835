package runs

import (
	"context"

	"assay/shared/api"
	"assay/shared/record"
	"assay/shared/runs"
	"assay/shared/visibility"
)

func run(ctx context.Context, c *api.Call) (*record.RunItem, error) {
	r, _, err := visibility.Get[record.RunItem](ctx, &c.Viewer, c.Param("runId"), record.RunKey)
	return r, err
}

func show(ctx context.Context, c *api.Call, r *record.RunItem) (record.Run, error) {
	roles, err := c.Roles(ctx, r.Scope())
	if err != nil {
		return record.Run{}, err
	}
	reader := runs.Reader{Viewer: &c.Viewer, Now: c.Now()}
	return reader.ShowWithLinks(ctx, c.Files, r, roles)
}
