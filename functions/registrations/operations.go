// Package registrations serves who takes part in a task.
//
// A registration is known to its user and to the task's organizers. Its user edits or withdraws it; organizers decide
// about it. Its grant, in its user's partition, has a copy of what submitting needs to know, written in the same
// transaction. In a private task only an accepted registration opens the task: while it is pending or rejected, the task, its
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
		Description: "Organizers see all of them, with the names of the users; everyone else their own.",
		Query:       page.Spec{Filters: []page.Filter{{Name: "state", Type: page.Enum}}},
	}, task, list, rows),
	api.Create(api.Spec{
		ID: "createRegistration", Path: "/v1/tasks/{taskId}/registrations", May: access.User,
		Token:    access.ScopeSubmit | access.ScopeOrganize,
		Problems: slices.Concat(api.Quotas, []*problem.Kind{problem.OutsideWindow}),
		Summary:  "Register for a task",
		Description: "One registration for each user and task, with a team name that is unique among those that are shown in the task: an " +
			"anonymous team reserves none. Organizers can register another user by `userId`, at any time; that is the way into a private task. " +
			"That user must be known (have changed something here, or sent `PATCH /v1/user`), have fewer than 100 registrations, and can withdraw.",
	}, task, create),
	api.Get(api.Spec{
		ID: "getRegistration", Path: "/v1/tasks/{taskId}/registrations/{registrationId}", May: access.Owner | access.Organizer,
		Summary:     "Return a registration",
		Description: "Seen by its user and the organizers; `quota` says what is left of the task's quota now.",
	}, registration, show),
	api.Patch(api.Spec{
		ID: "updateRegistration", Path: "/v1/tasks/{taskId}/registrations/{registrationId}", May: access.Owner | access.Organizer,
		Token:    access.ScopeSubmit | access.ScopeOrganize,
		Problems: api.Quotas,
		Summary:  "Update a registration",
		Description: "Organizers accept or reject by setting `state`. A change of team or anonymity shows on everything that was submitted. A " +
			"team that stops being anonymous gets 409 when its name is taken.",
	}, registration, show, change),
	api.Delete(api.Spec{
		ID: "deleteRegistration", Path: "/v1/tasks/{taskId}/registrations/{registrationId}", May: access.Owner | access.Organizer,
		Token:   access.ScopeSubmit | access.ScopeOrganize,
		Summary: "Withdraw a registration",
		Description: "Refused with 409 while there are submissions under it. One that was rejected can be deleted by organizers only, unless " +
			"an organizer made it.",
		Problems: []*problem.Kind{problem.Forbidden},
	}, registration, remove),
}
