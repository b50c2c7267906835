// Package invitations serves how users become members of organizers and of teams, and take part in tasks that are not open to all.
//
// Who may invite makes an invitation, and sends its link, or has the server send it. Who has the link joins, and nobody is made a member
// or registered in another way. The secret in the link is shown once and stored as its SHA-256; joining names it alone, so
// that a private task, or a team under an alias, shows nothing of itself to those who do not have the secret. Those who have it can ask
// first what they would join, by a preview.
//
// Invitations of an organizer or a team are of an epoch. It ends when a member is removed by others, and when an owner stops being owner:
// so nobody comes back by a link that was known before, and what a former owner has handed out works no more.
package invitations

import (
	"slices"

	"assay/shared/access"
	"assay/shared/api"
	"assay/shared/problem"
	"assay/shared/record"
)

// Operations of the family.
var Operations = append([]api.Operation{
	api.Create(api.Spec{
		ID: "createMembership", Path: "/v1/user/memberships", May: access.User,
		Token:    access.ScopeSubmit | access.ScopeOrganize,
		Problems: slices.Concat(api.Quotas, []*problem.Kind{problem.OutsideWindow, problem.Forbidden}),
		Summary:  "Join by an invitation",
		Description: "Makes you a member of the organizer or the team, or registers you for the task, that the invitation is to. With " +
			"`preview=true` it says what that is and which terms it has, also without `registration`. For a task, `registration` has the team, and " +
			"accepts the terms. A team can be joined until the task takes no more submissions of it; where `registration.mode` of the task is " +
			"`closed`, by invitations of its organizers alone. The secret is what follows `#` in the link. An access token needs the scope " +
			"`organize` to join an organizer, and `submit` for the rest.",
	}, api.NoTarget, createMembership),
}, slices.Concat(
	parent[*record.Organizer]{
		name:  "Organizer",
		noun:  "an organizer",
		path:  "/v1/organizers/{organizerId}",
		load:  api.Load[record.Organizer]("organizerId", record.OrganizerKey),
		may:   access.OrganizerOwner,
		token: access.ScopeOrganize,
		about: "An organizer, with its tasks, can invite 20 e-mail addresses in 24 hours. All invitations end when an owner removes a " +
			"member, and when an owner leaves or becomes an editor.",
	}.operations(),
	parent[*record.TaskItem]{
		name:  "Task",
		noun:  "a task",
		path:  "/v1/tasks/{taskId}",
		load:  api.Load[record.TaskItem]("taskId", record.TaskKey),
		may:   access.Organizer,
		token: access.ScopeOrganize,
		about: "Each who joins registers a team, which is accepted at once, whatever the task's rules for registration say: that is the way " +
			"into a private task. An invitation ends with the membership of the organizer who made it. E-mail addresses count among the 20 in " +
			"24 hours of the organizer.",
	}.operations(),
	parent[*record.RegistrationItem]{
		name:     "Team",
		noun:     "a team",
		path:     "/v1/tasks/{taskId}/registrations/{registrationId}",
		load:     loadTeam,
		may:      access.Owner | access.Organizer,
		token:    access.ScopeSubmit | access.ScopeOrganize,
		problems: []*problem.Kind{problem.Forbidden},
		about: "For the owner of the team and the organizers of the task. Who joins may do with the team's submissions what the owner may, " +
			"and the team stays accepted; organizers find the change in the audit entries, and can remove members. All invitations end when a " +
			"member is removed, and when the team is handed over. A user can invite 20 e-mail addresses to teams in 24 hours, whatever the " +
			"organizer of the task has invited.",
	}.operations(),
)...)

// parent is what invitations are to.
type parent[T api.Target] struct {
	name, noun, path string
	load             api.Loader[T]
	may              access.Role
	token            access.TokenScope
	problems         []*problem.Kind
	about            string
}

func (p parent[T]) operations() []api.Operation {
	path, changes := p.path+"/invitations", slices.Concat(api.Quotas, p.problems)
	return []api.Operation{
		api.List(api.Spec{
			ID: "list" + p.name + "Invitations", Path: path, May: p.may, Problems: p.problems,
			Summary:     "List the invitations to " + p.noun,
			Description: "Those that still work, in descending order of ids, without their secrets.",
		}, p.load, list[T], nil),
		api.Create(api.Spec{
			ID: "create" + p.name + "Invitation", Path: path, May: p.may, Problems: changes, Token: p.token,
			Summary: "Invite to " + p.noun,
			Description: "An invitation works once, or as often as `uses` says, for at most 90 days. Its answer alone has the secret. " +
				p.about,
		}, p.load, create[T]),
		api.Delete(api.Spec{
			ID: "delete" + p.name + "Invitation", Path: path + "/{invitationId}", May: p.may, Problems: changes, Token: p.token,
			Summary:     "Withdraw an invitation to " + p.noun,
			Description: "Who joined by it stays.",
		}, p.find, remove[T]),
	}
}
