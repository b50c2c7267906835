// Package registrations serves the teams that take part in a task.
//
// A registration is a team. Only its members and the task's organizers see it. Its owner edits it, hands it over or withdraws it, and
// organizers accept or reject it. Each member has a grant, in the partition of the member, with a copy of the data that submitting needs.
// One transaction writes the registration and all its grants. A team may take part under an alias. Then other users see only the alias.
//
// A private task is open only to accepted registrations. To members of a pending or rejected registration, the task, its datasets and the
// lists below it answer 403. They still see the registration and their own submissions, runs, reviews and evaluations. After a registration
// is withdrawn, the task is missing for its members.
package registrations

import (
	"slices"

	"assay/shared/domain/access"
	"assay/shared/domain/page"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/language/problem"
)

var task = api.Load[record.TaskItem]("taskId", record.TaskKey)

// Operations of the family.
var Operations = []api.Operation{
	api.List(api.Spec{
		ID: "listRegistrations", Path: "/v1/tasks/{taskId}/registrations", May: access.User,
		Summary:     "List registrations for a task",
		Description: "Organizers see all registrations, with the names of members. Other users see the registration of their own team.",
		Query:       page.Spec{Filters: []page.Filter{{Name: "state", Type: page.Enum}}},
	}, task, list, rows),
	api.Create(api.Spec{
		ID: "createRegistration", Path: "/v1/tasks/{taskId}/registrations", May: access.User,
		Token:    access.ScopeSubmit | access.ScopeOrganize,
		Problems: slices.Concat(api.Quotas, []*problem.Kind{problem.OutsideWindow}),
		Summary:  "Register for a task",
		Description: "Each user has at most one registration for a task. The name of the team must be unique among the names that are shown in " +
			"the task; anonymous teams do not reserve their names. If the task has `terms`, `acceptedTerms` must be their version. Organizers can " +
			"register at any time and are accepted at once. Private tasks, and tasks whose registration is closed, need an invitation " +
			"(`createTaskInvitation`).",
	}, task, create),
	api.Get(api.Spec{
		ID: "getRegistration", Path: "/v1/tasks/{taskId}/registrations/{registrationId}", May: access.Owner | access.Organizer,
		Summary: "Return a registration",
		Description: "For its members and the organizers. `quota` says what is left of the task's quota now. Its `datasets` say for each dataset " +
			"whether and until when it takes submissions of this team, how many are left, and when the next one comes back.",
	}, registration, show),
	api.Patch(api.Spec{
		ID: "updateRegistration", Path: "/v1/tasks/{taskId}/registrations/{registrationId}", May: access.Owner | access.Organizer,
		Token:    access.ScopeSubmit | access.ScopeOrganize,
		Problems: api.Quotas,
		Summary:  "Update a registration",
		Description: "Organizers accept or reject a team by setting `state`. The owner of the team changes all other members. Setting `userId` " +
			"hands the team over to another of its members; organizers can do this, too. Every member can accept changed terms of the task by " +
			"setting `acceptedTerms` to their version. Of a rejected team, the owner changes only `userId` and `anonymous`. A new name or " +
			"anonymity applies to everything that the team has submitted. If a team stops being anonymous and its name is taken, the answer is " +
			"409.",
	}, registration, show, change),
	api.Delete(api.Spec{
		ID: "deleteRegistration", Path: "/v1/tasks/{taskId}/registrations/{registrationId}", May: access.Owner | access.Organizer,
		Token:   access.ScopeSubmit | access.ScopeOrganize,
		Summary: "Withdraw a registration",
		Description: "The owner of the team or the organizers withdraw it for all members. The answer is 409 while the team has submissions. " +
			"Only organizers can delete a rejected registration. A deleted registration cannot be restored, but its " +
			"members can register again. Those who did not delete it are told: by the event `registration.ended`, and for 30 days by " +
			"`endedRegistrations` of `getCurrentUser`.",
		Problems: []*problem.Kind{problem.Forbidden},
	}, registration, remove),
	api.Delete(api.Spec{
		ID: "deleteTeamMember", Path: "/v1/tasks/{taskId}/registrations/{registrationId}/members/{userId}",
		May: access.Owner | access.Organizer, Token: access.ScopeSubmit | access.ScopeOrganize,
		Problems: slices.Concat(api.Quotas, []*problem.Kind{problem.Forbidden}),
		Summary:  "Leave a team, or remove a member",
		Description: "Members end their own memberships. The owner of the team and the organizers remove other members. Only organizers remove " +
			"members of a rejected team. The answer is 409 for " +
			"the owner, who must hand the team over first (PATCH of the registration), and for the last member, who must withdraw the team. " +
			"Submissions stay with the team. The quota that the team has used counts for the next team of the user. " +
			"Members whom others remove are told, like those of a deleted registration.",
	}, teamMember, removeMember),
	api.List(api.Spec{
		ID: "listExceptions", Path: "/v1/tasks/{taskId}/registrations/{registrationId}/exceptions", May: access.Owner | access.Organizer,
		Summary:     "List the exceptions of a team",
		Description: "Later closes, more runs, and runs that do not count, as organizers have granted them. The team sees them, too.",
	}, registration, listExceptions, nil),
	api.Create(api.Spec{
		ID: "createException", Path: "/v1/tasks/{taskId}/registrations/{registrationId}/exceptions", May: access.Organizer, Problems: api.Quotas,
		Token:   access.ScopeOrganize,
		Summary: "Grant an exception to a team",
		Description: "A later close, more runs, or a run that no longer counts, with a reason that the team sees. A later close applies to " +
			"submissions and final runs. Scores that are shown after the close wait for it. A team has at most 50 exceptions. Each is an audit " +
			"entry.",
	}, registration, createException),
	api.Get(api.Spec{
		ID: "getException", Path: "/v1/tasks/{taskId}/registrations/{registrationId}/exceptions/{exceptionId}",
		May:         access.Owner | access.Organizer,
		Summary:     "Return an exception of a team",
		Description: "With its reason. For the members of the team and the organizers.",
	}, exception, showException),
	api.Delete(api.Spec{
		ID: "deleteException", Path: "/v1/tasks/{taskId}/registrations/{registrationId}/exceptions/{exceptionId}",
		May: access.Organizer, Problems: api.Quotas, Token: access.ScopeOrganize,
		Summary:     "Withdraw an exception",
		Description: "The exception ends, and a run that it refunded counts again. Runs that the team submitted because of it stay.",
	}, exception, removeException),
}
