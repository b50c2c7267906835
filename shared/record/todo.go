package record

import (
	"cmp"

	"assay/shared/access"
)

// KindTodo is the kind of the entries of the list of what waits for an organizer. Records have them in two indexes, as runs are in every
// other: RegistrationItem and Event in List(KindOrganizer, organizerID, KindTodo, access.Organizers), RunItem in TodoRuns.
const KindTodo Kind = "WAITING"

// TodoRuns is the partition of ByWork with the runs that wait for an organizer, by id.
func TodoRuns(organizerID string) string { return string(KindTodo) + "#" + organizerID }

// TodoKind says what waits for an organizer.
type TodoKind string

// The kinds of what waits for an organizer.
const (
	TodoRegistrationPending TodoKind = "registration.pending"
	TodoRunUnreviewed       TodoKind = "run.unreviewed"
	TodoRunFailed           TodoKind = "run.failed"
	TodoWorkersMissing      TodoKind = "workers.missing"
)

// Todo is something that waits for an organizer.
type Todo struct {
	ID             string   `json:"id" doc:"id of the registration or the run"`
	Kind           TodoKind `json:"kind" enum:"registration.pending,run.unreviewed,run.failed,workers.missing" doc:"what waits: a registration for a decision, a run for a review, a run that failed for somebody to look at it, or one for a worker"`
	OrganizerID    string   `json:"organizerId"`
	TaskID         string   `json:"taskId"`
	TaskName       string   `json:"taskName,omitempty" doc:"name of the task"`
	RegistrationID string   `json:"registrationId,omitempty" doc:"the registration, or that of the run's team; baselines can have none"`
	DatasetID      string   `json:"datasetId,omitempty" doc:"of a run"`
	RunID          string   `json:"runId,omitempty" doc:"the run; of several that wait for a worker on one dataset, as a rule the oldest"`
	Run            string   `json:"run,omitempty" doc:"its title, label or tag, the first that it has"`
	Team           string   `json:"team" doc:"name of the team, also of an anonymous one"`
	Since          Instant  `json:"since" doc:"when the registration was made, the run ended, or began to wait"`
}

// Todo is the registration as it waits for a decision; nil when it does not.
func (r *RegistrationItem) Todo() *Todo {
	if r.State != Pending {
		return nil
	}
	return &Todo{ID: r.ID, Kind: TodoRegistrationPending, OrganizerID: r.OrganizerID, TaskID: r.TaskID, RegistrationID: r.ID, Team: r.Team,
		Since: r.CreatedAt}
}

// Todo is the run as it waits for a review, or because it failed; nil when it does not.
func (r *RunItem) Todo() *Todo {
	switch {
	case r.Reviewed:
		return nil
	case r.State == Failed:
		return r.todo(TodoRunFailed, r.FinishedAt)
	case r.State == Completed && !r.Access.Published: // or else the dataset has it published without a review
		return r.todo(TodoRunUnreviewed, r.FinishedAt)
	default:
		return nil
	}
}

// TodoUnserved is the run as it waits for a worker, of which there is none; nil when it does not wait for one.
func (r *RunItem) TodoUnserved() *Todo {
	if !r.AwaitsWorker() {
		return nil
	}
	return r.todo(TodoWorkersMissing, r.QueuedAt)
}

func (r *RunItem) todo(kind TodoKind, since *Instant) *Todo {
	return &Todo{ID: r.ID, Kind: kind, OrganizerID: r.Access.OrganizerID, TaskID: r.TaskID, RegistrationID: r.Access.RegistrationID,
		DatasetID: r.DatasetID, RunID: r.ID, Run: cmp.Or(r.Access.Title, r.Label, r.RunTag), Team: r.Team, Since: *cmp.Or(since, &r.UpdatedAt)}
}

// todo adds the record with the id to the list of what waits for the organizer.
func (x indexes) todo(organizerID, id string) indexes {
	return x.in(KindOrganizer, organizerID, KindTodo, access.Organizers, id)
}
