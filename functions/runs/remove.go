package runs

import (
	"context"

	"assay/shared/access"
	"assay/shared/api"
	"assay/shared/problem"
	"assay/shared/record"
	"assay/shared/team"
	"assay/shared/trash"
)

// remove deletes a run, which goes to the trash.
func remove(ctx context.Context, c *api.Call, r *record.RunItem) error {
	if !c.Organizes() {
		if r.Access.Published {
			return problem.Conflict.New("The review of the run is published, so only the organizers can delete the run. Ask them.")
		}
		if err := team.CheckFinalChoice(ctx, c.Store, []*record.RunItem{r}, c.Now()); err != nil {
			return err
		}
	}
	bin, path := trash.Trash{Store: c.Store, Now: c.Now}, "/v1/runs/"+r.ID
	entry := record.NewDeletion(c.Now(), record.RunInTrash, r.ID, path, r.Label, r.Scope(), c.Caller.ID, c.TargetRoles&access.Owner != 0)
	if err := bin.Run(ctx, c.Tx, r, entry); err != nil {
		return err
	}
	c.Propagate(bin.Continue, entry.Key())
	return c.AuditFree(ctx, r.Scope(), record.RunDeleted, path, r.Audited(), nil)
}
