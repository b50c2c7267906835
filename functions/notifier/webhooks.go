package notifier

import (
	"context"
	"strings"
	"time"

	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
	"assay/shared/wait"
)

// addDeliveries adds to tx that the event is sent to the webhooks that take it.
func (w *Worker) addDeliveries(ctx context.Context, tx *records.Tx, e *record.Event) error {
	parents := map[string]store.Key{e.OrganizerID: record.OrganizerKey(e.OrganizerID), e.TaskID: record.TaskKey(e.TaskID)}
	delete(parents, "")
	for _, of := range parents {
		hooks, err := records.Query[record.WebhookItem](ctx, w.Store, store.Query{Partition: of.Partition, From: record.WebhookPrefix,
			To: record.WebhookEnd, Limit: record.MaxWebhooks, Consistency: store.Strong})
		if err != nil {
			return err
		}
		for _, h := range hooks {
			if h.Takes(e.Kind) {
				tx.Create(record.NewDelivery(w.Now(), h, e.Kind, e.TaskID, e.Subject))
			}
		}
	}
	return nil
}

// numbered is how many deliveries one transaction gives sequence numbers: each takes two writes, and more deletions of old ones fit.
const numbered = 30

// number gives the webhook's deliveries that have none their sequence numbers. A transaction of its own gives many of them at once, so
// that events that happen at the same time do not wait for each other.
func (w *Worker) number(ctx context.Context, d *record.DeliveryItem) error {
	waiting := store.Query{Partition: record.DeliveryPartition(d.WebhookID), From: record.UnnumberedPrefix, To: record.UnnumberedEnd,
		Limit: numbered, Consistency: store.Strong}
	for more := true; more; {
		exists := false
		err := records.Change(ctx, w.Store, d.WebhookKey(), func(h *record.WebhookItem, tx *records.Tx) error {
			exists = true
			found, err := records.Query[record.DeliveryItem](ctx, w.Store, waiting)
			if more = len(found) == numbered; err != nil || len(found) == 0 {
				return err
			}
			for _, d := range found {
				h.Sequence++
				tx.DeleteKey(d.Key()).Create(d.Numbered(h.Sequence))
			}
			tx.Replace(h)
			return w.deleteOld(ctx, tx, h)
		})
		if err != nil {
			return err
		}
		if !exists {
			all := records.Deletions{Store: w.Store}
			if err := all.AddFound(ctx, waiting); err != nil {
				return err
			}
			return all.Commit(ctx)
		}
	}
	return nil
}

// deleteOld adds to tx the deletion of deliveries beyond those that are kept.
func (w *Worker) deleteOld(ctx context.Context, tx *records.Tx, h *record.WebhookItem) error {
	if h.Sequence <= record.DeliveriesKept {
		return nil
	}
	oldest, err := records.Query[record.DeliveryItem](ctx, w.Store, store.Query{Partition: record.DeliveryPartition(h.ID),
		From: record.DeliveryPrefix, To: record.DeliveryEnd, Limit: store.MaxWrites - tx.Len(), Consistency: store.Strong})
	for _, d := range oldest {
		if d.Sequence <= h.Sequence-record.DeliveriesKept && d.State != record.DeliveryPending {
			tx.Delete(d)
		}
	}
	return err
}

// send makes an attempt to send a delivery that is due. It claims the attempt first, so that no other process makes it too; when this one
// ends before it has recorded what became of it, another is made after claimTime.
func (w *Worker) send(ctx context.Context, key store.Key) error {
	var d *record.DeliveryItem
	claimed, err := records.Update(ctx, w.Store, key, func(stored *record.DeliveryItem, _ *records.Tx) (bool, error) {
		d = stored
		if !d.Due(w.Now()) {
			return false, nil
		}
		d.Attempts++
		record.Touch(d, w.Now())
		d.NextAttemptAt = new(record.At(w.Now().Add(claimTime)))
		return true, nil
	})
	if err != nil || !claimed {
		return err
	}
	h, err := records.Get[record.WebhookItem](ctx, w.Store, store.Strong, d.WebhookKey())
	if err != nil {
		return err
	}
	if h == nil {
		return new(records.Tx).DeleteKey(key).Commit(ctx, w.Store)
	}
	a := answer{failure: "The webhook is disabled."}
	if !h.Disabled {
		a = w.post(ctx, h, d)
	}
	if ctx.Err() != nil && a.failure != "" { // the server stops: the attempt is made again
		return ctx.Err()
	}
	return w.endAttempt(context.WithoutCancel(ctx), h, key, a)
}

// endAttempt records what became of an attempt.
func (w *Worker) endAttempt(ctx context.Context, h *record.WebhookItem, key store.Key, a answer) error {
	end := h.Disabled || a.gone
	var since time.Time
	_, err := records.Update(ctx, w.Store, key, func(d *record.DeliveryItem, _ *records.Tx) (bool, error) {
		now := w.Now()
		d.Status, d.Failure = a.status, a.failure
		end = end || now.Sub(d.Since.Time) >= record.DeliveryTime
		switch since = d.Since.Time; {
		case a.failure == "":
			d.State, d.NextAttemptAt = record.DeliveryDelivered, nil
		case end:
			d.State, d.NextAttemptAt = record.DeliveryFailed, nil
		default:
			d.NextAttemptAt = new(record.At(now.Add(delay(d.Attempts) + wait.Jitter(d.Attempts, firstDelay, longestDelay))))
		}
		record.Touch(d, now)
		return true, nil
	})
	if err != nil || a.failure == "" || !end || h.Disabled {
		return err
	}
	return w.disable(ctx, h, a.gone, since)
}

// disable ends sending to a webhook whose receiver wants no more, or to which nothing has arrived since the instant, and has its
// organizers told.
func (w *Worker) disable(ctx context.Context, h *record.WebhookItem, gone bool, since time.Time) error {
	newest, err := records.Query[record.DeliveryItem](ctx, w.Store, store.Query{Partition: record.DeliveryPartition(h.ID),
		From: record.DeliveryPrefix, To: record.DeliveryEnd, Limit: batch, Descending: true, Consistency: store.Strong})
	if err != nil {
		return err
	}
	for _, d := range newest {
		if !gone && d.State == record.DeliveryDelivered && d.UpdatedAt.After(since) {
			return nil
		}
	}
	return records.Change(ctx, w.Store, h.Key(), func(h *record.WebhookItem, tx *records.Tx) error {
		if !h.Disabled {
			h.Disabled = true
			tx.Save(h, w.Now()).Create(record.NewEvent(w.Now(), record.EventWebhookDisabled, h.Scope(), h.Path()))
		}
		return nil
	})
}

// isNumbered reports whether the key is that of a delivery that has a sequence number, and isUnnumbered of one that has none yet.
func isNumbered(k store.Key) bool   { return strings.HasPrefix(k.Sort, record.DeliveryPrefix) }
func isUnnumbered(k store.Key) bool { return strings.HasPrefix(k.Sort, record.UnnumberedPrefix) }
