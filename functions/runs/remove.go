package runs

import (
	"context"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/language/problem"
	"assay/shared/service/deletion"
	"assay/shared/service/team"
)

// remove moves a run to the trash.
func remove(ctx context.Context, c *api.Call, r *record.RunItem) error {
	if !c.Organizes() {
		if r.Access.Published {
			return problem.Conflict.New("The review of the run is published, so only the organizers can delete the run. Ask them.")
		}
		if _, err := team.CheckFinalChoice(ctx, c.Store, []*record.RunItem{r}, c.Now()); err != nil {
			return err
		}
	}
	d := deletion.Deleter{Store: c.Store, Now: c.Now}
	entry, err := d.DeleteRun(ctx, c.Tx, r, c.Caller.ID, c.TargetRoles&access.Owner != 0)
	if err != nil {
		return err
	}
	c.Propagate(d.Continue, entry.Key())
	return c.UpsertProfile(ctx)
}
