// Package invitations serves invitations. By an invitation users become members of organizers and teams, and register for tasks that are
// not open to everyone.
//
// A user with the right to invite makes an invitation, and sends its link or lets the server send it. Everyone with the link can join.
// Nobody becomes a member of an organizer or a team without an invitation. The secret in the link is shown once and stored as its SHA-256.
// A request to join names only the secret. So private tasks, and teams under an alias, reveal nothing to users without the secret. Users
// with the secret can preview what they would join.
//
// Each invitation to an organizer or a team belongs to an epoch of its target. The epoch ends when somebody else removes a member, and when
// an owner stops being owner. So nobody returns with a link that they knew before, and links from a former owner stop working.
package invitations

import (
	"slices"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/language/problem"
)

// Operations of the family.
var Operations = append([]api.Operation{
	api.Create(api.Spec{
		ID: "createMembership", Path: "/v1/user/memberships", May: access.User,
		Token:    access.ScopeSubmit | access.ScopeOrganize,
		Problems: slices.Concat(api.Quotas, []*problem.Kind{problem.OutsideWindow, problem.Forbidden}),
		Summary:  "Join by an invitation",
		Description: "Makes you a member of the organizer or the team of the invitation, or registers you for its task. With `preview=true` " +
			"the answer shows the organizer, task or team and the terms, also without `registration`. For a task, `registration` names the team " +
			"and accepts the terms. A team can be joined until the close of its task, or a later close of all datasets that the organizers " +
			"granted the team. If `registration.mode` of the task is " +
			"`closed`, only invitations from its organizers work. The secret is the text after `#` in the link. An access token needs the scope " +
			"`organize` to join an organizer, and otherwise `submit`.",
	}, api.NoTarget, createMembership),
}, slices.Concat(
	parent[*record.Organizer]{
		name:  "Organizer",
		noun:  "an organizer",
		path:  "/v1/organizers/{organizerId}",
		load:  api.Load[record.Organizer]("organizerId", record.OrganizerKey),
		may:   access.OrganizerOwner,
		token: access.ScopeOrganize,
		about: "An organizer and its tasks can together invite 20 e-mail addresses in 24 hours. All invitations end when an owner removes a " +
			"member, and when an owner leaves or becomes an editor.",
	}.operations(),
	parent[*record.TaskItem]{
		name:  "Task",
		noun:  "a task",
		path:  "/v1/tasks/{taskId}",
		load:  api.Load[record.TaskItem]("taskId", record.TaskKey),
		may:   access.Organizer,
		token: access.ScopeOrganize,
		about: "Each user who joins registers a team, which is accepted at once, whatever the task's rules for registration are. This is the " +
			"way into a private task. Once the last dataset has closed, they cannot submit unless the organizers move a close or grant the team a " +
			"later one: `closedAt` says so. An invitation works only while its sender is a member of the organizer. E-mail addresses count among " +
			"the 20 in 24 hours of the organizer.",
	}.operations(),
	parent[*record.RegistrationItem]{
		name:     "Team",
		noun:     "a team",
		path:     "/v1/tasks/{taskId}/registrations/{registrationId}",
		load:     loadTeam,
		may:      access.Owner | access.Organizer,
		token:    access.ScopeSubmit | access.ScopeOrganize,
		problems: []*problem.Kind{problem.Forbidden},
		lists: " They admit nobody while the team is rejected, and once the last dataset has closed for it (`closedAt` of the team). If " +
			"`registration.mode` of the task is `closed`, only those of its organizers admit users.",
		about: "For the owner of the team and the organizers of the task; if `registration.mode` of the task is `closed`, only for its " +
			"organizers. A user who joins has the same rights as the owner over the team's submissions. Of the members, only the owner " +
			"invites and removes others, hands the team over, and changes its name, affiliation, country, contact and anonymity. The team " +
			"keeps its state: a pending team takes part once the organizers accept it. Nobody can be invited to a rejected team. Once the " +
			"last dataset of the task has closed for the team, an invitation admits nobody unless the organizers move a close or grant the team " +
			"a later one: `closedAt` says so. Organizers find the change in the audit entries, and can remove members. All invitations end when a " +
			"member is removed, and when the team is handed over. A user can invite 20 e-mail addresses to teams in 24 hours, " +
			"independent of the organizer's 20.",
	}.operations(),
)...)

// parent describes the operations on invitations to one kind of target.
type parent[T api.Target] struct {
	name, noun, path string
	load             api.Loader[T]
	may              access.Role
	token            access.TokenScope
	problems         []*problem.Kind
	about            string
	lists            string // text about lists
}

func (p parent[T]) operations() []api.Operation {
	path, changes := p.path+"/invitations", slices.Concat(api.Quotas, p.problems)
	return []api.Operation{
		api.List(api.Spec{
			ID: "list" + p.name + "Invitations", Path: path, May: p.may, Problems: p.problems,
			Summary:     "List the invitations to " + p.noun,
			Description: "Invitations that still work, in descending order of ids, without their secrets." + p.lists,
		}, p.load, list[T], nil),
		api.Create(api.Spec{
			ID: "create" + p.name + "Invitation", Path: path, May: p.may, Problems: changes, Token: p.token,
			Summary: "Invite to " + p.noun,
			Description: "An invitation works once, or as often as `uses` says, for at most 90 days. Only this answer has the secret. " +
				p.about,
		}, p.load, create[T]),
		api.Delete(api.Spec{
			ID: "delete" + p.name + "Invitation", Path: path + "/{invitationId}", May: p.may, Problems: changes, Token: p.token,
			Summary:     "Withdraw an invitation to " + p.noun,
			Description: "Users who joined by it stay members.",
		}, p.find, remove[T]),
	}
}
