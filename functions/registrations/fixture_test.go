package registrations_test

import (
	"testing"

	"assay/functions/registrations"
	"assay/shared/api/servertest"
	"assay/shared/record"
	"assay/shared/record/recordtest"
)

// fixture serves the registrations for a task that olga organizes.
type fixture struct {
	*servertest.Server
	task *recordtest.Task
	path string // of the task's registrations
}

func serve(t *testing.T, options ...func(*record.TaskItem)) *fixture {
	t.Helper()
	f := &fixture{Server: servertest.New(t, registrations.Operations...)}
	f.task = f.Records().Task(options...)
	f.path = f.task.Path() + "/registrations"
	return f
}

func (f *fixture) register(user, team string) string {
	return f.Create(user, f.path, map[string]any{"team": team})
}

// closed makes a task private, so that its organizers alone register users.
func closed(t *record.TaskItem) {
	t.Visibility, t.Registration.Mode = record.Private, record.Closed
}
