package notifier

import (
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"time"

	"assay/shared/domain/record"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

// payer has deliveries that are pending, the first of them from the instant due on.
type payer struct {
	id  string
	due time.Time
}

// turns remembers where the next pass begins, so that payers, and the deliveries of each, are served in turn.
type turns struct {
	outbox *store.Item            // the last record of the outbox that a pass read, if there are more
	payers map[string]string      // of organizers, by id; they never change
	last   string                 // the payer for whom an attempt was begun last
	read   map[string]*store.Item // by payer, the end of a page of deliveries that all have to wait
}

// payers yields the payers with deliveries that are pending: those after the given one, and then the others.
func (w *Worker) payers(ctx context.Context, after string) iter.Seq2[payer, error] {
	return func(yield func(payer, error) bool) {
		behind := store.Query{Index: record.ByWork, Partition: record.DeliveriesPartition, Limit: 1}
		upTo := behind
		ranges := []store.Query{behind}
		if after != "" {
			behind.From = record.DeliveriesAfter(after)
			upTo.To = behind.From
			ranges = []store.Query{behind, upTo}
		}
		for _, q := range ranges {
			for {
				first, err := w.Store.Query(ctx, q)
				if err != nil {
					yield(payer{}, records.Failed(err))
					return
				}
				if len(first) == 0 {
					break
				}
				var p payer
				p.id, p.due, err = record.DeliveryDue(first[0].Entry(record.ByWork).Sort)
				if !yield(p, err) {
					return
				}
				q.From = record.DeliveriesAfter(p.id)
			}
		}
	}
}

// startAttempts begins attempts for all payers in turn, for each those of one page of deliveries that are due, as far as there are
// connections. A page with a record that cannot be read keeps no other payer waiting.
func (w *Worker) startAttempts(ctx context.Context) error {
	if w.running.full(group{attemptsOfAll, connections}) {
		return nil
	}
	before := w.turns.read
	w.turns.read = map[string]*store.Item{}
	var failed error
	for p, err := range w.payers(ctx, w.turns.last) {
		if err != nil {
			return errors.Join(failed, err)
		}
		if w.running.full(group{attemptsOfAll, connections}) {
			break
		}
		if p.due.After(w.Now()) || w.running.full(group{attemptsOfPayer + p.id, perPayer}) {
			continue
		}
		failed = errors.Join(failed, w.startPage(ctx, p.id, before[p.id]))
	}
	return failed
}

// startPage begins attempts for the payer's deliveries that are due, on the page after the item. When all of a page have to wait, the next
// pass reads the next page, so that one receiver that hangs does not hide deliveries to others.
func (w *Worker) startPage(ctx context.Context, payer string, after *store.Item) error {
	q := store.Query{Index: record.ByWork, Partition: record.DeliveriesPartition, After: after, Limit: batch}
	q.From, q.To = record.DeliveriesDueBy(payer, w.Now())
	items, err := w.Store.Query(ctx, q)
	if err != nil {
		return records.Failed(err)
	}
	webhookKeys := make([]store.Key, len(items))
	for i, it := range items {
		d, err := records.Decode[record.DeliveryItem](it)
		if err != nil {
			return err
		}
		webhookKeys[i] = d.WebhookKey()
	}
	hooks, err := w.webhooks(ctx, webhookKeys)
	if err != nil {
		return err
	}
	waits := true
	for i, it := range items {
		if w.start(ctx, it.Key, attempt(payer, it.Key.Partition, hooks[webhookKeys[i]]), w.trySend) {
			w.turns.last, waits = payer, false
		}
	}
	if waits && !q.IsLastPage(items) {
		w.turns.read[payer] = &items[len(items)-1]
	}
	return nil
}

// webhooks reads each of the webhooks once; those that do not exist are missing.
func (w *Worker) webhooks(ctx context.Context, keys []store.Key) (map[store.Key]*record.WebhookItem, error) {
	byKey := map[store.Key]*record.WebhookItem{}
	for _, k := range keys {
		byKey[k] = nil
	}
	once := slices.Collect(maps.Keys(byKey))
	found, err := records.GetAll[record.WebhookItem](ctx, w.Store, store.Eventual, once...)
	for i, h := range found {
		byKey[once[i]] = h
	}
	return byKey, err
}

func (w *Worker) trySend(ctx context.Context, key store.Key) error { return w.try(ctx, key, w.send) }

// sendChanged sends a delivery that a change made due to a webhook whose last attempt arrived. Other deliveries, and those for which there
// is no connection, are due now for RunDue: while their receivers hang, the changes behind must not wait.
func (w *Worker) sendChanged(ctx context.Context, it store.Item) (time.Time, error) {
	d, err := records.Decode[record.DeliveryItem](it)
	if err != nil {
		return time.Time{}, err
	}
	h, err := records.Get[record.WebhookItem](ctx, w.Store, store.Eventual, d.WebhookKey())
	if err != nil {
		return time.Time{}, err
	}
	if h == nil || !h.Steady() {
		return w.Now(), nil
	}
	result := make(chan error, 1)
	send := func() bool {
		result <- w.trySend(ctx, it.Key)
		return false // the host calls RunDue
	}
	if !w.running.start(attempt(d.Payer, it.Key.Partition, h), send, w.wakeUp.Send) {
		return w.Now(), nil
	}
	return time.Time{}, <-result
}
