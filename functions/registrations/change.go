package registrations

import (
	"context"
	"slices"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/language/problem"
	"assay/shared/service/propagation"
	"assay/shared/service/records"
	"assay/shared/service/team"
	"assay/shared/service/visibility"
	"assay/shared/storage/store"
)

// RegistrationPatch holds the members of a registration that clients can change.
type RegistrationPatch struct {
	record.TeamDraft
	UserID string                   `json:"userId" maxLength:"26"`
	State  record.RegistrationState `json:"state" enum:"accepted,pending,rejected"`
}

// change applies a patch to the registration of a team, and copies the result to the grant of each member.
func change(ctx context.Context, c *api.Call, old *record.RegistrationItem, p RegistrationPatch) (*record.RegistrationItem, error) {
	if err := checkPatch(c, old, p); err != nil {
		return nil, err
	}
	changed := *old
	changed.TeamDraft = p.TeamDraft
	changed.State = p.State
	changed.HandOver(p.UserID)
	if err := acceptTerms(ctx, c, old, &changed); err != nil {
		return nil, err
	}
	if changed.State != old.State || changed.AcceptedTerms != old.AcceptedTerms {
		changed.Left = nil // The remaining quota depends on both, so it is read again.
	}
	if changed.Team != old.Team || changed.Anonymous != old.Anonymous || changed.Affiliation != old.Affiliation {
		rename(c, old, &changed)
	}
	if err := updateGrants(ctx, c, old, &changed); err != nil {
		return nil, err
	}
	changeOf(c).ReserveName(old, &changed)
	c.Tx.Save(&changed, c.Now())
	if err := noteResults(ctx, c, old, &changed); err != nil {
		return nil, err
	}
	return &changed, audit(ctx, c, old, &changed)
}

// checkPatch refuses changes that the caller may not make. The owner of the team changes every member except the state, which only
// organizers change. The owner of a rejected team only hands it over and changes whether it is anonymous. Organizers also hand the team
// over to another member. Members only accept terms.
func checkPatch(c *api.Call, r *record.RegistrationItem, p RegistrationPatch) error {
	if !slices.Contains(r.Members, p.UserID) {
		return problem.InvalidMember("/userId", "must be a member of the team, who then is its owner. Invite others: %s",
			problem.CreateTeamInvitation.With(r.TaskID, r.ID))
	}
	if p.State != r.State && !c.Organizes() {
		return problem.InvalidMember("/state", "is decided by the organizers of the task")
	}
	if r.State == record.Rejected && !c.Organizes() {
		kept := p.TeamDraft
		kept.Anonymous = r.Anonymous
		if kept != r.TeamDraft {
			return problem.Conflict.New("The organizers rejected this team's registration, so its details no longer change. Ask them about it.")
		}
	}
	if ownsTeam(c, r) {
		return nil
	}
	const reserved = "can only be changed by the owner of the team"
	var fields problem.Fields
	fields.AddIf(p.AcceptedTerms != r.AcceptedTerms && c.TargetRoles&access.Owner == 0, "/acceptedTerms",
		"can only be set by members of the team")
	fields.AddIf(p.UserID != r.UserID && !c.Organizes(), "/userId", reserved)
	fields.AddIf(p.Affiliation != r.Affiliation, "/affiliation", reserved)
	fields.AddIf(p.Anonymous != r.Anonymous, "/anonymous", reserved)
	fields.AddIf(p.Contact != r.Contact, "/contact", reserved)
	fields.AddIf(p.Country != r.Country, "/country", reserved)
	fields.AddIf(p.Team != r.Team, "/team", reserved)
	return problem.Check(fields)
}

// ownsTeam reports whether the caller is the owner of the team. The role access.Owner does not tell, because every member has it.
func ownsTeam(c *api.Call, r *record.RegistrationItem) bool {
	return c.TargetRoles&access.Owner != 0 && c.Caller.ID == r.UserID
}

// acceptTerms records that the team accepts the terms of the task. It adds to c.Tx the condition that the task has not changed since.
func acceptTerms(ctx context.Context, c *api.Call, old, changed *record.RegistrationItem) error {
	version := changed.AcceptedTerms
	if version == old.AcceptedTerms {
		return nil
	}
	t, err := visibility.Find[record.TaskItem](ctx, &c.Viewer, old.TaskID, record.TaskKey)
	if err != nil {
		return err
	}
	if err := changed.Accept(t, version, record.At(c.Now())); err != nil {
		return err
	}
	c.Tx.Check(t)
	return nil
}

// rename propagates the name, anonymity and affiliation of a team to its submissions, runs and evaluations, after the transaction. The work
// is pending in the registration, so that it is resumed if the request ends before.
func rename(c *api.Call, old, changed *record.RegistrationItem) {
	c.Propagate(propagation.Propagator{Store: c.Store, Now: c.Now}.Registration, old.Key())
	changed.PendingWork = record.NewPendingWork(record.PropagateRegistration, c.Now().Add(record.RequestTime))
	noteNames(c, old, changed)
}

// updateGrants copies the changed registration to the grants of all members in c.Tx. A missing grant means that the registration is being
// withdrawn.
func updateGrants(ctx context.Context, c *api.Call, old, changed *record.RegistrationItem) error {
	grants, err := records.GetAll[record.Registered](ctx, c.Store, store.Strong, old.GrantKeys()...)
	if err != nil {
		return err
	}
	for _, g := range grants {
		if g == nil {
			return visibility.Missing
		}
		g.Team = changed.Team
		g.Anonymous = changed.Anonymous
		g.Affiliation = changed.Affiliation
		g.State = changed.State
		c.Tx.Replace(g)
	}
	return nil
}

// audited holds the members of an audit entry about a registration that its owner changes.
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

// audit adds to c.Tx an audit entry for a change by the team, an entry for a decision of the organizers, and the event of the decision.
func audit(ctx context.Context, c *api.Call, old, changed *record.RegistrationItem) error {
	if was, is := auditedOf(old), auditedOf(changed); was != is {
		var owner []string // the new one; the scope of the registration has the former
		if is.UserID != was.UserID {
			owner = []string{is.UserID}
		}
		if err := c.Audit(ctx, old.Scope(), record.RegistrationChanged, team.Path(old), was, is, owner...); err != nil {
			return err
		}
	}
	if changed.State == old.State {
		return nil
	}
	c.Tx.Create(record.NewEvent(c.Now(), record.EventRegistrationDecided, old.Scope(), team.Path(old)))
	return c.Audit(ctx, old.Scope(), record.RegistrationDecided, team.Path(old), team.Decided{State: old.State},
		team.Decided{State: changed.State})
}
