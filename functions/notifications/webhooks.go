package notifications

import (
	"context"

	"assay/shared/domain/page"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/language/problem"
	"assay/shared/service/records"
	"assay/shared/service/visibility"
	"assay/shared/storage/store"
)

// NewWebhook is an answer with the secret of a webhook.
type NewWebhook struct {
	record.Webhook
	Secret string `json:"secret,omitempty" doc:"secret with which the receiver checks signatures. It is shown only once; an answer that is repeated for its Idempotency-Key lacks it" example:"whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="`
}

// WithoutSecret returns the answer that may be stored.
func (n *NewWebhook) WithoutSecret() any { return n.Webhook }

// Nothing is a request body without members: `{}`.
type Nothing struct{}

func listWebhooks[P parent](ctx context.Context, c *api.Call, of P) (page.Page[*record.Webhook], error) {
	return api.PageOf(ctx, c, []records.Source{webhooksOf(of)}, nil, func(h *record.WebhookItem) *record.Webhook { return &h.Webhook })
}

func createWebhook[P parent](ctx context.Context, c *api.Call, of P, d record.WebhookDraft) (path string, made *NewWebhook, err error) {
	if err := checkAddress(d.URL, c.Info.WebhookNetworks); err != nil {
		return "", made, err
	}
	source := webhooksOf(of)
	all, err := c.Store.Query(ctx, store.Query{Partition: source.Partition, From: source.From, To: source.To, Limit: record.MaxWebhooks,
		Consistency: store.Strong})
	switch {
	case err != nil:
		return "", made, records.Failed(err)
	case len(all) == record.MaxWebhooks:
		return "", made, problem.Conflict.New("There are %d webhooks, which is the most. Delete one first, or have one receive more kinds of "+
			"events.", len(all))
	}
	h := record.NewWebhook(c.Now(), of.Scope(), of.PayerID(), d)
	first := record.NewDelivery(c.Now(), h, record.EventWebhookCreated, h.TaskID, h.Path())
	// Replacing the unchanged parent conflicts with concurrent requests: another new webhook is counted, and a parent that is being deleted
	// gets no webhook.
	c.Tx.Create(h).Create(first).Replace(of)
	return h.Path(), &NewWebhook{h.Webhook, h.Secret}, c.Audit(ctx, h.Scope(), record.WebhookCreated, h.Path(), nil, d)
}

func showWebhook(_ context.Context, _ *api.Call, h *record.WebhookItem) (record.Webhook, error) {
	return h.Webhook, nil
}

func changeWebhook(ctx context.Context, c *api.Call, h *record.WebhookItem, d record.WebhookDraft) (*record.WebhookItem, error) {
	if d.URL != h.URL { // a webhook whose address is no longer allowed can still be disabled
		if err := checkAddress(d.URL, c.Info.WebhookNetworks); err != nil {
			return nil, err
		}
	}
	changed := *h
	changed.Change(d)
	c.Tx.Save(&changed, c.Now())
	return &changed, c.Audit(ctx, h.Scope(), record.WebhookChanged, h.Path(), h.WebhookDraft, d)
}

// enabling is the request that enables a disabled webhook.
func enabling(h *record.WebhookItem) problem.Part {
	if h.TaskID != "" {
		return problem.UpdateTaskWebhook.With(h.TaskID, h.ID).Setting("disabled", false)
	}
	return problem.UpdateOrganizerWebhook.With(h.OrganizerID, h.ID).Setting("disabled", false)
}

// removeWebhook deletes a webhook. Its deliveries stay, although nobody can see them: the notifier drops unfinished deliveries, and the
// others expire.
func removeWebhook(ctx context.Context, c *api.Call, h *record.WebhookItem) error {
	c.Tx.Delete(h)
	return c.Audit(ctx, h.Scope(), record.WebhookDeleted, h.Path(), h.WebhookDraft, nil)
}

func rotateSecret(ctx context.Context, c *api.Call, h *record.WebhookItem, _ Nothing) (path string, made *NewWebhook, err error) {
	changed := *h
	changed.Rotate(c.Now())
	c.Tx.Save(&changed, c.Now())
	made = &NewWebhook{changed.Webhook, changed.Secret}
	return h.Path(), made, c.Audit(ctx, h.Scope(), record.WebhookChanged, h.Path()+"/secrets", nil, nil)
}

func listDeliveries(ctx context.Context, c *api.Call, h *record.WebhookItem) (page.Page[*record.Delivery], error) {
	source := records.Source{Partition: record.DeliveryPartition(h.ID)}
	keep := func(d *record.DeliveryItem) bool { return c.Page.Matches("state", string(d.State)) }
	return api.PageOf(ctx, c, []records.Source{source}, keep, func(d *record.DeliveryItem) *record.Delivery { return &d.Delivery })
}

func showDelivery(_ context.Context, _ *api.Call, d *record.DeliveryItem) (record.Delivery, error) {
	return d.Delivery, nil
}

func sendAgain(ctx context.Context, c *api.Call, d *record.DeliveryItem, _ Nothing) (path string, made *record.Delivery, err error) {
	h, err := records.Require[record.WebhookItem](ctx, c.Store, c.Consistency, d.WebhookKey(), visibility.Missing)
	switch {
	case err != nil:
		return "", made, err
	case h.Disabled:
		return "", made, problem.Conflict.New("The webhook is switched off. Switch it on first: %s.", enabling(h))
	}
	d.Restart(c.Now())
	c.Tx.Save(d, c.Now())
	return h.Path() + "/deliveries/" + d.ID, &d.Delivery, nil
}
