package record

import (
	"crypto/rand"
	"encoding/base64"
	"slices"
	"time"

	"assay/shared/access"
	"assay/shared/problem"
	"assay/shared/store"
)

// MaxWebhooks is how many webhooks a task has at most, and how many an organizer has of its own: the transaction that hands
// an event to all of them has as many writes.
const MaxWebhooks = 10

// SecretOverlap is for how long events are signed with the secret from before a rotation too.
const SecretOverlap = Day

// WebhookDraft is what an organizer writes of a webhook.
type WebhookDraft struct {
	URL      string      `json:"url" format:"uri" maxLength:"2000" doc:"where events are sent: https, at a public address; http, and other addresses, only in networks that the operator of a server of one's own allows" example:"https://ci.example.org/assay"`
	Kinds    []EventKind `json:"kinds" required:"false" maxItems:"20" enum:"registration.pending,registration.decided,invitation.created,run.failed,run.completed,review.published,truth.changed,window.closing,announcement.published,workers.missing,webhook.disabled" doc:"the kinds of events that are sent; none: all"`
	Disabled bool        `json:"disabled" required:"false" doc:"no events are sent, and those that happen meanwhile never are; the server sets it when nothing arrived for three days, or when the receiver answers 410"`
}

// Normalize implements what drafts do for members that are left out.
func (d *WebhookDraft) Normalize() {
	if d.Kinds == nil {
		d.Kinds = []EventKind{}
	}
}

// Check says what is wrong with the draft.
func (d *WebhookDraft) Check() []problem.Field { return checkDistinct("/kinds", d.Kinds) }

// Webhook is an address that events of an organizer or of one task are sent to.
type Webhook struct {
	Meta
	OrganizerID string `json:"organizerId"`
	TaskID      string `json:"taskId,omitempty" doc:"the only task whose events are sent; absent: those of all tasks of the organizer are"`
	WebhookDraft
}

// WebhookItem is what the store has of a webhook.
type WebhookItem struct {
	Webhook
	// Secret is what events are signed with, as its receiver has it: a signature cannot be made of a hash.
	Secret    string   `json:"secret"`
	OldSecret string   `json:"oldSecret,omitempty"` // until OldUntil
	OldUntil  *Instant `json:"oldUntil,omitempty"`
	Sequence  int64    `json:"sequence"` // the number of the newest event
	// Payer is the PayerID of the webhook's organizer or task. Webhooks of a payer share connections.
	Payer string `json:"payer"`
	// Proven says that an event has arrived at the URL. Until then the receiver may be any address, and gets one attempt at a time.
	Proven bool `json:"proven,omitempty"`
	// FailingSince is the begin of the first attempt, of those since something last arrived, that failed.
	FailingSince *Instant `json:"failingSince,omitempty"`
}

// NewWebhook returns a webhook of the task or organizer with the scope and the payer, with a secret.
func NewWebhook(now time.Time, of access.Scope, payer string, d WebhookDraft) *WebhookItem {
	return &WebhookItem{Webhook: Webhook{Meta: NewMeta(now), OrganizerID: of.OrganizerID, TaskID: of.TaskID, WebhookDraft: d},
		Payer: payer, Secret: newSecret()}
}

// Change replaces what an organizer writes of the webhook. Its failures are forgotten, and so is what arrived at another URL.
func (h *WebhookItem) Change(d WebhookDraft) {
	h.Proven = h.Proven && h.URL == d.URL
	h.WebhookDraft, h.FailingSince = d, nil
}

// Steady reports whether the last attempt at the webhook arrived. Only such a webhook gets several attempts at once.
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

// Secrets are those that events are signed with.
func (h *WebhookItem) Secrets(now time.Time) []string {
	if h.OldUntil != nil && h.OldUntil.After(now) {
		return []string{h.Secret, h.OldSecret}
	}
	return []string{h.Secret}
}

// Takes reports whether events of the kind are sent to the webhook.
func (h *WebhookItem) Takes(k EventKind) bool {
	return !h.Disabled && (len(h.Kinds) == 0 || slices.Contains(h.Kinds, k))
}

// Scope lets nobody but organizers know of the webhook.
func (h *Webhook) Scope() access.Scope {
	return access.Scope{OrganizerID: h.OrganizerID, TaskID: h.TaskID, Audience: access.Organizers}
}

// Path is the address of the webhook in the API.
func (h *Webhook) Path() string {
	if h.TaskID != "" {
		return "/v1/tasks/" + h.TaskID + "/webhooks/" + h.ID
	}
	return "/v1/organizers/" + h.OrganizerID + "/webhooks/" + h.ID
}

// WebhookPrefix begins the sort keys of the webhooks of a task or organizer; WebhookEnd is past the last of them.
const (
	WebhookPrefix = "WEBHOOK#"
	WebhookEnd    = "WEBHOOK$"
)

// WebhookKey is the key of a webhook of the task or organizer with the key.
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
