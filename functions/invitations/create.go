package invitations

import (
	"cmp"
	"context"

	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/edge/auth"
	"assay/shared/language/problem"
	"assay/shared/service/allowance"
	"assay/shared/service/records"
	"assay/shared/service/team"
	"assay/shared/storage/store"
)

// NewInvitation is the answer to the creation of an invitation. No other answer has the secret.
type NewInvitation struct {
	record.Invitation
	Link string `json:"link,omitempty" format:"uri" doc:"page on which invited users sign in and join; it contains the secret"`
	// ClosedAt is nil while the task takes submissions of the team, or will, and for invitations to organizers.
	ClosedAt *record.Instant `json:"closedAt,omitempty" doc:"when the last dataset of the task closed for the team, or for a new team of an invitation to the task: nobody can join the team, and a new team cannot submit, unless the organizers move a close or grant the team a later one; absent while one takes submissions of the team, or will, and for invitations to organizers"`
	// State is the state of the team, in an invitation to a team.
	State record.RegistrationState `json:"state,omitempty" enum:"accepted,pending" doc:"state of the team's registration: a team takes part once it is accepted; absent for invitations to organizers and tasks"`

	Secret string `json:"secret,omitempty" doc:"secret that invited users send to POST /v1/user/memberships. It is shown only once; an answer that is repeated for its Idempotency-Key lacks it" example:"assay-invitation_01JZ3V7Q0D8T5RZ0S6R1W9C4XKABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFG"`
}

// WithoutSecret returns the answer that may be stored.
func (n NewInvitation) WithoutSecret() any { return n.Invitation }

// withdrawing is the request that ends one of the invitations to the same team, task or organizer.
func withdrawing(i *record.InvitationItem) problem.Part {
	switch {
	case i.RegistrationID != "":
		return problem.DeleteTeamInvitation.With(i.TaskID, i.RegistrationID)
	case i.TaskID != "":
		return problem.DeleteTaskInvitation.With(i.TaskID)
	default:
		return problem.DeleteOrganizerInvitation.With(i.OrganizerID)
	}
}

// audited holds the members of an audit entry about an invitation.
type audited struct {
	Role string `json:"role,omitempty"`
	Uses int    `json:"uses"`
}

func create[T api.Target](ctx context.Context, c *api.Call, t T, d record.InvitationDraft) (location string, made NewInvitation,
	err error) {
	if err := made.check(ctx, c, t); err != nil {
		return "", made, err
	}
	i := to(t)
	if err := d.Complete(c.Now(), i.TaskID == ""); err != nil {
		return "", made, err
	}
	open, ended, err := stored(ctx, c, t)
	if err != nil {
		return "", made, err
	}
	for _, i := range ended[:min(len(ended), record.MaxInvitations)] {
		c.Tx.DeleteKeys(i.Key())
	}
	if len(open) >= record.MaxInvitations {
		return "", made, problem.Conflict.New("There are %d invitations, which is the most. Withdraw one first: %s.", len(open), withdrawing(i))
	}
	i.Meta = record.NewMeta(c.Now())
	i.InvitationDraft = d
	i.InvitedBy = c.Caller.ID
	i.ByAdmin = c.Caller.Admin
	made.Secret, i.Digest = auth.NewInvitation(i.To())
	made.Invitation = i.Invitation
	made.Link = c.BaseURL() + record.InvitationLink(made.Secret)
	if d.Email != "" {
		if err := countAddress(ctx, c, i); err != nil {
			return "", made, err
		}
		e := record.NewEvent(c.Now(), record.EventInvitationCreated, i.Scope(), i.Path())
		e.Secret = made.Secret
		c.Tx.Create(e)
	}
	c.Tx.Create(i)
	return i.Path(), made, c.Audit(ctx, i.Scope(), record.InvitationCreated, i.Path(), nil, audited{i.Role, i.Uses})
}

// check refuses invitations to a team that nobody could join by them. It sets the state of the team, and when its task closed.
func (n *NewInvitation) check(ctx context.Context, c *api.Call, target api.Target) (err error) {
	switch of := target.(type) {
	case *record.TaskItem:
		n.ClosedAt, err = team.Closed(ctx, c.Store, of, nil, c.Now())
	case *record.RegistrationItem:
		n.State = of.State
		err = n.checkTeam(ctx, c, of)
	}
	return err
}

func (n *NewInvitation) checkTeam(ctx context.Context, c *api.Call, r *record.RegistrationItem) error {
	switch {
	case r.State == record.Rejected && c.Organizes():
		return problem.Conflict.New("This team's registration is rejected, so nobody can join it. Accept it first: %s.",
			problem.UpdateRegistration.With(r.TaskID, r.ID).Setting("state", record.Accepted))
	case r.State == record.Rejected:
		return team.ErrNobodyJoins
	}
	t, err := records.Get[record.TaskItem](ctx, c.Store, store.Strong, record.TaskKey(r.TaskID))
	switch {
	case err != nil || t == nil:
		return err
	case t.Registration.Mode == record.Closed && !c.Organizes():
		return errTeamClosed
	}
	used, err := allowance.Of(ctx, c.Store, store.Strong, r.Scope())
	if err != nil {
		return err
	}
	n.ClosedAt, err = team.Closed(ctx, c.Store, t, used, c.Now())
	return err
}

// countAddress counts an invitation to an e-mail address. It does not look up the address, so nobody learns whether it belongs to a user.
func countAddress(ctx context.Context, c *api.Call, i *record.InvitationItem) error {
	a, err := records.Get[record.Addressed](ctx, c.Store, store.Strong, record.AddressedKey(i.CountedFor()))
	if err != nil {
		return err
	}
	a = cmp.Or(a, &record.Addressed{Meta: record.MetaOf(i.CountedFor(), c.Now())})
	if err := a.Add(i.ID, c.Now()); err != nil {
		return err
	}
	c.Tx.Save(a, c.Now())
	return nil
}
