package record

import (
	"cmp"
	"slices"
	"time"

	"assay/shared/domain/access"
	"assay/shared/language/problem"
	"assay/shared/storage/store"
)

// MaxTaskDatasets is the greatest number of datasets of a task.
const MaxTaskDatasets = 50

// MaxPerDay is the greatest daily quota of a task. Used.Recent holds the ID of every run of the last day.
const MaxPerDay = 1000

// Visibility says whether a resource is public.
type Visibility string

// The visibilities.
const (
	Public  Visibility = "public"
	Private Visibility = "private"
)

// Mode says how users register for a task.
type Mode string

// The modes of registration.
const (
	Open     Mode = "open"
	Approval Mode = "approval"
	Closed   Mode = "closed"
)

// RegistrationRules say who can register for a task, and when.
type RegistrationRules struct {
	Mode     Mode     `json:"mode" required:"false" enum:"open,approval,closed" doc:"open (the default): everyone is accepted; approval: an organizer accepts; closed: only teams that an organizer invites take part"`
	OpensAt  *Instant `json:"opensAt,omitempty" doc:"nobody registers before"`
	ClosesAt *Instant `json:"closesAt,omitempty" doc:"nobody registers from then on"`
}

// SubmissionRules say which submissions a task takes, when, and how many.
type SubmissionRules struct {
	OpensAt  *Instant         `json:"opensAt,omitempty" doc:"nothing can be submitted before"`
	ClosesAt *Instant         `json:"closesAt,omitempty" doc:"nothing can be submitted from then on"`
	PerDay   int              `json:"perDay" required:"false" minimum:"0" maximum:"1000" doc:"runs a team may have in a sliding 24 hours; 0: no limit"`
	Total    int              `json:"total" required:"false" minimum:"0" maximum:"1000000" doc:"runs a team may have in all; 0: no limit"`
	Types    []SubmissionType `json:"types" required:"false" maxItems:"3" enum:"upload,image,repository" doc:"what may be submitted; empty: everything"`
}

// LimitsRuns reports whether the rules have a quota.
func (r *SubmissionRules) LimitsRuns() bool { return r.PerDay+r.Total > 0 }

// TaskDraft holds the members of a task that clients write.
type TaskDraft struct {
	OrganizerID  string            `json:"organizerId" maxLength:"26" doc:"the organizer that owns the task; it never changes" example:"01JZ3V7Q0D8T5RZ0S6R1W9C4XK"`
	Name         string            `json:"name" minLength:"1" maxLength:"200" doc:"name of the task" example:"Conversational passage retrieval"`
	Description  string            `json:"description" required:"false" maxLength:"65536" doc:"Markdown"`
	Website      string            `json:"website,omitempty" format:"uri" maxLength:"2000" doc:"http or https URL"`
	Visibility   Visibility        `json:"visibility" required:"false" enum:"public,private" doc:"public (the default): everyone sees the task; private: members of the organizer and users whose registration was accepted see it"`
	Featured     bool              `json:"featured" required:"false" doc:"shown first on the landing page; only administrators of the platform can change it"`
	Registration RegistrationRules `json:"registration" required:"false" doc:"who can take part"`
	Submissions  SubmissionRules   `json:"submissions" required:"false" doc:"what can be submitted"`
	Terms        *Terms            `json:"terms,omitempty" doc:"the terms that teams accept when they register, and again before the next submission when the text has changed; an empty text: no terms"`
}

// Task is a shared task.
type Task struct {
	Meta
	TaskDraft
}

// TaskItem is a stored task.
type TaskItem struct {
	Task
	// TermsVersion is the version of the newest terms. It stays when the terms are removed.
	TermsVersion int64        `json:"termsVersion,omitempty"`
	PendingWork  *PendingWork `json:"pendingWork,omitempty"`
	// Payer is Organizer.Payer of the task's organizer.
	Payer string `json:"payer,omitempty"`
}

// PayerID identifies the payer of the task's runs in the turns of queues.
func (t *TaskItem) PayerID() string { return cmp.Or(t.Payer, t.OrganizerID) }

// For returns the task. All callers who see the task see the same members.
func (t *TaskItem) For(access.Role) Task { return t.Task }

// TaskRules are the rules that participants rely on.
type TaskRules struct {
	Visibility   Visibility        `json:"visibility"`
	Registration RegistrationRules `json:"registration"`
	Submissions  SubmissionRules   `json:"submissions"`
	TermsVersion int64             `json:"termsVersion,omitempty"`
}

// AuditedTask is the part of a task that audit entries keep.
type AuditedTask struct {
	Name string `json:"name"`
	TaskRules
}

// Audited returns the part of the task that audit entries keep.
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

// TaskKey returns the key of the task.
func TaskKey(id string) store.Key { return keyOf(KindTask, id, "TASK") }

// Indexes implements Record.
func (t *TaskItem) Indexes() [store.NumIndexes]store.Key {
	a := t.Scope().Audience
	x := indexes{}.in(KindOrganizer, t.OrganizerID, KindTask, a, t.ID).pending(DueOthers, t.PendingWork, t.ID)
	x = x.with(ByKind, kindPartition(KindTask, a, t.ID), t.ID)
	if t.Featured && a == access.Everyone {
		x = x.with(ByTask, FeaturedTasks, t.ID)
	}
	return x
}

// WidestScope returns the scope of a public task, which most callers see.
func (*TaskItem) WidestScope() access.Scope { return new(TaskItem).Scope() }

// Scope returns the scope of the task.
func (t *TaskItem) Scope() access.Scope {
	s := access.Scope{OrganizerID: t.OrganizerID, TaskID: t.ID, Audience: access.Everyone, KnownTo: access.Applicant}
	if t.Visibility == Private {
		s.Audience = access.Registrants
	}
	return s
}

// Normalize sets the defaults of omitted members.
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

// Check reports the draft's errors.
func (d *TaskDraft) Check() []problem.Field {
	return slices.Concat(checkName("/name", d.Name), checkText("/description", d.Description),
		checkText("/terms/text", cmp.Or(d.Terms, new(Terms)).Text),
		checkWindow("/registration", d.Registration.OpensAt, d.Registration.ClosesAt),
		checkWindow("/submissions", d.Submissions.OpensAt, d.Submissions.ClosesAt), checkDistinct("/submissions/types", d.Submissions.Types))
}

func checkWindow(pointer string, opens, closes *Instant) (fields problem.Fields) {
	fields.AddIf(isReversed(opens, closes), pointer+"/closesAt", "must be later than the opening")
	return fields
}

// CheckWindow returns a problem if now is before opens, or not before closes. what names the refused action ("Registration",
// "Submission").
func CheckWindow(what string, opens, closes *Instant, now time.Time) error {
	return CheckWindows(now, ActionWindow{what, opens, closes})
}

// ActionWindow is the time in which an action is possible. Opens and Closes can be nil.
type ActionWindow struct {
	Action        string // for a sentence: "Registration", "Submission"
	Opens, Closes *Instant
}

// CheckWindows returns a problem that says when each window opens or closed that is not open now. It returns nil if all are open.
func CheckWindows(now time.Time, all ...ActionWindow) error {
	var said, advice problem.Text
	advise := map[ClosedReason]problem.Text{
		ClosedLate:   problem.Sentence(" Ask the organizers of the task if you need more time."),
		ClosedAlways: problem.Sentence(" Ask the organizers of the task to change one of the two."),
	}
	for _, w := range all {
		reason := ReasonClosed(w.Opens, w.Closes, now)
		if reason == "" {
			continue
		}
		if said.Detail != "" {
			said.Append(problem.Sentence(" "))
		}
		said.Append(w.closed(reason))
		advice.Append(advise[reason])
		delete(advise, reason) // so that it is given once
	}
	if said.Detail == "" {
		return nil
	}
	return problem.OutsideWindow.New("%s%s", said, advice)
}

// closed says when the window opens or closed. reason is its ReasonClosed.
func (w ActionWindow) closed(reason ClosedReason) problem.Text {
	switch reason {
	case ClosedEarly:
		return problem.Sentence("%s opens at %s.", w.Action, w.Opens)
	case ClosedLate:
		return problem.Sentence("%s closed at %s.", w.Action, w.Closes)
	default:
		return problem.Sentence("%s never opens: it closes at %s and would open at %s.", w.Action, w.Closes, w.Opens)
	}
}

// ReasonClosed says why a window is closed at now. It is empty if the window is open. A window that has closed does not open again, even if
// its opening was moved to a later time.
func ReasonClosed(opens, closes *Instant, now time.Time) ClosedReason {
	switch {
	case closes != nil && !now.Before(closes.Time):
		return ClosedLate
	case isReversed(opens, closes):
		return ClosedAlways
	case opens != nil && now.Before(opens.Time):
		return ClosedEarly
	}
	return ""
}

// isReversed reports whether a window closes before it opens.
func isReversed(opens, closes *Instant) bool {
	return opens != nil && closes != nil && !opens.Before(closes.Time)
}
