// Package tasks serves shared tasks.
//
// A public task is seen by everyone; a private one by the organizer's members and by those registered for it, whatever
// became of the registration. Everything in a task (datasets, submissions, runs, evaluations) has a copy of its visibility,
// to which a change propagates. A task is deleted with its datasets and registrations and, if that is asked for,
// submissions; for a while it can be restored.
package tasks

import (
	"assay/shared/access"
	"assay/shared/api"
	"assay/shared/page"
	"assay/shared/record"
)

var task = api.Load[record.TaskItem]("taskId", record.TaskKey)

// Operations of the family.
var Operations = []api.Operation{
	api.List(api.Spec{
		ID: "listTasks", Path: "/v1/tasks", May: access.Anyone,
		Summary:     "List tasks",
		Description: "All tasks that the caller may see, the newest first.",
		Query: page.Spec{Filters: []page.Filter{
			{Name: "organizerId", Type: page.ID}, {Name: "visibility", Type: page.Enum}, {Name: "name"},
		}},
	}, api.NoTarget, list, nil),
	api.CreateIn(api.Spec{
		ID: "createTask", Path: "/v1/tasks", May: access.Organizer, Problems: api.Quotas,
		Token:   access.ScopeOrganize,
		Summary: "Create a task",
		Description: "The caller must be a member of the organizer that `organizerId` names. Returns the URL of the task. How many a user can " +
			"create in 24 hours, `/info` tells.",
	}, "/organizerId", organizer, create),
	api.Get(api.Spec{
		ID: "getTask", Path: "/v1/tasks/{taskId}", May: access.Anyone,
		Summary:     "Return a task",
		Description: "With the rules of registration and submission.",
	}, task, show),
	api.Patch(api.Spec{
		ID: "updateTask", Path: "/v1/tasks/{taskId}", May: access.Organizer, Problems: api.Quotas,
		Token:   access.ScopeOrganize,
		Summary: "Update a task",
		Description: "Everything but `organizerId` can change, and `featured` by administrators alone. A change of visibility, windows, " +
			"quotas or terms is an audit entry. Teams that have accepted other terms submit nothing until they accept the new ones.",
	}, task, show, change),
	api.Delete(api.Spec{
		ID: "deleteTask", Path: "/v1/tasks/{taskId}", May: access.Organizer,
		Token:   access.ScopeOrganize,
		Summary: "Delete a task",
		Description: "With its datasets and registrations. Refused with 409 while it has submissions, unless they are to be deleted with it: " +
			"`with=submissions`, and in `name` the name of the task as it is. A large task " +
			"follows within minutes: until then those who have the id of a run or submission in it can still read it. " + api.InTrash,
		Query: page.Spec{Filters: []page.Filter{
			{Name: "with", Type: page.Enum, Values: []string{"submissions"}, Standalone: true}, {Name: "name", Standalone: true}}},
	}, task, remove),
}
