package record

import (
	"cmp"

	"assay/shared/domain/access"
)

// KindTodo is the kind of the entries in an organizer's to-do list. RegistrationItem and Event have them in List(KindOrganizer,
// organizerID, KindTodo, access.Organizers). Runs have entries of other lists in that index, so RunItem has them in TodoRuns.
const KindTodo Kind = "WAITING"

// TodoRuns returns the partition of ByWork with the runs in an organizer's to-do list, by ID.
func TodoRuns(organizerID string) string { return string(KindTodo) + "#" + organizerID }

// TodoKind is a kind of entry in an organizer's to-do list.
type TodoKind string

// The kinds of to-do entries.
const (
	TodoRegistrationPending TodoKind = "registration.pending"
	TodoRunUnreviewed       TodoKind = "run.unreviewed"
	TodoRunFailed           TodoKind = "run.failed"
	TodoWorkersMissing      TodoKind = "workers.missing"
)

// Todo is an entry in an organizer's to-do list.
type Todo struct {
	ID             string   `json:"id" doc:"id of the registration or the run"`
	Kind           TodoKind `json:"kind" enum:"registration.pending,run.unreviewed,run.failed,workers.missing" doc:"what waits: a registration for a decision, a run for a review, a run that failed for somebody to look at it, or one for a worker"`
	OrganizerID    string   `json:"organizerId"`
	TaskID         string   `json:"taskId"`
	TaskName       string   `json:"taskName,omitempty" doc:"name of the task"`
	RegistrationID string   `json:"registrationId,omitempty" doc:"the registration, or the registration of the run's team; baselines can have none"`
	DatasetID      string   `json:"datasetId,omitempty" doc:"of a run"`
	RunID          string   `json:"runId,omitempty" doc:"the run; of several that wait for a worker on one dataset, as a rule the oldest"`
	Run            string   `json:"run,omitempty" doc:"the run's title, label or tag: the first that exists"`
	Team           string   `json:"team" doc:"name of the team, also of an anonymous one"`
	Alias          string   `json:"alias,omitempty" doc:"the name that others see instead of an anonymous team's"`
	Since          Instant  `json:"since" doc:"when the registration was made, the run ended, or began to wait"`
	Again          bool     `json:"again,omitempty" doc:"whether the run was completed before and has been evaluated again: since is the end of its last evaluation"`
}

// Todo returns the entry of a registration that waits for a decision. It returns nil for others.
func (r *RegistrationItem) Todo() *Todo {
	if r.State != Pending {
		return nil
	}
	return &Todo{ID: r.ID, Kind: TodoRegistrationPending, OrganizerID: r.OrganizerID, TaskID: r.TaskID, RegistrationID: r.ID, Team: r.Team,
		Alias: r.shownAlias(), Since: r.CreatedAt}
}

// Todo returns the entry of a run that waits for a review or has failed. It returns nil for others.
func (r *RunItem) Todo() *Todo {
	switch {
	case r.Reviewed:
		return nil
	case r.State == Failed:
		return r.todo(TodoRunFailed, r.FinishedAt, 0)
	case r.State == Completed && !r.Access.Published: // a published run without a review was published by its dataset's rule
		return r.todo(TodoRunUnreviewed, r.FinishedAt, 1)
	default:
		return nil
	}
}

// TodoUnserved returns the entry of a run that waits for missing workers. It returns nil if the run does not wait for a worker.
func (r *RunItem) TodoUnserved() *Todo {
	if !r.AwaitsWorker() {
		return nil
	}
	return r.todo(TodoWorkersMissing, r.QueuedAt, 0)
}

// todo returns the entry of the run. own is the number of results that the run has from the evaluation that the entry is about.
func (r *RunItem) todo(kind TodoKind, since *Instant, own int) *Todo {
	return &Todo{ID: r.ID, Kind: kind, OrganizerID: r.Access.OrganizerID, TaskID: r.TaskID, RegistrationID: r.Access.RegistrationID,
		DatasetID: r.DatasetID, RunID: r.ID, Run: r.Name(), Team: r.Team,
		Alias: r.Access.shownAlias(), Since: *cmp.Or(since, &r.UpdatedAt), Again: len(r.Evaluations) > own}
}

// todo adds the record to the organizer's to-do list.
func (x indexes) todo(organizerID, id string) indexes {
	return x.in(KindOrganizer, organizerID, KindTodo, access.Organizers, id)
}
