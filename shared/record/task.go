package record

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"assay/shared/access"
	"assay/shared/problem"
	"assay/shared/store"
)

// MaxTaskDatasets is how many datasets a task has at most.
const MaxTaskDatasets = 50

// MaxPerDay bounds a task's daily quota, because the runs of the last day are remembered one by one.
const MaxPerDay = 1000

// Visibility says whether a thing is public.
type Visibility string

// The visibilities.
const (
	Public  Visibility = "public"
	Private Visibility = "private"
)

// Mode says how one gets into a task.
type Mode string

// The modes of registration.
const (
	Open     Mode = "open"
	Approval Mode = "approval"
	Closed   Mode = "closed"
)

// RegistrationRules say who can register for a task, and when.
type RegistrationRules struct {
	Mode     Mode     `json:"mode" required:"false" enum:"open,approval,closed" doc:"open, which it is unless given: everyone is accepted; approval: an organizer accepts; closed: only an organizer registers users"`
	OpensAt  *Instant `json:"opensAt,omitempty" doc:"nobody registers before"`
	ClosesAt *Instant `json:"closesAt,omitempty" doc:"nobody registers from then on"`
}

// SubmissionRules say what can be submitted to a task, when, and how often.
type SubmissionRules struct {
	OpensAt  *Instant         `json:"opensAt,omitempty" doc:"nothing can be submitted before"`
	ClosesAt *Instant         `json:"closesAt,omitempty" doc:"nothing can be submitted from then on"`
	PerDay   int              `json:"perDay" required:"false" minimum:"0" maximum:"1000" doc:"runs a user may have in a sliding 24 hours; 0: no limit"`
	Total    int              `json:"total" required:"false" minimum:"0" maximum:"1000000" doc:"runs a user may have in all; 0: no limit"`
	Types    []SubmissionType `json:"types" required:"false" maxItems:"3" enum:"upload,image,repository" doc:"what may be submitted; empty: everything"`
}

// TaskDraft is what a client writes of a task.
type TaskDraft struct {
	OrganizerID  string            `json:"organizerId" maxLength:"26" doc:"the organizer that owns the task; it never changes" example:"01JZ3V7Q0D8T5RZ0S6R1W9C4XK"`
	Name         string            `json:"name" minLength:"1" maxLength:"200" doc:"name of the task" example:"Conversational passage retrieval"`
	Description  string            `json:"description" required:"false" maxLength:"65536" doc:"Markdown"`
	Website      string            `json:"website,omitempty" format:"uri" maxLength:"2000" doc:"http or https URL"`
	Visibility   Visibility        `json:"visibility" required:"false" enum:"public,private" doc:"public, which it is unless given: everyone sees the task; private: the organizer's members and those whose registration was accepted"`
	Featured     bool              `json:"featured" required:"false" doc:"shown first on the landing page; administrators of the platform alone change it"`
	Registration RegistrationRules `json:"registration" required:"false" doc:"who can take part"`
	Submissions  SubmissionRules   `json:"submissions" required:"false" doc:"what can be submitted"`
}

// Task is a shared task.
type Task struct {
	Meta
	TaskDraft
}

// TaskItem is a task as the store holds it.
type TaskItem struct {
	Task
	// Deleting is set from when its deletion was begun until it is gone; nothing new comes into the task.
	Deleting bool `json:"deleting,omitempty"`
	// DeletedBy is the user who began that.
	DeletedBy string `json:"deletedBy,omitempty"`
	// Follow is set while what stands below the task does not yet carry its visibility.
	Follow *Follow `json:"follow,omitempty"`
}

// TaskRules are what participants rely on.
type TaskRules struct {
	Visibility   Visibility        `json:"visibility"`
	Registration RegistrationRules `json:"registration"`
	Submissions  SubmissionRules   `json:"submissions"`
}

// AuditedTask is what an audit entry keeps of a task.
type AuditedTask struct {
	Name string `json:"name"`
	TaskRules
}

// Audited returns what an audit entry keeps of the task.
func (t *TaskItem) Audited() AuditedTask {
	return AuditedTask{t.Name, TaskRules{t.Visibility, t.Registration, t.Submissions}}
}

// Follow says that what hangs on a record has yet to follow a change of it, from when on the work is to be taken up
// by whoever finds it, should the request that began it have died.
type Follow struct {
	At Instant `json:"at"`
	// Passes is how often all that hangs on the record has been gone through. What was written within about a second
	// may be missing from an index, so one pass alone proves nothing.
	Passes int `json:"passes,omitempty"`
}

// Decided reports whether the deletion that the Follow stands for is irrevocable.
func (f *Follow) Decided() bool { return f != nil && f.Passes > 0 }

// DeletedTask stands where a task was until nothing can be left of it.
type DeletedTask struct {
	Meta // ID is the task's
	// Due is when what was on its way into the task meanwhile has arrived, and can go too.
	Due Instant
}

// Key implements Record.
func (d *DeletedTask) Key() store.Key { return DeletedTaskKey(d.ID) }

// DeletedTaskKey is where the DeletedTask of a task stands in the table.
func DeletedTaskKey(id string) store.Key {
	return store.Key{Partition: TaskKey(id).Partition, Sort: "DELETED"}
}

// Indexes implements Record.
func (d *DeletedTask) Indexes() [store.NumIndexes]store.Key {
	var x indexes
	x.put(ByWork, DuePartition, due(d.Due, d.ID))
	return x
}

// Key implements Record.
func (t *TaskItem) Key() store.Key { return TaskKey(t.ID) }

// TaskKey is where the task stands in the table.
func TaskKey(id string) store.Key { return store.Key{Partition: "TASK#" + id, Sort: "TASK"} }

// Indexes implements Record.
func (t *TaskItem) Indexes() [store.NumIndexes]store.Key {
	var x indexes
	a := t.Scope().Audience
	if !t.Deleting {
		x.put(ByKind, kindPartition(KindTask, a, t.ID), t.ID)
	}
	x.put(ByOrganizer, OrganizerPartition(t.OrganizerID, KindTask, a), t.ID)
	if t.Featured && a == access.Everyone {
		x.put(ByTask, FeaturedTasks, t.ID)
	}
	if t.Follow != nil {
		x.put(ByWork, DuePartition, due(t.Follow.At, t.ID))
	}
	return x
}

// due is the sort key under which DuePartition has what is due at the instant.
func due(at Instant, id string) string { return at.sortable() + "#" + id }

// DueBy returns the greatest sort key of DuePartition of what is due at the instant or before.
func DueBy(at time.Time) string { return At(at).sortable() + "$" }

// DueAt returns the instant of a sort key of DuePartition, or of a queue.
func DueAt(sort string) (time.Time, error) {
	at, _, _ := strings.Cut(sort, "#")
	return time.Parse(instantLayout, at)
}

// Widest is the scope of a public task.
func (*TaskItem) Widest() access.Scope { return new(TaskItem).Scope() }

// Scope says where the task stands.
func (t *TaskItem) Scope() access.Scope {
	s := access.Scope{OrganizerID: t.OrganizerID, TaskID: t.ID, Audience: access.Everyone, KnownTo: access.Applicant}
	switch {
	case t.Deleting:
		s.Audience, s.KnownTo = access.Organizers, 0
	case t.Visibility == Private:
		s.Audience = access.Registrants
	}
	return s
}

// Normalize fills in what the draft leaves open.
func (d *TaskDraft) Normalize() {
	d.Visibility = cmp.Or(d.Visibility, Public)
	d.Registration.Mode = cmp.Or(d.Registration.Mode, Open)
	if d.Submissions.Types == nil {
		d.Submissions.Types = []SubmissionType{}
	}
}

// Check says what is wrong with the draft.
func (d *TaskDraft) Check() []problem.Field {
	fields := checkName("/name", d.Name)
	fields = append(fields, checkText("/description", d.Description)...)
	fields = append(fields, checkWindow("/registration", d.Registration.OpensAt, d.Registration.ClosesAt)...)
	fields = append(fields, checkWindow("/submissions", d.Submissions.OpensAt, d.Submissions.ClosesAt)...)
	for i, t := range d.Submissions.Types {
		fields.AddIf(slices.Contains(d.Submissions.Types[:i], t), fmt.Sprintf("/submissions/types/%d", i), "is named twice")
	}
	return fields
}

func checkWindow(pointer string, opens, closes *Instant) (fields problem.Fields) {
	fields.AddIf(opens != nil && closes != nil && !opens.Before(closes.Time), pointer+"/closesAt", "must be later than opensAt")
	return fields
}

// CheckWindow returns the problem when now is outside the window: it opens at opens, and closes says the first instant
// at which it is closed again. What names what one tries to do ("Registration", "Submission").
func CheckWindow(what string, opens, closes *Instant, now time.Time) error {
	if opens != nil && now.Before(opens.Time) {
		return problem.OutsideWindow.New("%s opens at %s.", what, opens.sortable())
	}
	if closes != nil && !now.Before(closes.Time) {
		return problem.OutsideWindow.New("%s closed at %s.", what, closes.sortable())
	}
	return nil
}
