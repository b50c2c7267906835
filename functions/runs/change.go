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
	"assay/shared/records"
	"assay/shared/store"
)

// runDraft is what a client can change of a run.
type runDraft struct {
	Label string          `json:"label" maxLength:"200"`
	State record.RunState `json:"state" enum:"awaiting-upload,queued,running,evaluating,completed,failed,cancelled" doc:"cancelled, or as it is"`
}

func change(ctx context.Context, c *api.Call, r *record.RunItem, d runDraft) (*record.RunItem, error) {
	if err := problem.Check(record.CheckLabel(d.Label)); err != nil {
		return nil, err
	}
	switch {
	case d.State == r.State:
	case d.State == record.Cancelled:
		cancelled, err := queue.Queue{Store: c.Store, Now: c.Now}.Cancel(ctx, labelled(r, d), c.Tx)
		if err != nil {
			return nil, err
		}
		return cancelled, audit(ctx, c, r, cancelled)
	default:
		return nil, problem.Check([]problem.Field{{Pointer: "/state", Detail: "can only be set to cancelled"}})
	}
	if d.Label == r.Label {
		return r, nil
	}
	changed := labelled(r, d)
	c.Tx.Save(changed, c.Now())
	if err := audit(ctx, c, r, changed); err != nil {
		return nil, err
	}
	return changed, eachEvaluation(ctx, c, r, func(e *record.EvaluationItem) { e.Label = d.Label })
}

// audit keeps that somebody else than its owner has changed a run.
func audit(ctx context.Context, c *api.Call, before, after *record.RunItem) error {
	if c.Caller.ID == before.UserID {
		return nil
	}
	return c.Audit(ctx, before.Scope(), record.RunChanged, "/v1/runs/"+before.ID, before.Audited(), after.Audited())
}

func labelled(r *record.RunItem, d runDraft) *record.RunItem {
	changed := *r
	changed.Label = d.Label
	return &changed
}

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
	if err := quota.Credit(ctx, c.Store, c.Now(), c.Tx, r.UserID, record.Charge{Bytes: -r.Bytes}); err != nil {
		return err
	}
	c.DeleteFiles(r.ObjectKeys()...) // values per topic that stand in files, the cleaning of files that no record names finds
	return c.AuditFree(ctx, r.Scope(), record.RunDeleted, "/v1/runs/"+r.ID, r.Audited(), nil)
}
