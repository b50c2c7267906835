// Package functions lists the families of resources. A program serves them all, and a deployment has a function for each family.
package functions

import (
	"assay/functions/components"
	"assay/functions/console"
	"assay/functions/datasets"
	"assay/functions/deletions"
	"assay/functions/evaluations"
	"assay/functions/invitations"
	"assay/functions/notifications"
	"assay/functions/organizers"
	"assay/functions/registrations"
	"assay/functions/runs"
	"assay/functions/service"
	"assay/functions/submissions"
	"assay/functions/tasks"
	"assay/functions/tools"
	"assay/functions/users"
	"assay/shared/edge/api"
)

// Families lists the families in the order of the documentation.
func Families() []api.Family {
	return []api.Family{
		{Name: Service, About: "What the server says of itself.", Operations: service.Operations},
		{Name: Console, About: "The application for browsers.", Operations: console.Operations},
		{Name: "organizers", About: "The organizations that run tasks.", Operations: organizers.Operations},
		{Name: "tasks", About: "Shared tasks, and what their organizers did to them.", Operations: tasks.Operations},
		{Name: "datasets", About: "The data of tasks: inputs, hidden truth, and how runs are measured.", Operations: datasets.Operations},
		{Name: "registrations", About: "Who takes part in a task.", Operations: registrations.Operations},
		{Name: "invitations", About: "How users join organizers, tasks and teams.", Operations: invitations.Operations},
		{Name: "submissions", About: "The entries of registered users.", Operations: submissions.Operations},
		{Name: "runs", About: "Submissions applied to datasets, and the organizers' reviews of them.", Operations: runs.Operations},
		{Name: "evaluations", About: "The measures of runs, and leaderboards.", Operations: evaluations.Operations},
		{Name: "deletions", About: "What was deleted and can be restored.", Operations: deletions.Operations},
		{Name: "components", About: "The catalogue of the platform's building blocks, each with snippets that run.",
			Operations: components.Operations},
		{Name: "tools", About: "What the server computes from runs for its callers.", Operations: tools.Operations},
		{Name: "notifications", About: "Announcements of tasks, and what users are notified of by e-mail.", Operations: notifications.Operations},
		{Name: "users", About: "Who is logged in, and what users submitted.", Operations: users.Operations},
	}
}

// Operations lists the operations of all families.
func Operations() []api.Operation {
	var all []api.Operation
	for _, g := range Families() {
		all = append(all, g.Operations...)
	}
	return all
}
