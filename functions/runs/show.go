package runs

import (
	"context"

	"assay/shared/access"
	"assay/shared/api"
	"assay/shared/link"
	"assay/shared/record"
)

// show is a run as the caller sees it, with links to the files that the caller may have.
func show(ctx context.Context, c *api.Call, r *record.RunItem) (record.Run, error) {
	roles, err := c.Roles(ctx, r.Scope())
	if err != nil {
		return record.Run{}, err
	}
	v := r.For(roles)
	insider := roles&(access.Owner|access.Organizer|access.Admin) != 0
	v.Files, err = link.Files(ctx, c.Files, c.Now(), record.HolderRuns, r.ID, r.Files, insider || r.Standing.Shown(), roles&access.Owner != 0 && r.State == record.AwaitingUpload)
	return v, err
}
