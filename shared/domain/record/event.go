package record

import (
	"strings"
	"time"

	"assay/shared/domain/access"
	"assay/shared/language/lists"
	"assay/shared/language/problem"
	"assay/shared/storage/store"
)

// EventKind is a kind of event.
type EventKind string

// The kinds of events.
const (
	EventRegistrationPending   EventKind = "registration.pending"
	EventRegistrationDecided   EventKind = "registration.decided"
	EventRegistrationEnded     EventKind = "registration.ended"
	EventInvitationCreated     EventKind = "invitation.created"
	EventRunFailed             EventKind = "run.failed"
	EventRunCompleted          EventKind = "run.completed"
	EventReviewPublished       EventKind = "review.published"
	EventDeletionCreated       EventKind = "deletion.created"
	EventTruthChanged          EventKind = "truth.changed"
	EventWindowClosing         EventKind = "window.closing"
	EventAnnouncementPublished EventKind = "announcement.published"
	EventWorkersMissing        EventKind = "workers.missing"
	EventTokenExpiring         EventKind = "token.expiring" //nolint:gosec // no credentials
	EventWebhookDisabled       EventKind = "webhook.disabled"
)

// notification says who is notified of events of a kind.
type notification struct {
	EventKind
	to   Recipients
	news string // follows "are notified" in sentences
}

// notifications holds a notification for each kind, in the order of the documentation.
var notifications = []notification{
	{EventRegistrationPending, ToOrganizers, "that a team waits for a decision"},
	{EventRegistrationDecided, ToTeam, "of the decision on the registration"},
	{EventRegistrationEnded, ToFormer, "that they do not take part any more"},
	{EventInvitationCreated, ToAddress, "of the invitation"},
	{EventRunFailed, ToTeam, "that a run failed"},
	{EventRunCompleted, ToTeam, "that a run completed"},
	{EventReviewPublished, ToTeam, "that a review is published"},
	{EventDeletionCreated, ToTeam, "that organizers deleted a run or a submission"},
	{EventTruthChanged, ToRegistrants, "that the ground truth or its evaluator changed"},
	{EventWindowClosing, ToRegistrants, "that the window closes"},
	{EventAnnouncementPublished, ToRegistrants, "of the announcement"},
	{EventWorkersMissing, ToOrganizers, "that no worker serves a run"},
	{EventTokenExpiring, ToUsers, "that the token expires"},
	{EventWebhookDisabled, ToOrganizers, "that a webhook was disabled"},
}

// EventKinds lists all kinds in the order of the documentation.
var EventKinds = lists.Map(notifications, func(k notification) EventKind { return k.EventKind })

// To returns the recipients of events of the kind.
func (k EventKind) To() Recipients { return k.about().to }

func (k EventKind) about() notification {
	for _, known := range notifications {
		if known.EventKind == k {
			return known
		}
	}
	return notification{}
}

// Recipients are the people who are notified of an event.
type Recipients string

// The recipients of events.
const (
	ToTeam        Recipients = "team"        // the members of the registration, or the owner of a record without one
	ToOrganizers  Recipients = "organizers"  // the members of the organizer
	ToRegistrants Recipients = "registrants" // the members of all registrations of the task that were accepted
	ToFormer      Recipients = "former"      // the former members of a team that the event names
	ToUsers       Recipients = "users"       // the users that the event names
	ToAddress     Recipients = "address"     // the e-mail address of the invitation, whose owner may have no account
)

// notified begins the sentence that recipients are notified.
var notified = map[Recipients]string{
	ToTeam: "The team is", ToOrganizers: "The organizers are", ToRegistrants: "The teams that take part are",
	ToFormer: "The members are", ToUsers: "The owner of the token is", ToAddress: "The owner of the address is",
}

// Event is an entry of the outbox: people and webhooks are notified of it. The transaction of a change creates the event, so that no
// event is lost or wrong. The notifier delivers the event from NotBefore on. The event names only its subject. The contents of
// notifications are read at delivery, so that each recipient sees only what that recipient may see then.
type Event struct {
	Meta
	Kind           EventKind `json:"kind"`
	OrganizerID    string    `json:"organizerId,omitempty"`
	TaskID         string    `json:"taskId,omitempty"`
	RegistrationID string    `json:"registrationId,omitempty"` // the team that the event concerns
	UserIDs        []string  `json:"userIds,omitempty"`        // recipients for ToFormer and ToUsers, and for ToTeam without a registration
	RunID          string    `json:"runId,omitempty"`          // for EventWorkersMissing: a run that waits
	// Secret is the secret of an invitation to an e-mail address. The event has it until delivery, then the Mailbox until the e-mail is
	// sent.
	Secret    string  `json:"secret,omitempty"`
	Subject   string  `json:"subject"` // path of the resource that the event is about
	NotBefore Instant `json:"notBefore"`
	// Cursor is the last recipient that the fan-out has reached.
	Cursor string `json:"cursor,omitempty"`
	// Delivered reports whether the event was delivered or given up.
	Delivered bool `json:"delivered,omitempty"`
}

// NewEvent returns an event at now in the scope, about the subject, which is a path such as /v1/runs/<id>.
func NewEvent(now time.Time, kind EventKind, of access.Scope, subject string) *Event {
	e := &Event{Meta: NewMeta(now), Kind: kind, OrganizerID: of.OrganizerID, TaskID: of.TaskID, RegistrationID: of.RegistrationID,
		Subject: subject, NotBefore: At(now)}
	if kind.To() == ToTeam && of.RegistrationID == "" && of.OwnerID != "" {
		e.UserIDs = []string{of.OwnerID}
	}
	return e
}

// Notice says in a sentence who will be notified of the event by e-mail, of what and, unless that is at once, when. several says that other
// teams are notified of the same.
func (e *Event) Notice(now time.Time, several bool) problem.Text {
	of := e.Kind.about()
	who := notified[of.to]
	switch {
	case of.to != ToTeam:
	case e.RegistrationID == "":
		who = "The user who submitted the baseline is"
	case several:
		who = "The teams are"
	}
	text := problem.Sentence("%s notified by e-mail", who)
	if e.NotBefore.After(now) {
		text.Append(problem.Sentence(" at %s", e.NotBefore))
	}
	text.Append(problem.Sentence(" %s.", of.news))
	return text
}

// Delays of notifications. Registrants are notified WindowNotice before a window closes, and users TokenNotice before an access token
// expires. Organizers are notified when a run has waited WorkersNotice without a worker being seen, and then once a day.
const (
	WindowNotice  = 2 * Day
	TokenNotice   = 7 * Day
	WorkersNotice = time.Hour
)

// NextWorkersNotice returns when to check next for missing workers, for a run that has waited since the instant.
func NextWorkersNotice(since, now time.Time) time.Time {
	first := since.Add(WorkersNotice)
	if now.Before(first) {
		return first
	}
	return first.Add(now.Sub(first).Truncate(Day) + Day)
}

// ClosingEvent returns the event for the close of the task's window. It returns nil if the window does not close after now. Each
// closing time has one event. Any change of the task creates a missing event, because an event that falls due while the window does not
// close, for example while the task is in the trash, is deleted.
func (t *TaskItem) ClosingEvent(now time.Time) *Event {
	if t == nil {
		return nil
	}
	return closingEvent(now, t.Scope(), t.ID, "/v1/tasks/"+t.ID, t.Submissions.ClosesAt)
}

// ClosingEvent returns the event for the close of the dataset's own window.
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

// ExpiringEvent returns the event for the expiry of the access token.
func (t *AccessTokenItem) ExpiringEvent(now time.Time) *Event {
	e := NewEvent(now, EventTokenExpiring, access.Scope{}, "/v1/user/tokens/"+t.ID)
	e.ID, e.UserIDs = t.ID, []string{t.UserID}
	return e
}

// End marks the event as delivered or given up.
func (e *Event) End() { e.Delivered, e.Secret = true, "" }

// eventRetention is how long a delivered event is kept. Until then an event with the same ID is not delivered again. Events of
// EventWorkersMissing have the day in their ID, so they are kept for less time.
const (
	eventRetention        = 30 * Day
	workersEventRetention = 2 * Day
)

const eventSort = "EVENT"

// EventKey returns the key of the event.
func EventKey(id string) store.Key { return store.Key{Partition: "EVENT#" + id, Sort: eventSort} }

// IsEvent reports whether the key belongs to an event.
func IsEvent(k store.Key) bool { return k.Sort == eventSort }

// Key implements Record.
func (e *Event) Key() store.Key { return EventKey(e.ID) }

// Expiry returns when the store deletes the record, and the zero Time while the event is not delivered.
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

// EventOrganizer returns the organizer of the event with the sort key in OutboxPartition. It returns "" for other records.
func EventOrganizer(sort string) string {
	parts := strings.Split(sort, "#")
	if len(parts) < 3 {
		return ""
	}
	return parts[1]
}

// OutboxPartition is the partition of ByWork with the notifier's work except deliveries, by the time from which it is due.
const OutboxPartition = "OUTBOX"

func (x indexes) outbox(at Instant, rest string) indexes {
	return x.with(ByWork, OutboxPartition, due(at, rest))
}
