package record

import (
	"encoding/json"
	"time"

	"assay/shared/domain/access"
	"assay/shared/storage/store"
)

// Times of deliveries.
const (
	DeliveryTime = 3 * Day // from the first attempt to the last
	deliveryKept = 7 * Day // after the delivery ended
)

// EventWebhookCreated is sent only to a new webhook, so that organizers can test its receiver.
const EventWebhookCreated EventKind = "webhook.created"

// DeliveryState is the result of a delivery.
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
	Path          string        `json:"path" doc:"path of the resource that the event is about" example:"/v1/runs/01JZ3V7Q0D8T5RZ0S6R1W9C4XK"`
	Sequence      int64         `json:"sequence" doc:"counts the events of the webhook, from 1 and without gaps"`
	State         DeliveryState `json:"state" enum:"pending,delivered,failed" doc:"failed deliveries are not tried again automatically"`
	Attempts      int           `json:"attempts"`
	Status        int           `json:"status,omitempty" doc:"HTTP status of the receiver's last answer"`
	Failure       string        `json:"failure,omitempty" doc:"why the last attempt failed"`
	NextAttemptAt *Instant      `json:"nextAttemptAt,omitempty" doc:"when a pending delivery is tried next"`
}

// DeliveryItem is a stored delivery.
type DeliveryItem struct {
	Delivery
	Payer  string   `json:"payer"`            // WebhookItem.Payer, whose turn it is when the delivery is sent
	OfTask bool     `json:"ofTask,omitempty"` // the webhook belongs to the task, not to the organizer
	Since  *Instant `json:"since,omitempty"`  // when the first attempt of the current series began
}

// NewDelivery returns the next delivery to the webhook, for an event of the kind about the subject. taskID is empty for events without
// a task.
func NewDelivery(now time.Time, h *WebhookItem, kind EventKind, taskID, subject string) *DeliveryItem {
	h.Sequence++
	d := &DeliveryItem{Delivery: Delivery{Meta: NewMeta(now), WebhookID: h.ID, Type: kind, OrganizerID: h.OrganizerID, TaskID: taskID,
		Path: subject, Sequence: h.Sequence}, Payer: h.Payer, OfTask: h.TaskID != ""}
	d.Restart(now)
	return d
}

// Scope returns a scope that only organizers see.
func (d *DeliveryItem) Scope() access.Scope {
	return access.Scope{OrganizerID: d.OrganizerID, TaskID: d.TaskID, Audience: access.Organizers}
}

// Restart makes the delivery due from the instant on, with a new series of attempts.
func (d *DeliveryItem) Restart(at time.Time) {
	d.State = DeliveryPending
	d.Since = nil
	d.NextAttemptAt = new(At(at))
	d.Failure = ""
}

// Due reports whether the delivery must be sent at now.
func (d *DeliveryItem) Due(now time.Time) bool {
	return d.State == DeliveryPending && !d.NextAttemptAt.After(now)
}

// Payload returns the body of the request. It names only the subject of the event. The receiver reads the subject with its own rights.
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

// WebhookKey returns the key of the webhook.
func (d *DeliveryItem) WebhookKey() store.Key {
	if d.OfTask {
		return WebhookKey(TaskKey(d.TaskID), d.WebhookID)
	}
	return WebhookKey(OrganizerKey(d.OrganizerID), d.WebhookID)
}

// DeliveryPartition returns the partition with the deliveries of a webhook.
func DeliveryPartition(webhookID string) string { return "WEBHOOK#" + webhookID }

// DeliveryKey returns the key of a delivery.
func DeliveryKey(webhookID, id string) store.Key {
	return store.Key{Partition: DeliveryPartition(webhookID), Sort: id}
}

// Key implements Record.
func (d *DeliveryItem) Key() store.Key { return DeliveryKey(d.WebhookID, d.ID) }

// Expiry returns when the store deletes the record, and the zero Time while the delivery is pending.
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
	return indexes{}.with(ByWork, DeliveriesPartition, dueOfPayer(d.Payer, *d.NextAttemptAt, d.ID))
}

// DeliveriesPartition is the partition of ByWork with the pending deliveries, by payer and by the time of the next attempt. So the
// deliveries of one payer can be read past those of all others.
const DeliveriesPartition = OutboxPartition + "#deliveries"
