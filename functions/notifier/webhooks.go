package notifier

import (
	"context"
	"time"

	"assay/shared/domain/record"
	"assay/shared/language/wait"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

// addDeliveries adds deliveries of the event to the webhooks that take it to tx.
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
				tx.Create(record.NewDelivery(w.Now(), h, e.Kind, e.TaskID, e.Subject)).Replace(h)
			}
		}
	}
	return nil
}

// send makes an attempt to send a delivery that is due.
func (w *Worker) send(ctx context.Context, it store.Item) error {
	h, d, err := w.claim(ctx, it.Key)
	if err != nil || d == nil {
		return err
	}
	a := answer{failure: "The webhook is disabled."}
	if !h.Disabled {
		a = w.post(ctx, h, d)
	}
	if ctx.Err() != nil && a.failure != "" { // the server stops: the attempt is made again
		return ctx.Err()
	}
	return w.endAttempt(context.WithoutCancel(ctx), h, d, a)
}

// claim returns a delivery that is due, with its webhook, and postpones the delivery by claimTime. So no other process makes the same
// attempt, and the attempt is repeated if this process ends before it has recorded the result. It returns nil if there is nothing to send.
// It deletes the deliveries of a deleted webhook. While the webhook is in the trash with its task, its deliveries wait.
func (w *Worker) claim(ctx context.Context, key store.Key) (h *record.WebhookItem, claimed *record.DeliveryItem, err error) {
	return h, claimed, records.Change(ctx, w.Store, key, func(d *record.DeliveryItem, tx *records.Tx) error {
		now := w.Now()
		claimed = nil
		if !d.Due(now) {
			return nil
		}
		found, err := w.Store.Get(ctx, store.Strong, d.WebhookKey(), record.TrashKey(d.WebhookKey()))
		if err != nil {
			return records.Failed(err)
		}
		h, err = records.Decode[record.WebhookItem](found[0])
		switch {
		case h == nil && !found[1].Exists():
			tx.Delete(d)
			return err
		case h == nil:
			d.Restart(now.Add(longestDelay))
		default:
			claimed = d
			if d.Since == nil {
				d.Since = new(record.At(now))
			}
			d.Attempts++
			d.NextAttemptAt = new(record.At(now.Add(claimTime)))
		}
		tx.Save(d, now)
		return err
	})
}

// endAttempt records the result of an attempt. If somebody asked for redelivery during the attempt, the delivery stays due.
func (w *Worker) endAttempt(ctx context.Context, h *record.WebhookItem, claimed *record.DeliveryItem, a answer) error {
	arrived := a.failure == ""
	ends := h.Disabled || a.gone || w.Now().Sub(claimed.Since.Time) >= record.DeliveryTime
	err := records.Change(ctx, w.Store, claimed.Key(), func(d *record.DeliveryItem, tx *records.Tx) error {
		now := w.Now()
		d.Status, d.Failure = a.status, a.failure
		switch {
		case d.Since == nil || *d.Since != *claimed.Since: // somebody asked for redelivery
		case arrived:
			d.State, d.NextAttemptAt = record.DeliveryDelivered, nil
		case ends:
			d.State, d.NextAttemptAt = record.DeliveryFailed, nil
		default:
			next := delay(now.Sub(d.Since.Time))
			d.NextAttemptAt = new(record.At(now.Add(next + wait.Jitter(0, next/4, next/4))))
		}
		tx.Save(d, now)
		return nil
	})
	if err != nil || h.Disabled {
		return err
	}
	return w.judge(ctx, h, claimed, arrived, a.gone, ends)
}

// judge records the result of an attempt in the webhook: whether an event has arrived at the URL that was tried, or since when attempts
// have failed. It disables the webhook if the receiver is gone, or if no event arrived between the first and the last attempt of the
// claimed delivery.
func (w *Worker) judge(ctx context.Context, tried *record.WebhookItem, claimed *record.DeliveryItem, arrived, gone, ends bool) error {
	return records.Change(ctx, w.Store, tried.Key(), func(h *record.WebhookItem, tx *records.Tx) error {
		switch known := h.FailingSince != nil; {
		case h.Disabled, arrived && h.Steady(), !arrived && known && !ends: // nothing to write
			return nil
		case arrived:
			h.FailingSince = nil
			h.Proven = h.Proven || h.URL == tried.URL
		case !known:
			h.FailingSince = &claimed.UpdatedAt
		}
		if gone || !arrived && ends && !h.FailingSince.After(claimed.Since.Time) {
			h.Disabled = true
			record.Touch(h, w.Now())
			tx.Create(record.NewEvent(w.Now(), record.EventWebhookDisabled, h.Scope(), h.Path()))
		}
		tx.Replace(h)
		return nil
	})
}

// Waits after failures.
const (
	firstDelay   = time.Minute
	longestDelay = 6 * time.Hour
)

// delay returns the wait for the next attempt after attempts have failed for so long.
func delay(failing time.Duration) time.Duration {
	return min(max(failing, firstDelay), longestDelay)
}
