package runs

import (
	"context"
	"slices"

	"assay/shared/access"
	"assay/shared/api"
	"assay/shared/problem"
	"assay/shared/queue"
	"assay/shared/quota"
	"assay/shared/record"
	"assay/shared/store"
	"assay/shared/table"
)

// runDraft is what a client can change of a run.
type runDraft struct {
	Label string          `json:"label" maxLength:"200"`
	State record.RunState `json:"state" enum:"awaiting-upload,queued,running,evaluating,completed,failed,cancelled" doc:"cancelled, or as it is"`
}

func change(ctx context.Context, c *api.Call, r *record.RunItem, d runDraft) (*record.RunItem, api.Change, error) {
	if err := problem.Check(record.CheckLabel(d.Label)); err != nil {
		return nil, api.Change{}, err
	}
	changed, tx := r, new(table.Tx)
	switch {
	case d.State == r.State:
	case d.State == record.Cancelled:
		changed, tx, err := queue.Cancel(ctx, c.Store, c.Now(), labelled(r, d))
		return changed, api.Change{Tx: tx}, err
	default:
		return nil, api.Change{}, problem.Check([]problem.Field{{Pointer: "/state", Detail: "can only be set to cancelled"}})
	}
	if d.Label == r.Label {
		return changed, api.Change{Tx: tx}, nil
	}
	changed = labelled(r, d)
	tx.Save(changed, c.Now())
	return changed, api.Change{Tx: tx}, eachEvaluation(ctx, c, r, tx, func(e *record.EvaluationItem) { e.Label = d.Label })
}

func labelled(r *record.RunItem, d runDraft) *record.RunItem {
	changed := *r
	changed.Label = d.Label
	return &changed
}

// remove deletes a run. It is not refunded, or deleting would be a way around the quota.
func remove(ctx context.Context, c *api.Call, r *record.RunItem) (api.Change, error) {
	roles, err := c.Roles(ctx, r.Scope())
	if err != nil {
		return api.Change{}, err
	}
	organizer := roles&(access.Organizer|access.Admin) != 0
	if r.Standing.Published && !organizer {
		return api.Change{}, problem.Conflict.New("The review of the run is published, so only the organizers can delete the run. Ask them.")
	}
	tx := new(table.Tx).Delete(r).DeleteKey(record.ReviewKey(r.ID))
	for _, id := range r.Evaluations {
		queue.Forget(tx, id)
	}
	s, err := table.Get[record.SubmissionItem](ctx, c.Store, store.Strong, record.SubmissionKey(r.SubmissionID))
	if err != nil {
		return api.Change{}, err
	}
	if s != nil {
		s.RunIDs = slices.DeleteFunc(s.RunIDs, func(id string) bool { return id == r.ID })
		tx.Save(s, c.Now())
	}
	allowance, err := table.Get[record.Allowance](ctx, c.Store, store.Strong, record.AllowanceKey(r.TaskID, r.UserID))
	if err != nil {
		return api.Change{}, err
	}
	if allowance != nil {
		allowance.Drop(r.DatasetID)
		tx.Save(allowance, c.Now())
	}
	if err := quota.Credit(ctx, c.Store, c.Now(), tx, r.UserID, record.Charge{Bytes: -r.Bytes}); err != nil {
		return api.Change{}, err
	}
	entry := record.NewAudit(c.Now(), r.Scope(), c.Caller.ID, record.RunDeleted, "/v1/runs/"+r.ID, r.Audited(), nil)
	return api.Change{Tx: tx, After: func(ctx context.Context) { dropFiles(ctx, c, r) }}, c.AuditFree(ctx, tx, entry)
}

// dropFiles deletes the files of a run that is no more. What it misses, and values per topic that stand in files, the
// cleaning of files that no record names finds.
func dropFiles(ctx context.Context, c *api.Call, r *record.RunItem) {
	if err := c.Files.Delete(ctx, r.ObjectKeys()...); err != nil {
		c.Log.WarnContext(ctx, "files of a deleted run stay behind", "run", r.ID, "error", err)
	}
}
