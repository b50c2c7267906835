package record

import (
	"crypto/rand"
	"encoding/base64"
	"slices"
	"time"

	"assay/shared/domain/access"
	"assay/shared/language/problem"
	"assay/shared/storage/store"
)

// MaxWebhooks is the greatest number of webhooks of a task, and of an organizer. One transaction passes an event to all of them.
const MaxWebhooks = 10

// SecretOverlap is how long after a rotation events are also signed with the previous secret.
const SecretOverlap = Day

// WebhookDraft holds the members of a webhook that organizers write.
type WebhookDraft struct {
	URL      string      `json:"url" format:"uri" maxLength:"2000" doc:"where events are sent: https, at a public address; http, and other addresses, only in networks that the operator of a self-hosted server allows. An address that is not allowed is refused; for a host name, only the first delivery shows whether its address is allowed" example:"https://ci.example.org/assay"`
	Kinds    []EventKind `json:"kinds" required:"false" maxItems:"20" enum:"registration.pending,registration.decided,registration.ended,invitation.created,run.failed,run.completed,review.published,deletion.created,truth.changed,window.closing,announcement.published,workers.missing,webhook.disabled" doc:"the kinds of events that are sent; none: all"`
	Disabled bool        `json:"disabled" required:"false" doc:"no events are sent, and events that happen meanwhile are never sent; the server sets it after three days without a delivery, or when the receiver answers 410"`
}

// Normalize sets the defaults of omitted members.
func (d *WebhookDraft) Normalize() {
	if d.Kinds == nil {
		d.Kinds = []EventKind{}
	}
}

// Check reports the draft's errors.
func (d *WebhookDraft) Check() []problem.Field { return checkDistinct("/kinds", d.Kinds) }

// Webhook is an address to which events of an organizer or of one task are sent.
type Webhook struct {
	Meta
	OrganizerID string `json:"organizerId"`
	TaskID      string `json:"taskId,omitempty" doc:"the only task whose events are sent; absent: events of all tasks of the organizer are sent"`
	WebhookDraft
}

// WebhookItem is a stored webhook.
type WebhookItem struct {
	Webhook
	// Secret signs events. It is stored as the receiver has it, because a hash could not sign.
	Secret    string   `json:"secret"`
	OldSecret string   `json:"oldSecret,omitempty"` // the previous secret, which is used until OldUntil
	OldUntil  *Instant `json:"oldUntil,omitempty"`
	Sequence  int64    `json:"sequence"` // the number of the newest event
	// Payer is the PayerID of the webhook's organizer or task. Webhooks with the same payer share connections.
	Payer string `json:"payer"`
	// Proven reports whether an event has arrived at the URL. Before that the URL may be anybody's, and gets one attempt at a time.
	Proven bool `json:"proven,omitempty"`
	// FailingSince is the start of the first failed attempt since the last successful delivery.
	FailingSince *Instant `json:"failingSince,omitempty"`
}

// NewWebhook returns a webhook with a new secret, for the task or organizer of the scope.
func NewWebhook(now time.Time, of access.Scope, payer string, d WebhookDraft) *WebhookItem {
	return &WebhookItem{Webhook: Webhook{Meta: NewMeta(now), OrganizerID: of.OrganizerID, TaskID: of.TaskID, WebhookDraft: d},
		Payer: payer, Secret: newSecret()}
}

// Change replaces the members that organizers write. It resets the failures and, for a new URL, Proven.
func (h *WebhookItem) Change(d WebhookDraft) {
	h.Proven = h.Proven && h.URL == d.URL
	h.WebhookDraft, h.FailingSince = d, nil
}

// Steady reports whether the last attempt at the webhook succeeded. Only steady webhooks get concurrent attempts.
func (h *WebhookItem) Steady() bool { return h.Proven && h.FailingSince == nil }

// newSecret returns a secret of 256 bits in the form of Standard Webhooks.
func newSecret() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails
	return "whsec_" + base64.StdEncoding.EncodeToString(b)
}

// Rotate replaces the secret.
func (h *WebhookItem) Rotate(now time.Time) {
	h.OldSecret = h.Secret
	h.OldUntil = new(At(now.Add(SecretOverlap)))
	h.Secret = newSecret()
}

// Secrets returns the secrets that sign events at now.
func (h *WebhookItem) Secrets(now time.Time) []string {
	if h.OldUntil != nil && h.OldUntil.After(now) {
		return []string{h.Secret, h.OldSecret}
	}
	return []string{h.Secret}
}

// Takes reports whether the webhook receives events of the kind.
func (h *WebhookItem) Takes(k EventKind) bool {
	return !h.Disabled && (len(h.Kinds) == 0 || slices.Contains(h.Kinds, k))
}

// Scope returns a scope that only organizers see.
func (h *Webhook) Scope() access.Scope {
	return access.Scope{OrganizerID: h.OrganizerID, TaskID: h.TaskID, Audience: access.Organizers}
}

// Path returns the webhook's path in the API.
func (h *Webhook) Path() string {
	if h.TaskID != "" {
		return "/v1/tasks/" + h.TaskID + "/webhooks/" + h.ID
	}
	return "/v1/organizers/" + h.OrganizerID + "/webhooks/" + h.ID
}

// WebhookPrefix begins the sort keys of the webhooks of a task or organizer. WebhookEnd is greater than all of them.
const (
	WebhookPrefix = "WEBHOOK#"
	WebhookEnd    = "WEBHOOK$"
)

// WebhookKey returns the key of a webhook, given the key of its task or organizer.
func WebhookKey(of store.Key, id string) store.Key {
	return store.Key{Partition: of.Partition, Sort: WebhookPrefix + id}
}

// Key implements Record.
func (h *WebhookItem) Key() store.Key {
	if h.TaskID != "" {
		return WebhookKey(TaskKey(h.TaskID), h.ID)
	}
	return WebhookKey(OrganizerKey(h.OrganizerID), h.ID)
}
