package notifier

import (
	"context"
	"maps"
	"slices"

	"assay/shared/domain/record"
	"assay/shared/service/due"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

// Limits of what is delivered at the same time. A receiver may take attemptTime to answer, so attempts have limits of their own.
const (
	concurrency    = 32  // records of the outbox of one kind, except deliveries
	connections    = 256 // attempts at all webhooks
	eventsPerPayer = 2   // events of the organizers of one payer
	mailsPerPayer  = 8   // e-mails whose oldest news is of the organizers of one payer
	perPayer       = 16  // attempts of one payer
	perWebhook     = 8   // attempts at one webhook; 1 unless its last attempt arrived
	trials         = 32  // attempts of all payers at webhooks that never received anything
	trialsPerPayer = 1
)

// sharesOfOutbox returns the shares of records of the outbox: the limit of their kind, and the limit of the payer of events and e-mails.
func (w *Worker) sharesOfOutbox(ctx context.Context, items []store.Item) ([]due.Share, error) {
	shares := make([]due.Share, len(items))
	for i, it := range items {
		shares[i].Limits = []due.Limit{{Group: kindOf(it.Key), Most: concurrency}}
		organizer := record.EventOrganizer(it.Entry(record.ByWork).Sort)
		limit := due.Limit{Group: "events of ", Most: eventsPerPayer}
		if record.IsMailbox(it.Key) {
			if box, err := records.Decode[record.Mailbox](it); err == nil { // otherwise sending it fails
				organizer = box.Organizer()
				limit = due.Limit{Group: "e-mails of ", Most: mailsPerPayer}
			}
		}
		payer, err := w.payerOf(ctx, organizer)
		if err != nil {
			return nil, err
		}
		if payer != "" {
			limit.Group += payer
			shares[i].Limits = append(shares[i].Limits, limit)
		}
	}
	return shares, nil
}

// payerOf returns the payer of an organizer. It returns "" if the organizer does not exist. Then no webhook receives the events.
func (w *Worker) payerOf(ctx context.Context, organizer string) (string, error) {
	if payer, known := w.payers.Get(organizer); known || organizer == "" {
		return payer, nil
	}
	o, err := records.Get[record.Organizer](ctx, w.Store, store.Eventual, record.OrganizerKey(organizer))
	if err != nil || o == nil {
		return "", err
	}
	w.payers.Add(organizer, o.PayerID())
	return o.PayerID(), nil
}

// sharesOfAttempts returns the shares of deliveries. It reads each of their webhooks once.
func (w *Worker) sharesOfAttempts(ctx context.Context, items []store.Item) ([]due.Share, error) {
	deliveries := make([]*record.DeliveryItem, len(items))
	hooks := map[store.Key]*record.WebhookItem{}
	for i, it := range items {
		d, err := records.Decode[record.DeliveryItem](it)
		if err != nil {
			continue // its attempt fails
		}
		deliveries[i] = d
		hooks[d.WebhookKey()] = nil
	}
	keys := slices.Collect(maps.Keys(hooks))
	found, err := records.GetAll[record.WebhookItem](ctx, w.Store, store.Eventual, keys...)
	if err != nil {
		return nil, err
	}
	for i, h := range found {
		hooks[keys[i]] = h
	}
	shares := make([]due.Share, len(items))
	for i, d := range deliveries {
		if d != nil {
			shares[i] = shareOfAttempt(d, hooks[d.WebhookKey()])
		}
	}
	return shares, nil
}

// shareOfAttempt returns the share of an attempt at a webhook, which is nil if it does not exist. An attempt is slow unless the last one
// arrived, because the receiver may hang.
func shareOfAttempt(d *record.DeliveryItem, h *record.WebhookItem) due.Share {
	steady := h != nil && h.Steady()
	limit := due.Limit{Group: d.WebhookID, Most: perWebhook}
	if !steady {
		limit.Most = 1
	}
	limits := []due.Limit{limit}
	if h != nil && !h.Proven {
		limits = append(limits, due.Limit{Group: "trials", Most: trials}, due.Limit{Group: "trials of " + d.Payer, Most: trialsPerPayer})
	}
	return due.Share{Limits: limits, Slow: !steady}
}
