package record

import (
	"crypto/rand"
	"slices"
	"strings"
	"time"

	"assay/shared/storage/store"

	"github.com/oklog/ulid/v2"
)

// Mailbox holds one recipient's choice of e-mails, the waiting events, and the time of the next e-mail. It is not in UserPartition,
// which nearly every request reads. One e-mail tells of all waiting events, so that a recipient gets at most one e-mail in
// MailInterval.
type Mailbox struct {
	Meta // ID is the ID of a user, or the AddressID of an address
	// Muted lists the kinds of events for which no e-mails are sent. Stopped stops all e-mails.
	Muted   []EventKind `json:"muted,omitempty"`
	Stopped bool        `json:"stopped,omitempty"`
	// Secret is part of the links with which recipients stop e-mails without signing in: 128 random bits in the form of an ID.
	Secret string `json:"secret,omitempty"`
	// Waiting lists the events for the next e-mail, oldest first. Unlisted counts further events, which the e-mail does not list.
	Waiting  []Waiting `json:"waiting,omitempty"`
	Unlisted int       `json:"unlisted,omitempty"`
	// NotBefore is when the next e-mail is due. While an e-mail is being sent, it is when that attempt counts as failed. It is nil when
	// no event waits.
	NotBefore *Instant `json:"notBefore,omitempty"`
	SentAt    *Instant `json:"sentAt,omitempty"` // when the last e-mail was sent
	// FailingSince is when the first attempt failed since the last success.
	FailingSince *Instant `json:"failingSince,omitempty"`
}

// Waiting is an event that waits for an e-mail, with the event's Secret.
type Waiting struct {
	EventID     string `json:"eventId"`
	OrganizerID string `json:"organizerId,omitempty"`
	Secret      string `json:"secret,omitempty"`
}

// NewMailbox returns the mailbox of a user without a stored one.
func NewMailbox(userID string, now time.Time) *Mailbox {
	var secret ulid.ULID
	_, _ = rand.Read(secret[:]) // never fails
	return &Mailbox{Meta: MetaOf(userID, now), Secret: secret.String()}
}

const mailboxPrefix = "MAILBOX#"

// IsMailbox reports whether the key belongs to a Mailbox.
func IsMailbox(key store.Key) bool { return strings.HasPrefix(key.Partition, mailboxPrefix) }

// Limits of e-mails.
const (
	MailInterval = 10 * time.Minute // between two e-mails to one recipient, and to one address
	MailTime     = 3 * Day          // after which a failing e-mail is given up
	maxListed    = 100              // events in one e-mail
)

// Wants reports whether the recipient wants e-mails of the kind. A nil Mailbox wants all kinds.
func (m *Mailbox) Wants(kind EventKind) bool {
	return m == nil || !m.Stopped && !slices.Contains(m.Muted, kind)
}

// Add adds the event to the next e-mail.
func (m *Mailbox) Add(e *Event, now time.Time) {
	if len(m.Waiting) < maxListed {
		m.Waiting = append(m.Waiting, Waiting{e.ID, e.OrganizerID, e.Secret})
	} else {
		m.Unlisted++
	}
	if m.NotBefore == nil {
		m.schedule(now)
	}
}

// Organizer returns the organizer of the oldest waiting event, or "" if the event has none.
func (m *Mailbox) Organizer() string {
	if len(m.Waiting) == 0 {
		return ""
	}
	return m.Waiting[0].OrganizerID
}

// Remove removes the events of an e-mail that was sent or given up. Events that were added meanwhile wait for the next e-mail.
func (m *Mailbox) Remove(sent *Mailbox, now time.Time) {
	m.Waiting = m.Waiting[min(len(sent.Waiting), len(m.Waiting)):]
	m.Unlisted = max(m.Unlisted-sent.Unlisted, 0)
	m.FailingSince, m.NotBefore = nil, nil
	if len(m.Waiting)+m.Unlisted > 0 {
		m.schedule(now)
	}
}

// schedule makes the next e-mail due as soon as MailInterval allows.
func (m *Mailbox) schedule(now time.Time) {
	m.NotBefore = new(At(now))
	if m.SentAt != nil && m.SentAt.Add(MailInterval).After(now) {
		m.NotBefore = new(At(m.SentAt.Add(MailInterval)))
	}
}

// UnsubscribePath returns the path at which recipients stop e-mails without signing in.
func (m *Mailbox) UnsubscribePath() string {
	return "/v1/users/" + m.ID + "/unsubscriptions/" + m.Secret
}

// MailboxKey returns the key of the user's mailbox.
func MailboxKey(userID string) store.Key {
	return store.Key{Partition: mailboxPrefix + userID, Sort: "BOX"}
}

// Key implements Record.
func (m *Mailbox) Key() store.Key { return MailboxKey(m.ID) }

// Indexes implements Record.
func (m *Mailbox) Indexes() [store.NumIndexes]store.Key {
	if m.NotBefore == nil {
		return indexes{}
	}
	return indexes{}.outbox(*m.NotBefore, m.ID)
}
