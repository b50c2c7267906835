// Package registrations serves who takes part in a task.
//
// A registration is a team: it is known to its members and to the task's organizers. Its owner edits it, hands it over or withdraws it;
// organizers decide about it. Its grant, in the partition of each member, has a copy of what submitting needs to know, written in the
// same transaction. In a private task only an accepted registration opens the task: while it is pending or rejected, the task, its
// datasets and the lists below it answer 403 to its user, who still sees the registration and the own submissions, runs, reviews
// and evaluations. For the user of a withdrawn registration the task is missing.
// A team may take part under an alias, which is then all that anybody else sees of it.
package registrations

import (
	"slices"

	"assay/shared/access"
	"assay/shared/api"
	"assay/shared/page"
	"assay/shared/problem"
	"assay/shared/record"
)

var task = api.Load[record.TaskItem]("taskId", record.TaskKey)

// Operations of the family.
var Operations = []api.Operation{
	api.List(api.Spec{
		ID: "listRegistrations", Path: "/v1/tasks/{taskId}/registrations", May: access.User,
		Summary:     "List registrations for a task",
		Description: "Organizers see all of them, with the names of the members; everyone else that of the own team.",
		Query:       page.Spec{Filters: []page.Filter{{Name: "state", Type: page.Enum}}},
	}, task, list, rows),
	api.Create(api.Spec{
		ID: "createRegistration", Path: "/v1/tasks/{taskId}/registrations", May: access.User,
		Token:    access.ScopeSubmit | access.ScopeOrganize,
		Problems: slices.Concat(api.Quotas, []*problem.Kind{problem.OutsideWindow}),
		Summary:  "Register for a task",
		Description: "One registration for each user and task, with a team name that is unique among those that are shown in the task: an " +
			"anonymous team reserves none. Where the task has `terms`, `acceptedTerms` must be their version. Organizers register at any time, as " +
			"they are accepted at once. Others register by themselves: into a private task, or one whose registration is closed, by an invitation " +
			"(`createTaskInvitation`).",
	}, task, create),
	api.Get(api.Spec{
		ID: "getRegistration", Path: "/v1/tasks/{taskId}/registrations/{registrationId}", May: access.Owner | access.Organizer,
		Summary:     "Return a registration",
		Description: "Seen by its members and the organizers; `quota` says what is left of the task's quota to the team now.",
	}, registration, show),
	api.Patch(api.Spec{
		ID: "updateRegistration", Path: "/v1/tasks/{taskId}/registrations/{registrationId}", May: access.Owner | access.Organizer,
		Token:    access.ScopeSubmit | access.ScopeOrganize,
		Problems: api.Quotas,
		Summary:  "Update a registration",
		Description: "Organizers accept or reject by setting `state`. The owner of the team changes the rest; `userId` hands the team over to " +
			"another of its members, which organizers can do too. A change of team or anonymity shows on everything that was submitted. A " +
			"team that stops being anonymous gets 409 when its name is taken. Any member accepts changed terms of the task by setting " +
			"`acceptedTerms` to their version.",
	}, registration, show, change),
	api.Delete(api.Spec{
		ID: "deleteRegistration", Path: "/v1/tasks/{taskId}/registrations/{registrationId}", May: access.Owner | access.Organizer,
		Token:   access.ScopeSubmit | access.ScopeOrganize,
		Summary: "Withdraw a registration",
		Description: "By the owner of the team or organizers, for all its members. Refused with 409 while there are submissions under it. " +
			"One that was rejected can be deleted by organizers only, unless an organizer made it.",
		Problems: []*problem.Kind{problem.Forbidden},
	}, registration, remove),
	api.Delete(api.Spec{
		ID: "deleteTeamMember", Path: "/v1/tasks/{taskId}/registrations/{registrationId}/members/{userId}",
		May: access.Owner | access.Organizer, Token: access.ScopeSubmit | access.ScopeOrganize,
		Problems: slices.Concat(api.Quotas, []*problem.Kind{problem.Forbidden}),
		Summary:  "Leave a team, or remove a member",
		Description: "Members end their own memberships; the owner of the team and organizers remove others. The owner hands the team over " +
			"first (PATCH of the registration), and the last member withdraws it instead: 409. What was submitted stays the team's. What the team " +
			"has used of the quota counts for a team that the user makes next.",
	}, teamMember, removeMember),
	api.List(api.Spec{
		ID: "listExceptions", Path: "/v1/tasks/{taskId}/registrations/{registrationId}/exceptions", May: access.Owner | access.Organizer,
		Summary:     "List the exceptions of a team",
		Description: "What organizers have granted to the team: later closes, more runs, and runs that do not count. The team sees them too.",
	}, registration, listExceptions, nil),
	api.Create(api.Spec{
		ID: "createException", Path: "/v1/tasks/{taskId}/registrations/{registrationId}/exceptions", May: access.Organizer, Problems: api.Quotas,
		Token:   access.ScopeOrganize,
		Summary: "Grant an exception to a team",
		Description: "A later close, more runs, or a run that no longer counts, with a reason that the team reads. A later close holds for " +
			"submissions and final runs; where scores are shown after the close, they wait for it. A team has at most 50 exceptions. Each is " +
			"an audit entry.",
	}, registration, createException),
	api.Get(api.Spec{
		ID: "getException", Path: "/v1/tasks/{taskId}/registrations/{registrationId}/exceptions/{exceptionId}",
		May:         access.Owner | access.Organizer,
		Summary:     "Return an exception of a team",
		Description: "With its reason; for the members of the team and the organizers.",
	}, exception, showException),
	api.Delete(api.Spec{
		ID: "deleteException", Path: "/v1/tasks/{taskId}/registrations/{registrationId}/exceptions/{exceptionId}",
		May: access.Organizer, Problems: api.Quotas, Token: access.ScopeOrganize,
		Summary:     "Withdraw an exception",
		Description: "What it granted ends, and a run that it refunded counts again; what the team submitted because of it stays.",
	}, exception, removeException),
}
