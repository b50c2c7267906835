package invitations

import (
	"context"
	"net/http"
	"slices"

	"assay/shared/access"
	"assay/shared/api"
	"assay/shared/auth"
	"assay/shared/problem"
	"assay/shared/propagation"
	"assay/shared/ratelimit"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
	"assay/shared/team"
)

// MembershipDraft is what one who was invited sends.
type MembershipDraft struct {
	Secret       string                    `json:"secret" minLength:"1" maxLength:"200" doc:"that of the invitation: what follows # in its link"`
	Registration *record.RegistrationDraft `json:"registration,omitempty" doc:"the team that takes part, in answer to an invitation to a task; nothing in answer to others"`
}

// Check says what is wrong with the draft.
func (d *MembershipDraft) Check() []problem.Field {
	if d.Registration == nil {
		return nil
	}
	fields := d.Registration.Check()
	for i := range fields {
		fields[i].Pointer = "/registration" + fields[i].Pointer
	}
	return fields
}

// Membership is the answer to one who joined.
type Membership struct {
	URL            string `json:"url" format:"uri-reference" doc:"path of the membership, or of the registration"`
	OrganizerID    string `json:"organizerId" doc:"the organizer, or that of the task"`
	TaskID         string `json:"taskId,omitempty" doc:"the task, of which there is none when an organizer was joined"`
	RegistrationID string `json:"registrationId,omitempty" doc:"the team"`
}

// errGone says no more of an invitation that does not work than that.
var errGone = problem.InvalidMember("/secret", "is of no invitation that works: it was used, was withdrawn or expired, or who made it may "+
	"not invite any more. Ask for another")

func createMembership(ctx context.Context, c *api.Call, _ api.PublicTarget, d MembershipDraft) (location string, made Membership,
	err error) {
	if _, err := c.Grants(ctx); err != nil {
		return "", made, err // of a user who is being deleted
	}
	i, err := findSecret(ctx, c, d.Secret)
	if err != nil {
		return "", made, err
	}
	scope, join := access.ScopeSubmit, joinTask
	switch {
	case i.RegistrationID != "":
		join = joinTeam
	case i.TaskID == "":
		scope, join = access.ScopeOrganize, joinOrganizer
	}
	if !c.Caller.Allows(scope) {
		return "", made, problem.InsufficientScope.New("This invitation takes an access token %s, or a login.", scope)
	}
	if d.Registration != nil && (i.TaskID == "" || i.RegistrationID != "") {
		return "", made, problem.InvalidMember("/registration", "is for invitations to a task: leave it out")
	}
	if i.Use() {
		c.Tx.Save(i, c.Now())
	} else {
		c.Tx.Delete(i)
	}
	made = Membership{OrganizerID: i.OrganizerID, TaskID: i.TaskID, RegistrationID: i.RegistrationID}
	if err := join(ctx, c, i, d.Registration, &made); err != nil {
		return "", made, err
	}
	return made.URL, made, c.UpsertProfile(ctx)
}

// findSecret reads the invitation with the secret. Each look-up counts as one of an access token that nobody has seen.
func findSecret(ctx context.Context, c *api.Call, secret string) (*record.InvitationItem, error) {
	id, digest, ok := auth.ParseInvitation(secret)
	if !ok {
		return nil, problem.InvalidMember("/secret", "is no secret of an invitation, or not the whole of it: copy all that follows # in its link")
	}
	if wait := c.Rates.Take(c.Now(), ratelimit.Token, c.Caller.ID, true, http.Header{}); wait > 0 {
		return nil, problem.TooManyRequests.New("You look up invitations too fast. Wait for as long as Retry-After says.").After(wait)
	}
	i, err := records.Get[record.InvitationItem](ctx, c.Store, store.Strong, record.InvitationKey(id, digest))
	if err == nil && (i == nil || !i.ExpiresAt.After(c.Now())) {
		err = errGone
	}
	return i, err
}

// checkNext refuses a further grant of the kind to a caller who has the most.
func checkNext(ctx context.Context, c *api.Call, kind record.GrantKind) error {
	g, err := c.Grants(ctx)
	if err != nil {
		return err
	}
	return kind.CheckNext(g)
}

func joinOrganizer(ctx context.Context, c *api.Call, i *record.InvitationItem, _ *record.RegistrationDraft, made *Membership) error {
	o, err := records.Get[record.Organizer](ctx, c.Store, store.Strong, record.OrganizerKey(i.OrganizerID))
	switch {
	case err != nil:
		return err
	case o == nil || !i.ByAdmin && !slices.Contains(o.Owners, i.InvitedBy):
		return errGone
	case slices.Contains(o.Members, c.Caller.ID):
		return problem.Conflict.New("You are a member of this organizer already.")
	case len(o.Members) >= record.MaxMembers:
		return problem.Conflict.New("The organizer has %d members, which is the most. Ask one of its owners to remove somebody.",
			record.MaxMembers)
	}
	if err := checkNext(ctx, c, record.MembershipGrants); err != nil {
		return err
	}
	path := "/v1/organizers/" + o.ID
	made.URL = path + "/members/" + c.Caller.ID
	o.Members = append(slices.Clone(o.Members), c.Caller.ID)
	if i.Role == record.RoleName(true) {
		o.Owners = append(slices.Clone(o.Owners), c.Caller.ID)
	}
	c.Tx.Save(o, c.Now()).Create(o.Membership(c.Caller.ID, c.Now()))
	return c.Audit(ctx, o.Scope(), record.MembersChanged, path, []string{}, []string{c.Caller.ID}, c.Caller.ID)
}

// joinTask registers the caller, who is accepted: organizers decided that when they made the invitation.
func joinTask(ctx context.Context, c *api.Call, i *record.InvitationItem, d *record.RegistrationDraft, made *Membership) error {
	var t *record.TaskItem
	var o *record.Organizer
	err := records.Read(ctx, c.Store, store.Strong, records.Into(&t, record.TaskKey(i.TaskID)),
		records.Into(&o, record.OrganizerKey(i.OrganizerID)))
	switch {
	case err != nil:
		return err
	case t == nil || t.Deleting() || o == nil || !i.ByAdmin && !slices.Contains(o.Members, i.InvitedBy):
		return errGone
	case d == nil:
		return problem.InvalidMember("/registration", `must have the team that takes part, such as {"team":"Lakeside"}`)
	}
	if err := team.CheckUser(*d, c.Caller.ID, t.ID); err != nil {
		return err
	}
	if err := checkNext(ctx, c, record.RegistrationGrants); err != nil {
		return err
	}
	r, err := changeOf(c).Register(t, c.Caller.ID, *d, record.Accepted, true)
	if err != nil {
		return err
	}
	made.RegistrationID, made.URL = r.ID, team.Path(r)
	return c.Charge(ctx, record.Charge{Kind: record.MadeRegistrations, Count: 1})
}

func joinTeam(ctx context.Context, c *api.Call, i *record.InvitationItem, _ *record.RegistrationDraft, made *Membership) error {
	var t *record.TaskItem
	var r *record.RegistrationItem
	err := records.Read(ctx, c.Store, store.Strong, records.Into(&t, record.TaskKey(i.TaskID)),
		records.Into(&r, record.RegistrationKey(i.TaskID, i.RegistrationID)))
	switch {
	case err != nil:
		return err
	case t == nil || r == nil || r.UserID != i.InvitedBy:
		return errGone
	}
	if err := checkNext(ctx, c, record.RegistrationGrants); err != nil {
		return err
	}
	made.URL = team.Path(r)
	if len(r.Members) == 1 {
		c.Propagate(propagation.Propagator{Store: c.Store, Now: c.Now}.Registration, r.Key())
	}
	if err := changeOf(c).Join(ctx, t, r, c.Caller.ID); err != nil {
		return err
	}
	return c.Charge(ctx, record.Charge{Kind: record.MadeAudits, Count: 1})
}

// changeOf is a change of a team that the caller makes in c.Tx.
func changeOf(c *api.Call) team.Change {
	return team.Change{Store: c.Store, Tx: c.Tx, Now: c.Now(), ActorID: c.Caller.ID}
}
