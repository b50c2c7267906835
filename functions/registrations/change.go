package registrations

import (
	"context"

	"assay/shared/access"
	"assay/shared/api"
	"assay/shared/problem"
	"assay/shared/propagation"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
	"assay/shared/visibility"
)

// RegistrationPatch has the members of a registration that can change.
type RegistrationPatch struct {
	record.TeamDraft
	State record.RegistrationState `json:"state" enum:"accepted,pending,rejected"`
}

func change(ctx context.Context, c *api.Call, r *record.RegistrationItem, d RegistrationPatch) (*record.RegistrationItem, error) {
	roles, err := c.Roles(ctx, r.Scope())
	if err != nil {
		return nil, err
	}
	if d.State != r.State && roles&(access.Organizer|access.Admin) == 0 {
		return nil, problem.InvalidMember("/state", "is decided by the organizers of the task")
	}
	if err := problem.Check(checkOwnersMembers(r, d, roles)); err != nil {
		return nil, err
	}
	grant, err := records.Get[record.Registered](ctx, c.Store, store.Strong, record.RegisteredKey(r.UserID, r.TaskID))
	if err != nil {
		return nil, err
	}
	if grant == nil {
		return nil, visibility.Missing
	}
	changed := *r
	changed.TeamDraft, changed.State = d.TeamDraft, d.State
	if changed.Team != r.Team || changed.Anonymous != r.Anonymous || changed.Affiliation != r.Affiliation {
		c.Propagate(propagation.Propagator{Store: c.Store, Now: c.Now}.Registration, r.Key())
		changed.PendingWork = record.NewPendingWork(record.PropagateRegistration, c.Now().Add(record.RequestTime))
	}
	grant.Team, grant.Anonymous, grant.Affiliation, grant.State = changed.Team, changed.Anonymous, changed.Affiliation, changed.State
	reserveName(c, r, &changed)
	c.Tx.Save(&changed, c.Now()).Replace(grant)
	if was, is := auditedOf(r), auditedOf(&changed); was != is {
		if err := c.Audit(ctx, r.Scope(), record.RegistrationChanged, path(r), was, is); err != nil {
			return nil, err
		}
	}
	if changed.State == r.State {
		return &changed, nil
	}
	return &changed, c.Audit(ctx, r.Scope(), record.RegistrationDecided, path(r), decided{r.State}, decided{changed.State})
}

// audited has the members of an audit entry about a registration that its owner changes.
type audited struct {
	Team        string `json:"team"`
	Anonymous   bool   `json:"anonymous"`
	Affiliation string `json:"affiliation,omitempty"`
}

func auditedOf(r *record.RegistrationItem) audited {
	return audited{r.Team, r.Anonymous, r.Affiliation}
}

// checkOwnersMembers refuses what organizers may not change of another user's registration: everything except its state.
func checkOwnersMembers(r *record.RegistrationItem, d RegistrationPatch, roles access.Role) (fields problem.Fields) {
	if roles&access.Owner != 0 {
		return nil
	}
	const theirs = "is for the registered user alone to change"
	fields.AddIf(d.Affiliation != r.Affiliation, "/affiliation", theirs)
	fields.AddIf(d.Anonymous != r.Anonymous, "/anonymous", theirs)
	fields.AddIf(d.Contact != r.Contact, "/contact", theirs)
	fields.AddIf(d.Country != r.Country, "/country", theirs)
	fields.AddIf(d.Team != r.Team, "/team", theirs)
	return fields
}
