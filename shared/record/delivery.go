package record

import (
	"encoding/json"
	"strings"
	"time"

	"assay/shared/access"
	"assay/shared/store"
)

// How long webhooks are tried, and what is kept of what was sent.
const (
	DeliveryTime = 3 * Day // from the first attempt to the last
	deliveryKept = 7 * Day // after its end
)

// EventWebhookCreated is sent to a new webhook, and to nobody else, so that its receiver can be tried.
const EventWebhookCreated EventKind = "webhook.created"

// DeliveryState is what became of a delivery.
type DeliveryState string

// The states of deliveries.
const (
	DeliveryPending   DeliveryState = "pending"
	DeliveryDelivered DeliveryState = "delivered"
	DeliveryFailed    DeliveryState = "failed"
)

// Delivery is an event that is sent to one webhook.
type Delivery struct {
	Meta
	WebhookID     string        `json:"webhookId"`
	Type          EventKind     `json:"type" doc:"the kind of the event" example:"run.completed"`
	OrganizerID   string        `json:"organizerId"`
	TaskID        string        `json:"taskId,omitempty"`
	Path          string        `json:"path" doc:"of what the event is about" example:"/v1/runs/01JZ3V7Q0D8T5RZ0S6R1W9C4XK"`
	Sequence      int64         `json:"sequence" doc:"counts the events of the webhook, from 1 and without gaps"`
	State         DeliveryState `json:"state" enum:"pending,delivered,failed" doc:"failed ones are not tried again by themselves"`
	Attempts      int           `json:"attempts"`
	Status        int           `json:"status,omitempty" doc:"of HTTP, that the receiver answered last"`
	Failure       string        `json:"failure,omitempty" doc:"why the last attempt failed"`
	NextAttemptAt *Instant      `json:"nextAttemptAt,omitempty" doc:"of one that is pending"`
}

// DeliveryItem is what the store has of a delivery.
type DeliveryItem struct {
	Delivery
	Payer  string   `json:"payer"`            // WebhookItem.Payer: whose turn it is when the delivery is sent
	OfTask bool     `json:"ofTask,omitempty"` // the webhook is one of the task, not of the organizer
	Since  *Instant `json:"since,omitempty"`  // begin of the first attempt of those that are made now
}

// NewDelivery returns the next delivery to the webhook, of an event of the kind about the subject in the task, if any.
func NewDelivery(now time.Time, h *WebhookItem, kind EventKind, taskID, subject string) *DeliveryItem {
	h.Sequence++
	d := &DeliveryItem{Delivery: Delivery{Meta: NewMeta(now), WebhookID: h.ID, Type: kind, OrganizerID: h.OrganizerID, TaskID: taskID,
		Path: subject, Sequence: h.Sequence}, Payer: h.Payer, OfTask: h.TaskID != ""}
	d.Restart(now)
	return d
}

// Scope lets nobody but organizers know of the delivery.
func (d *DeliveryItem) Scope() access.Scope {
	return access.Scope{OrganizerID: d.OrganizerID, TaskID: d.TaskID, Audience: access.Organizers}
}

// Restart has the delivery be sent from the instant on.
func (d *DeliveryItem) Restart(at time.Time) {
	d.State = DeliveryPending
	d.Since = nil
	d.NextAttemptAt = new(At(at))
	d.Failure = ""
}

// Due reports whether the delivery is to be sent at now.
func (d *DeliveryItem) Due(now time.Time) bool {
	return d.State == DeliveryPending && !d.NextAttemptAt.After(now)
}

// Payload is the body that the receiver gets. It says what the event is about and no more, so that who may read what is decided when
// the receiver asks for it.
func (d *Delivery) Payload() ([]byte, error) {
	type data struct {
		Path        string `json:"path"`
		OrganizerID string `json:"organizerId"`
		TaskID      string `json:"taskId,omitempty"`
		Sequence    int64  `json:"sequence"`
	}
	return json.Marshal(struct {
		Type      EventKind `json:"type"`
		Timestamp Instant   `json:"timestamp"`
		Data      data      `json:"data"`
	}{d.Type, d.CreatedAt, data{
		Path:        d.Path,
		OrganizerID: d.OrganizerID,
		TaskID:      d.TaskID,
		Sequence:    d.Sequence,
	}})
}

// WebhookKey is the key of the webhook.
func (d *DeliveryItem) WebhookKey() store.Key {
	if d.OfTask {
		return WebhookKey(TaskKey(d.TaskID), d.WebhookID)
	}
	return WebhookKey(OrganizerKey(d.OrganizerID), d.WebhookID)
}

// DeliveryPartition holds the deliveries of a webhook.
func DeliveryPartition(webhookID string) string { return "WEBHOOK#" + webhookID }

// DeliveryKey is the key of a delivery.
func DeliveryKey(webhookID, id string) store.Key {
	return store.Key{Partition: DeliveryPartition(webhookID), Sort: id}
}

// Key implements Record.
func (d *DeliveryItem) Key() store.Key { return DeliveryKey(d.WebhookID, d.ID) }

// Expiry says when the record goes by itself.
func (d *DeliveryItem) Expiry() time.Time {
	if d.State == DeliveryPending {
		return time.Time{}
	}
	return d.UpdatedAt.Add(deliveryKept)
}

// Indexes implements Record.
func (d *DeliveryItem) Indexes() [store.NumIndexes]store.Key {
	if d.State != DeliveryPending {
		return indexes{}
	}
	return indexes{}.with(ByWork, DeliveriesPartition, d.Payer+"#"+due(*d.NextAttemptAt, d.ID))
}

// DeliveriesPartition holds, in ByWork, the deliveries that are pending, by payer and by the instant of the next attempt. So the deliveries
// of one payer can be read past those of all others.
const DeliveriesPartition = OutboxPartition + "#deliveries"

// DeliveryDue returns the payer and the next attempt of the delivery with the sort key in DeliveriesPartition.
func DeliveryDue(sort string) (payer string, at time.Time, err error) {
	payer, rest, _ := strings.Cut(sort, "#")
	at, err = DueAt(rest)
	return payer, at, err
}

// DeliveriesAfter is greater than the sort keys of all deliveries of the payer, and less than those of the next.
func DeliveriesAfter(payer string) string { return payer + "$" }

// DeliveriesDueBy returns the range of sort keys of the payer's deliveries that are due at the instant or before.
func DeliveriesDueBy(payer string, at time.Time) (from, to string) {
	return payer + "#", payer + "#" + DueBy(at)
}
