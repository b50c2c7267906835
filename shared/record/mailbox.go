package record

import (
	"crypto/rand"
	"slices"
	"strings"
	"time"

	"assay/shared/store"

	"github.com/oklog/ulid/v2"
)

// Mailbox is what the notifier knows of one recipient of e-mails: what is wanted, what waits, and when the next e-mail may be sent. It is
// apart from UserPartition, which nearly every request reads. All that wait are sent as one e-mail, so that a recipient gets at most one in
// MailInterval.
type Mailbox struct {
	Meta // ID is the user's, or the AddressID of an address
	// Muted are the kinds of events that are not sent; Stopped says that none is.
	Muted   []EventKind `json:"muted,omitempty"`
	Stopped bool        `json:"stopped,omitempty"`
	// Secret is in the links by which a recipient who is not logged in stops the e-mails: 128 random bits, in the form of an id.
	Secret string `json:"secret,omitempty"`
	// Waiting are the events that the next e-mail tells of, the oldest first, and Unlisted how many it counts beyond these.
	Waiting  []Waiting `json:"waiting,omitempty"`
	Unlisted int       `json:"unlisted,omitempty"`
	// NotBefore is when they are to be sent, or, while they are being sent, when that is taken to have failed; nil when none waits.
	NotBefore *Instant `json:"notBefore,omitempty"`
	SentAt    *Instant `json:"sentAt,omitempty"` // the last one
	// FailingSince is when the first of the attempts failed that failed in a row.
	FailingSince *Instant `json:"failingSince,omitempty"`
}

// Waiting is an event that waits for an e-mail, with its Secret.
type Waiting struct {
	EventID     string `json:"eventId"`
	OrganizerID string `json:"organizerId,omitempty"`
	Secret      string `json:"secret,omitempty"`
}

// NewMailbox returns the mailbox of a user who has none.
func NewMailbox(userID string, now time.Time) *Mailbox {
	var secret ulid.ULID
	_, _ = rand.Read(secret[:]) // which never fails
	return &Mailbox{Meta: MetaOf(userID, now), Secret: secret.String()}
}

const mailboxPrefix = "MAILBOX#"

// IsMailbox reports whether the key is of a Mailbox.
func IsMailbox(key store.Key) bool { return strings.HasPrefix(key.Partition, mailboxPrefix) }

// Limits of e-mails.
const (
	MailInterval = 10 * time.Minute // between two e-mails to one recipient, and to one address
	MailTime     = 3 * Day          // for which an e-mail that fails is tried again
	maxListed    = 100              // events in one e-mail
)

// Wants reports whether the recipient wants e-mails of the kind. A nil Mailbox wants all.
func (m *Mailbox) Wants(kind EventKind) bool {
	return m == nil || !m.Stopped && !slices.Contains(m.Muted, kind)
}

// Add has the next e-mail tell of the event.
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

// Organizer identifies the organizer of the oldest event that waits; empty if it has none.
func (m *Mailbox) Organizer() string {
	if len(m.Waiting) == 0 {
		return ""
	}
	return m.Waiting[0].OrganizerID
}

// Remove takes out the events of an e-mail that was sent, also of one that was given up. What came meanwhile waits for the next.
func (m *Mailbox) Remove(sent *Mailbox, now time.Time) {
	m.Waiting = m.Waiting[min(len(sent.Waiting), len(m.Waiting)):]
	m.Unlisted = max(m.Unlisted-sent.Unlisted, 0)
	m.FailingSince, m.NotBefore = nil, nil
	if len(m.Waiting)+m.Unlisted > 0 {
		m.schedule(now)
	}
}

// schedule has what waits be sent as soon as the interval allows.
func (m *Mailbox) schedule(now time.Time) {
	m.NotBefore = new(At(now))
	if m.SentAt != nil && m.SentAt.Add(MailInterval).After(now) {
		m.NotBefore = new(At(m.SentAt.Add(MailInterval)))
	}
}

// UnsubscribePath is where a recipient who is not logged in stops the e-mails.
func (m *Mailbox) UnsubscribePath() string {
	return "/v1/users/" + m.ID + "/unsubscriptions/" + m.Secret
}

// MailboxKey is the key of the user's mailbox.
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
