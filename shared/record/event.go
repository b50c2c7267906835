package record

import (
	"strings"
	"time"

	"assay/shared/access"
	"assay/shared/lists"
	"assay/shared/store"
)

// EventKind says what happened.
type EventKind string

// The kinds of events.
const (
	EventRegistrationPending   EventKind = "registration.pending"
	EventRegistrationDecided   EventKind = "registration.decided"
	EventInvitationCreated     EventKind = "invitation.created"
	EventRunFailed             EventKind = "run.failed"
	EventRunCompleted          EventKind = "run.completed"
	EventReviewPublished       EventKind = "review.published"
	EventTruthChanged          EventKind = "truth.changed"
	EventWindowClosing         EventKind = "window.closing"
	EventAnnouncementPublished EventKind = "announcement.published"
	EventWorkersMissing        EventKind = "workers.missing"
	EventTokenExpiring         EventKind = "token.expiring" //nolint:gosec // no credentials
	EventWebhookDisabled       EventKind = "webhook.disabled"
)

// kind is what is known of a kind of events.
type kind struct {
	EventKind
	to     Recipients
	notice string // in words, who is notified and of what
}

// kinds are all kinds, in the order of the documentation.
var kinds = []kind{
	{EventRegistrationPending, ToOrganizers, "the organizers, that a team waits for their decision"},
	{EventRegistrationDecided, ToTeam, "the team, of what the organizers decided"},
	{EventInvitationCreated, ToAddress, "the owner of the address, of the invitation"},
	{EventRunFailed, ToTeam, "the team, that its run failed"},
	{EventRunCompleted, ToTeam, "the team, that its run completed"},
	{EventReviewPublished, ToTeam, "the team, that its results are published"},
	{EventTruthChanged, ToRegistrants, "the teams that take part, that runs are evaluated again"},
	{EventWindowClosing, ToRegistrants, "the teams that take part, two days before the window closes"},
	{EventAnnouncementPublished, ToRegistrants, "the teams that take part, of the announcement"},
	{EventWorkersMissing, ToOrganizers, "the organizers, that no worker serves a run"},
	{EventTokenExpiring, ToUsers, "the owner of the token, before it expires"},
	{EventWebhookDisabled, ToOrganizers, "the organizers, that a webhook was switched off"},
}

// EventKinds are all kinds, in the order of the documentation.
var EventKinds = lists.Map(kinds, func(k kind) EventKind { return k.EventKind })

// Notice says in words who is notified of an event of the kind, and of what.
func (k EventKind) Notice() string { return k.about().notice }

// To returns who is notified of events of the kind.
func (k EventKind) To() Recipients { return k.about().to }

func (k EventKind) about() kind {
	for _, known := range kinds {
		if known.EventKind == k {
			return known
		}
	}
	return kind{}
}

// Recipients says which people are notified of an event.
type Recipients string

// Recipients of events.
const (
	ToTeam        Recipients = "team"        // the members of the registration, or the owner of what has none
	ToOrganizers  Recipients = "organizers"  // the members of the organizer
	ToRegistrants Recipients = "registrants" // the members of all registrations of the task that were accepted
	ToUsers       Recipients = "users"       // those whom the event names
	ToAddress     Recipients = "address"     // the e-mail address of the invitation, whose owner need have no account
)

// Event is an entry of the outbox: something happened that people and webhooks are notified of. The transaction of the change that it
// tells of creates it, so that none is lost and none is made up; the notifier delivers it from NotBefore on. It says what the event is
// about and no more: what a recipient is shown is read at delivery, as far as that recipient may see it then.
type Event struct {
	Meta
	Kind           EventKind `json:"kind"`
	OrganizerID    string    `json:"organizerId,omitempty"`
	TaskID         string    `json:"taskId,omitempty"`
	RegistrationID string    `json:"registrationId,omitempty"` // the team that it concerns
	UserIDs        []string  `json:"userIds,omitempty"`        // recipients of ToUsers, and of ToTeam where there is no registration
	RunID          string    `json:"runId,omitempty"`          // of EventWorkersMissing: a run that waits
	// Secret is that of an invitation to an e-mail address. The event has it until it is delivered, and then the Mailbox until it is sent.
	Secret    string  `json:"secret,omitempty"`
	Subject   string  `json:"subject"` // path of what it is about
	NotBefore Instant `json:"notBefore"`
	// Cursor is how far the fan-out has come: the recipient who was last.
	Cursor string `json:"cursor,omitempty"`
	// Delivered says that it is over with the event.
	Delivered bool `json:"delivered,omitempty"`
}

// NewEvent returns an event of now about the subject, a path such as /v1/runs/<id>, that is in the scope.
func NewEvent(now time.Time, kind EventKind, of access.Scope, subject string) *Event {
	e := &Event{Meta: NewMeta(now), Kind: kind, OrganizerID: of.OrganizerID, TaskID: of.TaskID, RegistrationID: of.RegistrationID,
		Subject: subject, NotBefore: At(now)}
	if kind.To() == ToTeam && of.RegistrationID == "" && of.OwnerID != "" {
		e.UserIDs = []string{of.OwnerID}
	}
	return e
}

// WindowNotice is how long before a window closes its registrants are notified, and TokenNotice before an access token expires its user is.
// WorkersNotice is how long a run waits for a worker before its organizers are notified that none was seen, and then once a day.
const (
	WindowNotice  = 2 * Day
	TokenNotice   = 7 * Day
	WorkersNotice = time.Hour
)

// NextWorkersNotice is when that is looked at next for a run that has waited since the instant.
func NextWorkersNotice(since, now time.Time) time.Time {
	first := since.Add(WorkersNotice)
	if now.Before(first) {
		return first
	}
	return first.Add(now.Sub(first).Truncate(Day) + Day)
}

// ClosingEvent is the event that the window of the task closes, as it is now; nil when it does not close any more. It tells of each
// instant once. Changes of every kind create it when it is missing: it is deleted when it falls due while it is not true, as in the trash.
func (t *TaskItem) ClosingEvent(now time.Time) *Event {
	if t == nil {
		return nil
	}
	return closingEvent(now, t.Scope(), t.ID, "/v1/tasks/"+t.ID, t.Submissions.ClosesAt)
}

// ClosingEvent is that of the dataset's own window.
func (d *DatasetItem) ClosingEvent(now time.Time) *Event {
	if d.Deleting() {
		return nil
	}
	return closingEvent(now, d.Scope(), d.ID, "/v1/datasets/"+d.ID, d.Submissions.ClosesAt)
}

func closingEvent(now time.Time, of access.Scope, id, subject string, closesAt *Instant) *Event {
	if closesAt == nil || !closesAt.After(now) {
		return nil
	}
	e := NewEvent(now, EventWindowClosing, of, subject)
	e.ID = id + "-" + closesAt.sortable()
	if at := closesAt.Add(-WindowNotice); at.After(now) {
		e.NotBefore = At(at)
	}
	return e
}

// ExpiringEvent is the event that the access token expires.
func (t *AccessTokenItem) ExpiringEvent(now time.Time) *Event {
	e := NewEvent(now, EventTokenExpiring, access.Scope{}, "/v1/user/tokens/"+t.ID)
	e.ID, e.UserIDs = t.ID, []string{t.UserID}
	return e
}

// End says that the event is delivered, or given up.
func (e *Event) End() { e.Delivered, e.Secret = true, "" }

// eventRetention is for how long a delivered event is kept: until then the event with the same id is not delivered again. That of
// EventWorkersMissing has the day in its id.
const (
	eventRetention        = 30 * Day
	workersEventRetention = 2 * Day
)

const eventSort = "EVENT"

// EventKey is the key of the event.
func EventKey(id string) store.Key { return store.Key{Partition: "EVENT#" + id, Sort: eventSort} }

// IsEvent reports whether the key is of an event.
func IsEvent(k store.Key) bool { return k.Sort == eventSort }

// Key implements Record.
func (e *Event) Key() store.Key { return EventKey(e.ID) }

// Expiry says when the record goes by itself.
func (e *Event) Expiry() time.Time {
	if !e.Delivered {
		return time.Time{}
	}
	if e.Kind == EventWorkersMissing {
		return e.UpdatedAt.Add(workersEventRetention)
	}
	return e.UpdatedAt.Add(eventRetention)
}

// Indexes implements Record.
func (e *Event) Indexes() [store.NumIndexes]store.Key {
	x := indexes{}
	if e.RunID != "" {
		x = x.todo(e.OrganizerID, e.RunID)
	}
	if e.Delivered {
		return x
	}
	return x.outbox(e.NotBefore, e.OrganizerID+"#"+e.ID)
}

// EventOrganizer returns the organizer of the event with the sort key in OutboxPartition; empty for other records.
func EventOrganizer(sort string) string {
	parts := strings.Split(sort, "#")
	if len(parts) < 3 {
		return ""
	}
	return parts[1]
}

// OutboxPartition holds, in ByWork, what the notifier has to do besides sending deliveries, by the instant from which on.
const OutboxPartition = "OUTBOX"

func (x indexes) outbox(at Instant, rest string) indexes {
	return x.with(ByWork, OutboxPartition, due(at, rest))
}
