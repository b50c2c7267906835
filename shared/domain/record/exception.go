package record

import (
	"slices"
	"time"

	"assay/shared/language/lists"
	"assay/shared/language/plural"
	"assay/shared/language/problem"
)

// MaxExceptions is the greatest number of exceptions of a team. MaxExtensions is the greatest number of exceptions in a task that grant
// a later close.
const (
	MaxExceptions = 50
	MaxExtensions = 500
)

// ExceptionDraft holds the members of an exception that organizers write.
type ExceptionDraft struct {
	DatasetID string   `json:"datasetId,omitempty" maxLength:"26" doc:"the dataset whose window or quota it is about; without one, the windows of all datasets of the task, and the quota of the task"`
	ClosesAt  *Instant `json:"closesAt,omitempty" doc:"until when the team can submit, and mark final runs, where the window of others closes earlier"`
	PerDay    int      `json:"perDay,omitempty" minimum:"0" maximum:"1000" doc:"how many runs more the team may have in 24 hours, where there is a limit"`
	Total     int      `json:"total,omitempty" minimum:"0" maximum:"1000000" doc:"how many runs more the team may have in all, where there is a limit"`
	RunID     string   `json:"runId,omitempty" maxLength:"26" doc:"a run of the team that no longer counts in the quotas; with datasetId, a run on that dataset"`
	Reason    string   `json:"reason" minLength:"1" maxLength:"500" doc:"why; the team reads it unless the organizers reject the team" example:"The file store was down in the last hour."`
}

// Exception is an exception to the rules of a task that organizers grant to one team.
type Exception struct {
	Meta
	ExceptionDraft
}

// Check reports the draft's errors.
func (d *ExceptionDraft) Check() []problem.Field {
	fields := checkName("/reason", d.Reason)
	fields.AddIf(d.ClosesAt == nil && d.PerDay+d.Total == 0 && d.RunID == "", "",
		"must grant something: {closesAt}, {perDay}, {total} or {runId}")
	return fields
}

// Exception returns the exception with the ID. It returns nil if the team has no such exception, and for a nil Allowance.
func (a *Allowance) Exception(id string) *Exception {
	if a == nil {
		return nil
	}
	if i := slices.IndexFunc(a.Exceptions, func(e Exception) bool { return e.ID == id }); i >= 0 {
		return &a.Exceptions[i]
	}
	return nil
}

// Window returns when the team can submit to the dataset of the task. The Allowance is nil if the team has none.
func (a *Allowance) Window(t *TaskItem, d *DatasetItem) (opens, closes *Instant) {
	opens, closes = d.Window(t)
	if a != nil {
		for _, e := range a.Exceptions {
			if e.ClosesAt != nil {
				closes = Extension{e.DatasetID, *e.ClosesAt}.extend(closes, d.ID)
			}
		}
	}
	return opens, closes
}

// Closed returns when the last dataset of the task closed for the team. From then on the team can neither submit nor take members. Closed
// returns nil while one of the datasets takes submissions of the team, or will. sets has all datasets of the task. Those that are being
// deleted do not count. Without others, the window of the task itself counts. The Allowance is nil if the team has none, like a new team.
func (a *Allowance) Closed(t *TaskItem, sets []*DatasetItem, now time.Time) *Instant {
	sets = slices.DeleteFunc(slices.Clone(sets), (*DatasetItem).Deleting)
	if len(sets) == 0 {
		sets = []*DatasetItem{new(DatasetItem)}
	}
	stage := t.Stage(lists.Map(sets, func(d *DatasetItem) DatasetSubmissions {
		opens, closes := a.Window(t, d)
		return DatasetSubmissions{OpensAt: opens, ClosesAt: closes}
	}), now)
	if stage.Past() {
		return stage.ClosesAt
	}
	return nil
}

// Mark marks a run on the dataset as final, or removes the mark. It returns a problem if the team has marked the greatest number of
// runs.
func (a *Allowance) Mark(d *DatasetItem, runID string, final bool) error {
	a.Unmark(d.ID, runID)
	marked := a.Final[d.ID]
	switch {
	case !final:
		return nil
	case len(marked) >= d.FinalRuns:
		return problem.InvalidMember("/final", "cannot be set: the dataset takes %s of a team, and these of the team are: %s. Unmark "+
			"%d of them first: %s", plural.Count(d.FinalRuns, "final run"),
			lists.Map(marked, func(id string) problem.Part { return problem.Resource("run", id) }), len(marked)-d.FinalRuns+1,
			problem.UpdateRun.With().Setting("final", false))
	case a.Final == nil:
		a.Final = map[string][]string{}
	}
	a.Final[d.ID] = append(marked, runID)
	return nil
}

// Unmark removes the mark of a run as final, if it has one.
func (a *Allowance) Unmark(datasetID, runID string) {
	left := lists.Without(a.Final[datasetID], runID)
	if len(left) == 0 {
		delete(a.Final, datasetID)
		return
	}
	a.Final[datasetID] = left
}
