package notifications

import (
	"context"

	"assay/shared/domain/access"
	"assay/shared/domain/page"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/language/problem"
	"assay/shared/service/records"
	"assay/shared/service/visibility"
	"assay/shared/storage/store"
)

// parent is an organizer or a task: webhooks belong to one of them.
type parent interface {
	record.Record
	api.Target
	PayerID() string
}

// family describes the operations on webhooks of one kind of parent.
type family[P parent] struct {
	name, of, path, param string
	load                  api.Loader[P]
	key                   func(id string) store.Key
}

var (
	organizerWebhooks = family[*record.Organizer]{
		name:  "OrganizerWebhook",
		of:    "an organizer",
		path:  "/v1/organizers/{organizerId}/webhooks",
		param: "organizerId",
		load:  api.Load[record.Organizer]("organizerId", record.OrganizerKey),
		key:   record.OrganizerKey,
	}
	taskWebhooks = family[*record.TaskItem]{
		name:  "TaskWebhook",
		of:    "a task",
		path:  "/v1/tasks/{taskId}/webhooks",
		param: "taskId",
		load:  task,
		key:   record.TaskKey,
	}
)

func (f family[P]) operations() []api.Operation {
	one, deliveries := f.path+"/{webhookId}", f.path+"/{webhookId}/deliveries"
	spec := func(verb, noun, path, summary, description string, problems ...*problem.Kind) api.Spec {
		return api.Spec{ID: verb + f.name + noun, Path: path, May: access.Organizer, Token: access.ScopeOrganize, Summary: summary,
			Description: description, Problems: problems}
	}
	read := func(verb, noun, path, summary, description string) api.Spec {
		s := spec(verb, noun, path, summary, description)
		s.Token = 0
		return s
	}
	list := read("list", "Deliveries", deliveries, "List the deliveries of a webhook",
		"Deliveries of the last 7 days and all unfinished deliveries, the newest first.")
	list.Query = page.Spec{Filters: []page.Filter{{Name: "state", Type: page.Enum}}}
	return []api.Operation{
		api.List(read("list", "s", f.path, "List the webhooks of "+f.of, "Without their secrets."), f.load, listWebhooks[P], nil),
		api.Create(spec("create", "", f.path, "Have events sent to an address",
			"By the specification of Standard Webhooks: a POST of `{type, timestamp, data: {path, organizerId, taskId, sequence}}` with the "+
				"headers `webhook-id`, `webhook-timestamp` and `webhook-signature`, which libraries of the specification check with the secret. An "+
				"event names only the `path` of its resource, without content. The first event is `webhook.created`. `sequence` counts the events of "+
				"the webhook without gaps. An event can arrive more than once, with the same `webhook-id`, and after later events. The receiver must "+
				"answer in 10 seconds with a status of 2xx; redirects are not followed. Otherwise the event is sent again, with growing pauses, for "+
				"three days. If no event arrives in that time, the webhook is disabled, and the organizers are notified. Each organizer and each task "+
				"has at most 10 webhooks.", api.Quotas...), f.load, createWebhook[P]),
		api.Get(read("get", "", one, "Return a webhook", "Without its secret."), f.webhook, showWebhook),
		api.Patch(spec("update", "", one, "Change a webhook", "Its address, the kinds of events, or whether it is disabled.", api.Quotas...),
			f.webhook, showWebhook, changeWebhook),
		api.Delete(spec("delete", "", one, "Delete a webhook", "Events that have not been sent yet are dropped.", api.Quotas...),
			f.webhook, removeWebhook),
		api.Create(spec("create", "Secret", one+"/secrets", "Replace the secret of a webhook",
			"For 24 hours events are signed with both secrets, so that the receiver can change its secret.", api.Quotas...),
			f.webhook, rotateSecret),
		api.List(list, f.webhook, listDeliveries, nil),
		api.Get(read("get", "Delivery", deliveries+"/{deliveryId}", "Return a delivery of a webhook", "With its state and its attempts."),
			f.delivery, showDelivery),
		api.Create(spec("create", "Attempt", deliveries+"/{deliveryId}/attempts", "Send an event again",
			"The event is sent at once, with the same `webhook-id`, in every state of the delivery. If it does not arrive, it is tried for three "+
				"more days."),
			f.delivery, sendAgain),
	}
}

// webhook finds the webhook that the path names.
func (f family[P]) webhook(ctx context.Context, c *api.Call) (*record.WebhookItem, error) {
	key := func(of, id string) store.Key { return record.WebhookKey(f.key(of), id) }
	return visibility.FindIn[record.WebhookItem](ctx, &c.Viewer, c.Param(f.param), c.Param("webhookId"), key)
}

// delivery finds the delivery that the path names.
func (f family[P]) delivery(ctx context.Context, c *api.Call) (*record.DeliveryItem, error) {
	h, err := f.webhook(ctx, c)
	if err != nil {
		return nil, err
	}
	return visibility.FindIn[record.DeliveryItem](ctx, &c.Viewer, h.ID, c.Param("deliveryId"), record.DeliveryKey)
}

func webhooksOf(of parent) records.Source {
	return records.Source{Partition: of.Key().Partition, From: record.WebhookPrefix, To: record.WebhookEnd}
}
