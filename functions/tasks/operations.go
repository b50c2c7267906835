// Package tasks serves shared tasks.
//
// Everyone sees public tasks. Only members of the organizer and accepted registrants see a private task. Everything in a task (datasets,
// submissions, runs, evaluations) has a copy of its visibility, and a change propagates to the copies. Deleting a task deletes its datasets
// and registrations, and on request its submissions. A deleted task can be restored for a while.
package tasks

import (
	"assay/shared/domain/access"
	"assay/shared/domain/page"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
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
		Description: "The caller must be a member of the organizer that `organizerId` names. Returns the URL of the task. `/info` lists how " +
			"many tasks a user can create in 24 hours.",
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
		Description: "Everything except `organizerId` can change. Only administrators change `featured`. A change of visibility, windows, " +
			"quotas or terms is an audit entry. Teams that have accepted earlier terms cannot submit until they accept the new terms.",
	}, task, show, change),
	api.Delete(api.Spec{
		ID: "deleteTask", Path: "/v1/tasks/{taskId}", May: access.Organizer,
		Token:   access.ScopeOrganize,
		Summary: "Delete a task",
		Description: "With its datasets and registrations. The answer is 409 while the task has submissions. To delete them with the task, set " +
			"`with=submissions`, and `name` to the current name of the task. Deleting a large task takes minutes; until then, its runs and " +
			"submissions can be read by their ids. If the organizer is deleted, the task can no longer be restored. " + api.InTrash,
		Query: page.Spec{Filters: []page.Filter{
			{Name: "with", Type: page.Enum, Values: []string{"submissions"}, Standalone: true}, {Name: "name", Standalone: true}}},
	}, task, remove),
}
