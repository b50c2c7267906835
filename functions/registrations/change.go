package registrations

import (
	"context"
	"slices"

	"assay/shared/access"
	"assay/shared/api"
	"assay/shared/problem"
	"assay/shared/propagation"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
	"assay/shared/team"
	"assay/shared/visibility"
)

// RegistrationPatch has the members of a registration that can change.
type RegistrationPatch struct {
	record.TeamDraft
	UserID string                   `json:"userId" maxLength:"26"`
	State  record.RegistrationState `json:"state" enum:"accepted,pending,rejected"`
}

func change(ctx context.Context, c *api.Call, r *record.RegistrationItem, d RegistrationPatch) (*record.RegistrationItem, error) {
	if !slices.Contains(r.Members, d.UserID) {
		return nil, problem.InvalidMember("/userId", "must be a member of the team, who then is its owner. Invite others: "+
			"POST %s/invitations", team.Path(r))
	}
	if d.State != r.State && !c.Organizes() {
		return nil, problem.InvalidMember("/state", "is decided by the organizers of the task")
	}
	if err := problem.Check(checkOwnersMembers(c, r, d)); err != nil {
		return nil, err
	}
	grants, err := records.GetAll[record.Registered](ctx, c.Store, store.Strong, r.GrantKeys()...)
	if err != nil {
		return nil, err
	}
	changed := *r
	changed.TeamDraft, changed.State = d.TeamDraft, d.State
	changed.HandOver(d.UserID)
	if d.AcceptedTerms != r.AcceptedTerms {
		t, err := visibility.Find[record.TaskItem](ctx, &c.Viewer, r.TaskID, record.TaskKey)
		if err != nil {
			return nil, err
		}
		if err := changed.Accept(t, d.AcceptedTerms, record.At(c.Now())); err != nil {
			return nil, err
		}
		c.Tx.Check(t)
	}
	if changed.Team != r.Team || changed.Anonymous != r.Anonymous || changed.Affiliation != r.Affiliation {
		c.Propagate(propagation.Propagator{Store: c.Store, Now: c.Now}.Registration, r.Key())
		changed.PendingWork = record.NewPendingWork(record.PropagateRegistration, c.Now().Add(record.RequestTime))
		shown := changed.Team
		if changed.Anonymous {
			shown = changed.Alias
		}
		c.Effect(api.Effect{Kind: api.EffectAudience, Subject: team.Path(r),
			Detail: "Others see all that was submitted under the name " + shown + "."})
	}
	for _, g := range grants {
		if g == nil {
			return nil, visibility.Missing // the registration is being withdrawn
		}
		g.Team = changed.Team
		g.Anonymous = changed.Anonymous
		g.Affiliation = changed.Affiliation
		g.State = changed.State
		c.Tx.Replace(g)
	}
	changeOf(c).ReserveName(r, &changed)
	c.Tx.Save(&changed, c.Now())
	if was, is := auditedOf(r), auditedOf(&changed); was != is {
		if err := c.Audit(ctx, r.Scope(), record.RegistrationChanged, team.Path(r), was, is); err != nil {
			return nil, err
		}
	}
	if changed.State == r.State {
		return &changed, nil
	}
	c.Tx.Create(record.NewEvent(c.Now(), record.EventRegistrationDecided, r.Scope(), team.Path(r)))
	return &changed, c.Audit(ctx, r.Scope(), record.RegistrationDecided, team.Path(r), team.Decided{State: r.State},
		team.Decided{State: changed.State})
}

// audited has the members of an audit entry about a registration that its owner changes.
type audited struct {
	UserID      string `json:"userId"`
	Team        string `json:"team"`
	Anonymous   bool   `json:"anonymous"`
	Affiliation string `json:"affiliation,omitempty"`

	AcceptedTerms int64 `json:"acceptedTerms,omitempty"`
}

func auditedOf(r *record.RegistrationItem) audited {
	return audited{
		UserID:        r.UserID,
		Team:          r.Team,
		Anonymous:     r.Anonymous,
		Affiliation:   r.Affiliation,
		AcceptedTerms: r.AcceptedTerms,
	}
}

// checkOwnersMembers refuses what is for the owner of the team to change. Organizers can hand it over.
func checkOwnersMembers(c *api.Call, r *record.RegistrationItem, d RegistrationPatch) (fields problem.Fields) {
	if ownsTeam(c, r) {
		return nil
	}
	fields.AddIf(d.AcceptedTerms != r.AcceptedTerms && c.TargetRoles&access.Owner == 0, "/acceptedTerms",
		"is for the members of the team alone to set")
	const theirs = "is for the owner of the team alone to change"
	fields.AddIf(d.UserID != r.UserID && !c.Organizes(), "/userId", theirs)
	fields.AddIf(d.Affiliation != r.Affiliation, "/affiliation", theirs)
	fields.AddIf(d.Anonymous != r.Anonymous, "/anonymous", theirs)
	fields.AddIf(d.Contact != r.Contact, "/contact", theirs)
	fields.AddIf(d.Country != r.Country, "/country", theirs)
	fields.AddIf(d.Team != r.Team, "/team", theirs)
	return fields
}

// ownsTeam reports whether the caller, who changes the team, is the owner of the team. Every member has the role of an owner.
func ownsTeam(c *api.Call, r *record.RegistrationItem) bool {
	return c.TargetRoles&access.Owner != 0 && c.Caller.ID == r.UserID
}
