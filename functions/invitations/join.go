package invitations

import (
	"cmp"
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

// Membership is the answer to one who joined.
type Membership struct {
	URL              string        `json:"url" format:"uri-reference" doc:"path of the membership, or of the registration; empty in a preview without a team"`
	OrganizerID      string        `json:"organizerId" doc:"the organizer, or that of the task"`
	OrganizerName    string        `json:"organizerName"`
	Role             string        `json:"role,omitempty" enum:"owner,editor" doc:"of members of an organizer"`
	TaskID           string        `json:"taskId,omitempty" doc:"the task, of which there is none when an organizer was joined"`
	TaskName         string        `json:"taskName,omitempty"`
	Terms            *record.Terms `json:"terms,omitempty" doc:"those of the task, if it has some"`
	RegistrationID   string        `json:"registrationId,omitempty" doc:"the team; absent in a preview of one that is to be made"`
	RegistrationTeam string        `json:"team,omitempty" doc:"its name"`
}

// errGone says no more of an invitation that does not work than that.
var errGone = problem.InvalidMember("/secret", "is of no invitation that works: it was used, was withdrawn or expired, or who made it may "+
	"not invite any more. Ask for another")

// joining is a user who joins by an invitation, with what it is to: always an organizer, and a task and a team unless it is to less.
type joining struct {
	*api.Call
	*record.InvitationItem
	organizer    *record.Organizer
	task         *record.TaskItem
	team         *record.RegistrationItem
	registration *record.RegistrationDraft // of a team that is made by it
}

func createMembership(ctx context.Context, c *api.Call, _ api.PublicTarget, d MembershipDraft) (location string, made Membership,
	err error) {
	if _, err := c.Grants(ctx); err != nil {
		return "", made, err // of a user who is being deleted
	}
	j := joining{Call: c, registration: d.Registration}
	if err := j.find(ctx, d.Secret); err != nil {
		return "", made, err
	}
	scope, join := access.ScopeSubmit, j.register
	switch {
	case j.RegistrationID != "":
		join = j.joinTeam
	case j.TaskID == "":
		scope, join = access.ScopeOrganize, j.joinOrganizer
	}
	if !c.Caller.Allows(scope) {
		return "", made, problem.InsufficientScope.New("This invitation takes an access token %s, or a login.", scope)
	}
	if d.Registration != nil && (j.TaskID == "" || j.RegistrationID != "") {
		return "", made, problem.InvalidMember("/registration", "is for invitations to a task: leave it out")
	}
	if j.Use() {
		c.Tx.Save(j.InvitationItem, c.Now())
	} else {
		c.Tx.Delete(j.InvitationItem)
	}
	location, err = join(ctx)
	if err != nil {
		return "", made, err
	}
	task := cmp.Or(j.task, new(record.TaskItem))
	of := cmp.Or(j.team, new(record.RegistrationItem))
	made = Membership{
		URL:              location,
		OrganizerID:      j.OrganizerID,
		OrganizerName:    j.organizer.Name,
		Role:             j.Role,
		TaskID:           j.TaskID,
		TaskName:         task.Name,
		Terms:            task.Terms,
		RegistrationID:   of.ID,
		RegistrationTeam: of.Team,
	}
	return location, made, c.UpsertProfile(ctx)
}

// find reads the invitation with the secret, and what it is to, and refuses one that does not work. Each look-up counts as one of an
// access token that nobody has seen.
func (j *joining) find(ctx context.Context, secret string) error {
	id, digest, ok := auth.ParseInvitation(secret)
	if !ok {
		return problem.InvalidMember("/secret", "is no secret of an invitation, or not the whole of it: copy all that follows # in its link")
	}
	if wait := j.Rates.Take(j.Now(), ratelimit.Token, j.Caller.ID, true, http.Header{}); wait > 0 {
		return problem.TooManyRequests.New("You look up invitations too fast. Wait for as long as Retry-After says.").After(wait)
	}
	i, err := records.Get[record.InvitationItem](ctx, j.Store, store.Strong, record.InvitationKey(id, digest))
	if err == nil && (i == nil || !i.ExpiresAt.After(j.Now())) {
		err = errGone
	}
	if err != nil {
		return err
	}
	j.InvitationItem = i
	wanted := []records.Target{records.Into(&j.organizer, record.OrganizerKey(i.OrganizerID))}
	if i.TaskID != "" {
		wanted = append(wanted, records.Into(&j.task, record.TaskKey(i.TaskID)))
	}
	if i.RegistrationID != "" {
		wanted = append(wanted, records.Into(&j.team, record.RegistrationKey(i.TaskID, i.RegistrationID)))
	}
	if err := records.Read(ctx, j.Store, store.Strong, wanted...); err != nil {
		return err
	}
	if !j.works() {
		return errGone
	}
	return nil
}

// works reports whether what the invitation is to is there, and who made it may invite.
func (j *joining) works() bool {
	switch {
	case j.organizer == nil || j.TaskID != "" && j.task == nil:
		return false
	case j.RegistrationID != "":
		return j.team != nil && j.team.InvitationEpoch == j.Epoch &&
			(slices.Contains(j.team.Members, j.InvitedBy) || j.byOrganizer())
	case j.TaskID != "":
		return j.byOrganizer()
	default:
		return j.organizer.InvitationEpoch == j.Epoch
	}
}

// byOrganizer reports whether who made the invitation organizes the task.
func (j *joining) byOrganizer() bool {
	return j.ByAdmin || slices.Contains(j.organizer.Members, j.InvitedBy)
}

func (j *joining) joinOrganizer(ctx context.Context) (string, error) {
	o, userID := j.organizer, j.Caller.ID
	switch {
	case slices.Contains(o.Members, userID):
		return "", problem.Conflict.New("You are a member of this organizer already.")
	case len(o.Members) >= record.MaxMembers:
		return "", problem.Conflict.New("The organizer has %d members, which is the most. Ask one of its owners to remove somebody.",
			record.MaxMembers)
	}
	if err := j.CheckNext(ctx, record.MembershipGrants); err != nil {
		return "", err
	}
	path := "/v1/organizers/" + o.ID
	o.Members = append(slices.Clone(o.Members), userID)
	if j.Role == record.RoleName(true) {
		o.Owners = append(slices.Clone(o.Owners), userID)
	}
	j.Tx.Save(o, j.Now()).Create(o.Membership(userID, j.Now()))
	return path + "/members/" + userID, j.Audit(ctx, o.Scope(), record.MembersChanged, path, []string{}, []string{userID}, userID)
}

// register registers the caller, who is accepted: organizers decided that when they made the invitation. A preview without a team
// says what the invitation is to, and with which terms.
func (j *joining) register(ctx context.Context) (string, error) {
	if j.registration == nil && j.Previewing() {
		return "", nil
	} else if j.registration == nil {
		return "", problem.InvalidMember("/registration", `must have the team that takes part, such as {"team":"Lakeside"}`)
	}
	if err := j.CheckNext(ctx, record.RegistrationGrants); err != nil {
		return "", err
	}
	fault := problem.Check(j.registration.Check())
	if fault == nil {
		j.team, fault = j.change().Register(j.task, *j.registration, record.Accepted)
	}
	if fault != nil {
		return "", problem.Within("/registration", fault)
	}
	return team.Path(j.team), j.Charge(ctx, record.Charge{Kind: record.MadeRegistrations, Count: 1})
}

func (j *joining) joinTeam(ctx context.Context) (string, error) {
	if j.task.Registration.Mode == record.Closed && !j.byOrganizer() {
		return "", problem.Forbidden.New("Registration for this task is closed, so only its organizers add members to teams: ask them for an " +
			"invitation to the team.")
	}
	if err := j.CheckNext(ctx, record.RegistrationGrants); err != nil {
		return "", err
	}
	if len(j.team.Members) == 1 {
		j.Propagate(propagation.Propagator{Store: j.Store, Now: j.Now}.Registration, j.team.Key())
	}
	if err := j.change().Join(ctx, j.task, j.team, j.Caller.ID); err != nil {
		return "", err
	}
	return team.Path(j.team), j.Charge(ctx, record.Charge{Kind: record.MadeAudits, Count: 1})
}

// change is a change of a team that the caller makes in j.Tx.
func (j *joining) change() team.Change {
	return team.Change{Store: j.Store, Tx: j.Tx, Now: j.Now(), ActorID: j.Caller.ID}
}
