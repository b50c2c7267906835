package runs

import (
	"context"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/language/problem"
	"assay/shared/service/queue"
)

// runDraft holds the members of a run that clients can change.
type runDraft struct {
	Label string          `json:"label" maxLength:"200"`
	Final bool            `json:"final,omitempty" doc:"a final run of its team; each team has at most finalRuns of the dataset"`
	State record.RunState `json:"state" enum:"awaiting-upload,queued,running,evaluating,completed,failed,cancelled" doc:"cancelled, or the current state"`
}

func change(ctx context.Context, c *api.Call, r *record.RunItem, d runDraft) (*record.RunItem, error) {
	if err := problem.Check(record.CheckLabel(d.Label)); err != nil {
		return nil, err
	}
	changed := *r
	changed.Label, changed.Final = d.Label, d.Final
	if d.State != r.State {
		return cancel(ctx, c, r, &changed, d)
	}
	if d.Final != r.Final {
		if err := mark(ctx, c, r, d.Final); err != nil {
			return nil, err
		}
	}
	c.Tx.Save(&changed, c.Now())
	if err := audit(ctx, c, r, &changed); err != nil {
		return nil, err
	}
	return &changed, eachEvaluation(ctx, c, r, func(e *record.EvaluationItem) { e.Label, e.Final = d.Label, d.Final })
}

// cancel cancels a run. Clients cannot change the state in another way.
func cancel(ctx context.Context, c *api.Call, r, changed *record.RunItem, d runDraft) (*record.RunItem, error) {
	switch {
	case d.State != record.Cancelled:
		return nil, problem.InvalidMember("/state", "can only be set to cancelled")
	case d.Final != r.Final:
		return nil, problem.InvalidMember("/final", "cannot change together with {state}: send two patches")
	}
	cancelled, err := queue.Queue{Store: c.Store, Now: c.Now}.Cancel(ctx, changed, c.Tx)
	if err != nil {
		return nil, err
	}
	return cancelled, audit(ctx, c, r, cancelled)
}

// audit adds an audit entry to c.Tx. Labels and cancellations by members of the run's team have no entry. Marks of final runs have one,
// because they decide which runs the organizers rank.
func audit(ctx context.Context, c *api.Call, before, after *record.RunItem) error {
	if c.TargetRoles&access.Owner != 0 && after.Final == before.Final {
		return nil
	}
	return c.Audit(ctx, before.Scope(), record.RunChanged, "/v1/runs/"+before.ID, before.Audited(), after.Audited())
}
