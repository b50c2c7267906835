package registrations

import (
	"context"

	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/language/problem"
	"assay/shared/service/team"
)

// initialState returns the first state of a registration, or the reason why the caller cannot register.
func initialState(c *api.Call, t *record.TaskItem) (record.RegistrationState, error) {
	if c.Organizes() {
		return record.Accepted, nil
	}
	rules := t.Registration
	if err := record.CheckWindow("Registration", rules.OpensAt, rules.ClosesAt, c.Now()); err != nil {
		return "", err
	}
	switch rules.Mode {
	case record.Closed:
		return "", problem.Forbidden.New("Registration for this task is closed: ask its organizers for an invitation.")
	case record.Approval:
		return record.Pending, nil
	default:
		return record.Accepted, nil
	}
}

func create(ctx context.Context, c *api.Call, t *record.TaskItem, d record.RegistrationDraft) (at string, shown *record.Registration,
	err error) {
	begins, err := initialState(c, t)
	if err != nil {
		return "", nil, err
	}
	if err := c.CheckNext(ctx, record.RegistrationGrants); err != nil {
		return "", nil, err
	}
	if err := changeOf(c).CheckRejected(ctx, t.ID); err != nil {
		return "", nil, err
	}
	g, err := c.Grants(ctx)
	if err != nil {
		return "", nil, err
	}
	change := changeOf(c)
	change.Ended = g.EndedIn(t.ID)
	r, err := change.Register(t, d, begins)
	if err != nil {
		return "", nil, err
	}
	if r.State == record.Pending {
		c.Tx.Create(record.NewEvent(c.Now(), record.EventRegistrationPending, r.Scope(), team.Path(r)))
	}
	if err := c.Charge(ctx, record.Charge{Kind: record.MadeRegistrations, Count: 1}); err != nil {
		return "", nil, err
	}
	return team.Path(r), r.For(c.TargetRoles), c.UpsertProfile(ctx)
}
