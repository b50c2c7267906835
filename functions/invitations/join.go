package invitations

import (
	"context"
	"net/http"
	"slices"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/edge/auth"
	"assay/shared/edge/ratelimit"
	"assay/shared/language/problem"
	"assay/shared/service/propagation"
	"assay/shared/service/records"
	"assay/shared/service/team"
	"assay/shared/storage/store"
)

// MembershipDraft is the request of a user who joins by an invitation.
type MembershipDraft struct {
	Secret       string                    `json:"secret" minLength:"1" maxLength:"200" doc:"secret of the invitation: the text after # in its link"`
	Registration *record.RegistrationDraft `json:"registration,omitempty" doc:"the team that takes part, for an invitation to a task; absent for other invitations"`
}

// Membership is the answer to a user who joined.
type Membership struct {
	URL              string        `json:"url" format:"uri-reference" doc:"path of the membership, or of the registration; empty in a preview without a team"`
	OrganizerID      string        `json:"organizerId" doc:"the organizer, or the organizer of the task"`
	OrganizerName    string        `json:"organizerName"`
	Role             string        `json:"role,omitempty" enum:"owner,editor" doc:"role in the organizer; absent for invitations to tasks and teams"`
	TaskID           string        `json:"taskId,omitempty" doc:"the task; absent for an invitation to an organizer"`
	TaskName         string        `json:"taskName,omitempty"`
	Terms            *record.Terms `json:"terms,omitempty" doc:"terms of the task, if it has any"`
	RegistrationID   string        `json:"registrationId,omitempty" doc:"registration of the team; absent in a preview that registers a new team"`
	RegistrationTeam string        `json:"team,omitempty" doc:"name of the team"`
	// State is empty without a team.
	State record.RegistrationState `json:"state,omitempty" enum:"accepted,pending" doc:"state of the team's registration: a team takes part once it is accepted; absent without a team"`
	// ClosedAt is nil while the task takes submissions of a new team, or will, and for other invitations.
	ClosedAt *record.Instant `json:"closedAt,omitempty" doc:"for an invitation to a task: when its last dataset closed, so that a new team cannot submit; absent while one takes submissions, or will"`
}

// errGone does not say why the invitation does not work, so that it reveals nothing about the invitation.
var errGone = problem.Invalid.New("This invitation no longer works. It was used, was withdrawn or has expired, or its sender may no " +
	"longer invite. Unless you have joined by it already, ask the person who invited you for a new link.")

// joining is the request of a user who joins by an invitation. The organizer is always set. The task is set for invitations to tasks and
// teams, and the team for invitations to teams.
type joining struct {
	*api.Call
	*record.InvitationItem
	organizer    *record.Organizer
	task         *record.TaskItem
	team         *record.RegistrationItem
	registration *record.RegistrationDraft // registers a new team; nil if the request has none
}

// invitationKind says how users join by invitations of one kind.
type invitationKind struct {
	scope access.TokenScope                               // that an access token needs
	join  func(*joining, context.Context) (string, error) // adds the user, and returns the path of the membership or registration
}

var (
	toOrganizer = &invitationKind{scope: access.ScopeOrganize, join: (*joining).joinOrganizer}
	toTask      = &invitationKind{scope: access.ScopeSubmit, join: (*joining).register}
	toTeam      = &invitationKind{scope: access.ScopeSubmit, join: (*joining).joinTeam}
)

func kindOf(i *record.InvitationItem) *invitationKind {
	switch {
	case i.RegistrationID != "":
		return toTeam
	case i.TaskID != "":
		return toTask
	default:
		return toOrganizer
	}
}

func createMembership(ctx context.Context, c *api.Call, _ api.PublicTarget, d MembershipDraft) (location string, made Membership,
	err error) {
	if _, err := c.Grants(ctx); err != nil {
		return "", made, err // A user who is being deleted cannot join.
	}
	j := joining{Call: c, registration: d.Registration}
	if err := j.find(ctx, d.Secret); err != nil {
		return "", made, err
	}
	kind := kindOf(j.InvitationItem)
	if !c.Caller.Allows(kind.scope) {
		return "", made, problem.InsufficientScope.New("This invitation takes %s.", kind.scope.Needed())
	}
	if d.Registration != nil && kind != toTask {
		return "", made, problem.InvalidMember("/registration", "is for invitations to a task: leave it out")
	}
	if j.Use() {
		c.Tx.Save(j.InvitationItem, c.Now())
	} else {
		c.Tx.Delete(j.InvitationItem)
	}
	if location, err = kind.join(&j, ctx); err != nil {
		return "", made, err
	}
	made = j.membership(location)
	if kind == toTask { // Nobody joins a team that the task has closed for.
		if made.ClosedAt, err = team.Closed(ctx, c.Store, j.task, nil, c.Now()); err != nil {
			return "", made, err
		}
	}
	return location, made, c.UpsertProfile(ctx)
}

// membership returns the answer to the user who joined.
func (j *joining) membership(location string) Membership {
	m := Membership{
		URL:           location,
		OrganizerID:   j.OrganizerID,
		OrganizerName: j.organizer.Name,
		Role:          j.Role,
		TaskID:        j.TaskID,
	}
	if j.task != nil {
		m.TaskName = j.task.Name
		m.Terms = j.task.Terms
	}
	if j.team != nil {
		m.RegistrationID = j.team.ID
		m.RegistrationTeam = j.team.Team
		m.State = j.team.State
	}
	return m
}

// find reads the invitation with the secret, and its organizer, task and team. It refuses an invitation that does not work. Each look-up
// takes from the caller's rate for unknown access tokens, which bounds how many secrets a caller can guess.
func (j *joining) find(ctx context.Context, secret string) error {
	id, digest, ok := auth.ParseInvitation(secret)
	if !ok {
		return problem.Invalid.New("The secret of the invitation is not complete. Copy the whole link, with all text after #.")
	}
	if wait := j.Rates.Take(j.Now(), ratelimit.Token, j.Caller.ID, true, http.Header{}); wait > 0 {
		return problem.TooManyRequests.New("You look up invitations too fast. Wait for the time that Retry-After gives.").After(wait)
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

// works reports whether the target of the invitation exists, and its sender may still invite to it.
func (j *joining) works() bool {
	switch {
	case j.organizer == nil:
		return false
	case j.TaskID != "" && j.task == nil:
		return false
	case j.RegistrationID != "" && j.team == nil:
		return false
	}
	return works(j.InvitationItem, j.organizer, j.team)
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

// register registers the caller. The registration is accepted at once, because organizers made the invitation. A preview without a team
// registers nothing, and shows the task and its terms.
func (j *joining) register(ctx context.Context) (string, error) {
	if j.registration == nil && j.Previewing() {
		return "", nil
	}
	if j.registration == nil {
		return "", problem.InvalidMember("/registration", "must have {/registration/team}, the name of the team that takes part")
	}
	if err := j.CheckNext(ctx, record.RegistrationGrants); err != nil {
		return "", err
	}
	fault := problem.Check(j.registration.Check())
	if fault == nil {
		change, err := j.change(ctx)
		if err != nil {
			return "", err
		}
		j.team, fault = change.Register(j.task, *j.registration, record.Accepted)
	}
	if fault != nil {
		return "", problem.Within("/registration", fault)
	}
	return team.Path(j.team), j.Charge(ctx, record.Charge{Kind: record.MadeRegistrations, Count: 1})
}

// errTeamClosed is the problem of an invitation from an owner of a team, in a task whose registration is closed.
var errTeamClosed = problem.Forbidden.New("Registration for this task is closed, so only its organizers can invite to teams. Ask them " +
	"for an invitation to the team.")

func (j *joining) joinTeam(ctx context.Context) (string, error) {
	switch {
	case slices.Contains(j.team.Members, j.Caller.ID):
		return "", problem.Conflict.New("You are in this team already.")
	case j.task.Registration.Mode == record.Closed && !byOrganizer(j.InvitationItem, j.organizer):
		return "", errTeamClosed
	}
	if err := j.CheckNext(ctx, record.RegistrationGrants); err != nil {
		return "", err
	}
	if len(j.team.Members) == 1 {
		j.Propagate(propagation.Propagator{Store: j.Store, Now: j.Now}.Registration, j.team.Key())
	}
	change, err := j.change(ctx)
	if err != nil {
		return "", err
	}
	if err := change.Join(ctx, j.task, j.team, j.Caller.ID); err != nil {
		return "", err
	}
	return team.Path(j.team), j.Charge(ctx, record.Charge{Kind: record.MadeAudits, Count: 1})
}

// change returns a change of a team by the caller in j.Tx.
func (j *joining) change(ctx context.Context) (team.Change, error) {
	g, err := j.Grants(ctx)
	return team.Change{Store: j.Store, Tx: j.Tx, Now: j.Now(), ActorID: j.Caller.ID, Ended: g.EndedIn(j.task.ID)}, err
}
