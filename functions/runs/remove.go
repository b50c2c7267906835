package runs

import (
	"context"

	"assay/shared/access"
	"assay/shared/api"
	"assay/shared/deletion"
	"assay/shared/problem"
	"assay/shared/record"
)

// remove deletes a run.
func remove(ctx context.Context, c *api.Call, r *record.RunItem) error {
	roles, err := c.Roles(ctx, r.Scope())
	if err != nil {
		return err
	}
	organizer := roles&(access.Organizer|access.Admin) != 0
	if r.Access.Published && !organizer {
		return problem.Conflict.New("The review of the run is published, so only the organizers can delete the run. Ask them.")
	}
	if err := (deletion.Deleter{Store: c.Store, Now: c.Now}).Run(ctx, c.Tx, r); err != nil {
		return err
	}
	c.DeleteFiles(r.ObjectKeys()...) // abandoned files of values per topic are deleted later
	return c.AuditFree(ctx, r.Scope(), record.RunDeleted, "/v1/runs/"+r.ID, r.Audited(), nil)
}
