package runs

import (
	"context"
	"slices"

	"assay/shared/access"
	"assay/shared/api"
	"assay/shared/problem"
	"assay/shared/queue"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

// remove deletes a run. It is not refunded, or deleting would be a way around the quota.
func remove(ctx context.Context, c *api.Call, r *record.RunItem) error {
	roles, err := c.Roles(ctx, r.Scope())
	if err != nil {
		return err
	}
	organizer := roles&(access.Organizer|access.Admin) != 0
	if r.Access.Published && !organizer {
		return problem.Conflict.New("The review of the run is published, so only the organizers can delete the run. Ask them.")
	}
	c.Tx.Delete(r).DeleteKey(record.ReviewKey(r.ID))
	for _, id := range r.Evaluations {
		queue.DeleteEvaluation(c.Tx, id)
	}
	s, err := records.Get[record.SubmissionItem](ctx, c.Store, store.Strong, record.SubmissionKey(r.SubmissionID))
	if err != nil {
		return err
	}
	if s != nil {
		s.RunIDs = slices.DeleteFunc(s.RunIDs, func(id string) bool { return id == r.ID })
		c.Tx.Save(s, c.Now())
	}
	allowance, err := records.Get[record.Allowance](ctx, c.Store, store.Strong, record.AllowanceKey(r.TaskID, r.UserID))
	if err != nil {
		return err
	}
	if allowance != nil {
		allowance.Drop(r.DatasetID)
		c.Tx.Save(allowance, c.Now())
	}
	if err := c.Account(r.UserID).Credit(ctx, record.Charge{Bytes: -r.Bytes}); err != nil {
		return err
	}
	c.DeleteFiles(r.ObjectKeys()...) // abandoned files of values per topic are deleted later
	return c.AuditFree(ctx, r.Scope(), record.RunDeleted, "/v1/runs/"+r.ID, r.Audited(), nil)
}
