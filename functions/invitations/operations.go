// Package invitations serves how users become members of organizers and of teams, and take part in tasks that are not open to all.
//
// Who may invite makes an invitation, and sends its link, or has the server send it. Who has the link joins, and nobody is made a member
// or registered in another way. The secret in the link is shown once and stored as its SHA-256; joining names it alone, so
// that a private task, or a team under an alias, shows nothing of itself before.
package invitations

import (
	"slices"

	"assay/shared/access"
	"assay/shared/api"
	"assay/shared/problem"
	"assay/shared/record"
)

var (
	organizer = api.Load[record.Organizer]("organizerId", record.OrganizerKey)
	task      = api.Load[record.TaskItem]("taskId", record.TaskKey)
)

const about = "An invitation works once, or as often as `uses` says, for at most 90 days, and for as long as the user who made it may " +
	"invite. "

// Operations of the family.
var Operations = []api.Operation{
	api.Create(api.Spec{
		ID: "createMembership", Path: "/v1/user/memberships", May: access.User,
		Token:    access.ScopeSubmit | access.ScopeOrganize,
		Problems: slices.Concat(api.Quotas, []*problem.Kind{problem.OutsideWindow}),
		Summary:  "Join by an invitation",
		Description: "Makes you a member of the organizer or the team, or registers you for the task, that the invitation is to. For a task, " +
			"`registration` has the team. The secret is what follows `#` in the link. An access token needs the scope `organize` to join an " +
			"organizer, and `submit` for the rest.",
	}, api.NoTarget, createMembership),
	api.List(api.Spec{
		ID: "listOrganizerInvitations", Path: "/v1/organizers/{organizerId}/invitations", May: access.OrganizerOwner,
		Summary:     "List the invitations of an organizer",
		Description: "Those that still work, in descending order of ids, without their secrets.",
	}, organizer, list[*record.Organizer], nil),
	api.Create(api.Spec{
		ID: "createOrganizerInvitation", Path: "/v1/organizers/{organizerId}/invitations", May: access.OrganizerOwner, Problems: api.Quotas,
		Token:       access.ScopeOrganize,
		Summary:     "Invite members of an organizer",
		Description: about + "Its answer alone has the secret. An organizer, with its tasks, can invite 20 e-mail addresses in 24 hours.",
	}, organizer, create[*record.Organizer]),
	api.Delete(api.Spec{
		ID: "deleteOrganizerInvitation", Path: "/v1/organizers/{organizerId}/invitations/{invitationId}", May: access.OrganizerOwner,
		Token: access.ScopeOrganize, Problems: api.Quotas,
		Summary:     "Withdraw an invitation of an organizer",
		Description: "Who joined by it stays.",
	}, find(organizer, access.OrganizerOwner), remove),
	api.List(api.Spec{
		ID: "listTaskInvitations", Path: "/v1/tasks/{taskId}/invitations", May: access.Organizer,
		Summary:     "List the invitations to a task",
		Description: "Those that still work, in descending order of ids, without their secrets.",
	}, task, list[*record.TaskItem], nil),
	api.Create(api.Spec{
		ID: "createTaskInvitation", Path: "/v1/tasks/{taskId}/invitations", May: access.Organizer, Problems: api.Quotas,
		Token:   access.ScopeOrganize,
		Summary: "Invite teams to a task",
		Description: about + "Each who joins registers a team, which is accepted at once, whatever the task's rules for registration say: that " +
			"is the way into a private task. Its answer alone has the secret. E-mail addresses count among the 20 in 24 hours of the organizer.",
	}, task, create[*record.TaskItem]),
	api.Delete(api.Spec{
		ID: "deleteTaskInvitation", Path: "/v1/tasks/{taskId}/invitations/{invitationId}", May: access.Organizer,
		Token: access.ScopeOrganize, Problems: api.Quotas,
		Summary:     "Withdraw an invitation to a task",
		Description: "Who joined by it stays registered.",
	}, find(task, access.Organizer), remove),
	api.List(api.Spec{
		ID: "listTeamInvitations", Path: "/v1/tasks/{taskId}/registrations/{registrationId}/invitations", May: access.Owner,
		Problems:    []*problem.Kind{problem.Forbidden},
		Summary:     "List the invitations to a team",
		Description: "Those that still work, in descending order of ids, without their secrets. For the owner of the team.",
	}, ownTeam, list[ownedTeam], nil),
	api.Create(api.Spec{
		ID: "createTeamInvitation", Path: "/v1/tasks/{taskId}/registrations/{registrationId}/invitations", May: access.Owner,
		Problems: slices.Concat(api.Quotas, []*problem.Kind{problem.Forbidden}),
		Token:    access.ScopeSubmit,
		Summary:  "Invite members of a team",
		Description: about + "For the owner of the team. Who joins may do with the team's submissions what the owner may. Its answer alone has " +
			"the secret. A user can invite 20 e-mail addresses to teams in 24 hours, whatever the organizer of the task has invited.",
	}, ownTeam, create[ownedTeam]),
	api.Delete(api.Spec{
		ID: "deleteTeamInvitation", Path: "/v1/tasks/{taskId}/registrations/{registrationId}/invitations/{invitationId}", May: access.Owner,
		Problems: slices.Concat(api.Quotas, []*problem.Kind{problem.Forbidden}),
		Token:    access.ScopeSubmit, Summary: "Withdraw an invitation to a team",
		Description: "For the owner of the team. Who joined by it stays a member.",
	}, find(ownTeam, access.Owner), remove),
}
