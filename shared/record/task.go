package record

import (
	"cmp"
	"slices"
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
	PerDay   int              `json:"perDay" required:"false" minimum:"0" maximum:"1000" doc:"runs a team may have in a sliding 24 hours; 0: no limit"`
	Total    int              `json:"total" required:"false" minimum:"0" maximum:"1000000" doc:"runs a team may have in all; 0: no limit"`
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
	Terms        *Terms            `json:"terms,omitempty" doc:"what teams accept when they register, and again before the next submission when it has changed; an empty text: none"`
}

// Task is a shared task.
type Task struct {
	Meta
	TaskDraft
}

// TaskItem is a task as the store holds it.
type TaskItem struct {
	Task
	// TermsVersion is that of the last terms, also when the task has none any more.
	TermsVersion int64        `json:"termsVersion,omitempty"`
	PendingWork  *PendingWork `json:"pendingWork,omitempty"`
	// Payer is Organizer.Payer of the task's organizer.
	Payer string `json:"payer,omitempty"`
}

// PayerID identifies the payer of the task's runs in the turns of queues.
func (t *TaskItem) PayerID() string { return cmp.Or(t.Payer, t.OrganizerID) }

// For returns the task as all see it who see it.
func (t *TaskItem) For(access.Role) Task { return t.Task }

// TaskRules are what participants rely on.
type TaskRules struct {
	Visibility   Visibility        `json:"visibility"`
	Registration RegistrationRules `json:"registration"`
	Submissions  SubmissionRules   `json:"submissions"`
	TermsVersion int64             `json:"termsVersion,omitempty"`
}

// AuditedTask is what an audit entry keeps of a task.
type AuditedTask struct {
	Name string `json:"name"`
	TaskRules
}

// Audited returns what an audit entry keeps of the task.
func (t *TaskItem) Audited() AuditedTask {
	return AuditedTask{t.Name, TaskRules{
		Visibility:   t.Visibility,
		Registration: t.Registration,
		Submissions:  t.Submissions,
		TermsVersion: t.requiredTerms(),
	}}
}

// Key implements Record.
func (t *TaskItem) Key() store.Key { return TaskKey(t.ID) }

// TaskKey is the key of the task.
func TaskKey(id string) store.Key { return keyOf(KindTask, id, "TASK") }

// Indexes implements Record.
func (t *TaskItem) Indexes() [store.NumIndexes]store.Key {
	a := t.Scope().Audience
	x := indexes{}.in(KindOrganizer, t.OrganizerID, KindTask, a, t.ID).pending(t.PendingWork, t.ID)
	x = x.with(ByKind, kindPartition(KindTask, a, t.ID), t.ID)
	if t.Featured && a == access.Everyone {
		x = x.with(ByTask, FeaturedTasks, t.ID)
	}
	return x
}

// WidestScope returns the scope of a public task, which most callers see.
func (*TaskItem) WidestScope() access.Scope { return new(TaskItem).Scope() }

// Scope is the scope of the task.
func (t *TaskItem) Scope() access.Scope {
	s := access.Scope{OrganizerID: t.OrganizerID, TaskID: t.ID, Audience: access.Everyone, KnownTo: access.Applicant}
	if t.Visibility == Private {
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
	if d.Terms != nil && d.Terms.Text == "" {
		d.Terms = nil
	}
}

// Check says what is wrong with the draft.
func (d *TaskDraft) Check() []problem.Field {
	return slices.Concat(checkName("/name", d.Name), checkText("/description", d.Description),
		checkText("/terms/text", cmp.Or(d.Terms, new(Terms)).Text),
		checkWindow("/registration", d.Registration.OpensAt, d.Registration.ClosesAt),
		checkWindow("/submissions", d.Submissions.OpensAt, d.Submissions.ClosesAt), checkDistinct("/submissions/types", d.Submissions.Types))
}

func checkWindow(pointer string, opens, closes *Instant) (fields problem.Fields) {
	fields.AddIf(opens != nil && closes != nil && !opens.Before(closes.Time), pointer+"/closesAt", "must be later than the opening")
	return fields
}

// CheckWindow returns the problem when now is outside the window: it opens at opens, and closes says the first instant
// at which it is closed again. What names what one tries to do ("Registration", "Submission").
func CheckWindow(what string, opens, closes *Instant, now time.Time) error {
	if opens != nil && now.Before(opens.Time) {
		return problem.OutsideWindow.New("%s opens at %s.", what, opens.sortable())
	}
	if closes != nil && !now.Before(closes.Time) {
		return problem.OutsideWindow.New("%s closed at %s. Ask the organizers of the task if you need more time.", what, closes.sortable())
	}
	return nil
}
