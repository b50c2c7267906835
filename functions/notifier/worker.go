// Package notifier delivers the outbox: it tells people by e-mail what happened, and programs by webhooks. It runs as goroutines of the
// local server, and on AWS as a function that the table's stream and schedules call.
//
// Whatever changes something that others are to be notified of creates a record.Event in its transaction, and what time brings creates one
// that is due later. The notifier fans each event out to its recipients, a page in each transaction that also moves the event's cursor,
// so that every recipient gets it once. What concerns one recipient waits in a record.Mailbox and is sent as one e-mail. Its
// text is composed when it is sent, of what the recipient may see then.
//
// Each webhook that takes an event gets a record.DeliveryItem of its own, with a number, in the first of these transactions. It is sent,
// and sent again later when that failed, whatever becomes of the others.
package notifier

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"assay/shared/domain/record"
	"assay/shared/edge/mail"
	"assay/shared/language/panics"
	"assay/shared/language/wait"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

const (
	pollInterval = time.Second
	batch        = 100
	pages        = 10     // of the outbox, that one pass reads
	maxKnown     = 10_000 // organizers whose payer is remembered
)

// Worker delivers what is in the outbox. Its exported fields are set before it is used; they may be set after Changed was handed to a
// store.
type Worker struct {
	Store store.Store
	Now   func() time.Time
	Log   *slog.Logger
	Mail  mail.Sender // nil: no e-mails
	URL   string      // of the server, which links in e-mails begin with

	// WebhookNetworks are addresses that webhooks may have although they are not public; there they may also be of http.
	WebhookNetworks []netip.Prefix

	clients       sync.Once
	secure, plain *http.Client

	running pool
	passes  sync.Mutex // one at a time
	turns   turns
	busy    sync.Map   // store.Key of what is being delivered
	fanOuts sync.Mutex // one at a time: each gives numbers to deliveries of the same webhooks
	wakeUp  wait.Signal

	delivered, failed atomic.Bool // some of what was started since RunDue began
}

// Run delivers what is due until the context ends, and then waits for what it has begun.
func (w *Worker) Run(ctx context.Context) {
	for ctx.Err() == nil {
		if err := w.startDue(ctx); err != nil && ctx.Err() == nil {
			w.Log.ErrorContext(ctx, "the outbox cannot be read", "error", err)
		}
		select {
		case <-w.wakeUp.C():
		case <-time.After(pollInterval):
		case <-ctx.Done():
		}
	}
	w.running.all.Wait()
}

// startDue begins to deliver each record that is due and is not being delivered, so that none waits for one that takes long.
func (w *Worker) startDue(ctx context.Context) error {
	w.passes.Lock()
	defer w.passes.Unlock()
	return errors.Join(w.startOutbox(ctx), w.startAttempts(ctx))
}

// startOutbox begins to deliver what is due besides deliveries. It reads a bounded number of records, and the next pass reads on.
func (w *Worker) startOutbox(ctx context.Context) error {
	q := store.Query{Index: record.ByWork, Partition: record.OutboxPartition, To: record.DueBy(w.Now()), Limit: batch, After: w.turns.outbox}
	w.turns.outbox = nil
	for range pages {
		items, err := w.Store.Query(ctx, q)
		if err != nil {
			return records.Failed(err)
		}
		for _, it := range items {
			groups, err := w.groupsOf(ctx, it)
			if err != nil {
				return err
			}
			w.start(ctx, it.Key, groups, w.deliver)
		}
		if q.IsLastPage(items) {
			return nil
		}
		q.After = &items[len(items)-1]
	}
	w.turns.outbox = q.After
	return nil
}

// groupsOf returns the groups of a record of the outbox: of its kind, and of an event or an e-mail also of the payer of its organizer.
func (w *Worker) groupsOf(ctx context.Context, it store.Item) ([]group, error) {
	kind, _, _ := strings.Cut(it.Key.Partition, "#")
	groups := []group{{kind, concurrency}}
	if w.running.full(groups[0]) {
		return groups, nil
	}
	ofPayer := group{eventsOfPayer, eventsPerPayer}
	organizer := record.EventOrganizer(it.Entry(record.ByWork).Sort)
	if record.IsMailbox(it.Key) {
		box, err := records.Decode[record.Mailbox](it)
		if err != nil {
			return nil, err
		}
		organizer = box.Organizer()
		ofPayer = group{mailsOfPayer, mailsPerPayer}
	}
	if organizer == "" {
		return groups, nil
	}
	payer, known := w.turns.payers[organizer]
	if !known {
		o, err := records.Get[record.Organizer](ctx, w.Store, store.Eventual, record.OrganizerKey(organizer))
		if err != nil {
			return nil, err
		}
		if o == nil {
			return groups, nil // nobody's webhooks take it
		}
		if w.turns.payers == nil || len(w.turns.payers) == maxKnown {
			w.turns.payers = map[string]string{}
		}
		payer = o.PayerID()
		w.turns.payers[organizer] = payer
	}
	ofPayer.name += payer
	return append(groups, ofPayer), nil
}

// start begins to deliver the record under the key, and reports whether it did: not if that is under way, or has to wait for others.
func (w *Worker) start(ctx context.Context, key store.Key, groups []group, deliver func(context.Context, store.Key) error) bool {
	if _, busy := w.busy.LoadOrStore(key, true); busy {
		return false
	}
	started := w.running.start(groups, func() (delivered bool) {
		defer w.busy.Delete(key)
		if deliver(ctx, key) != nil {
			w.failed.Store(true)
			return false
		}
		w.delivered.Store(true)
		return true
	}, w.wakeUp.Send) // there is room again, and what was delivered may have put something into the outbox
	if !started {
		w.busy.Delete(key) // it stays due
	}
	return started
}

// Changed wakes the worker when the items, just written, contain something that is due.
func (w *Worker) Changed(items []store.Item) {
	if slices.ContainsFunc(items, func(it store.Item) bool {
		at, err := dueAt(it.Entry(record.ByWork))
		return err == nil && !at.IsZero() && !at.After(w.Now())
	}) {
		w.wakeUp.Send()
	}
}

// dueAt returns the instant from which on an item with the entry in record.ByWork is to be delivered; the zero Time: never.
func dueAt(entry store.Key) (at time.Time, err error) {
	switch entry.Partition {
	case record.OutboxPartition:
		return record.DueAt(entry.Sort)
	case record.DeliveriesPartition:
		_, at, err = record.DeliveryDue(entry.Sort)
	}
	return at, err
}

// HandleChange delivers the record under the key if it is in the outbox and due, or returns the instant from which on it is. It is for
// a host that calls it for each change instead of calling Run.
func (w *Worker) HandleChange(ctx context.Context, key store.Key) (time.Time, error) {
	items, err := w.Store.Get(ctx, store.Strong, key)
	if err != nil {
		return time.Time{}, records.Failed(err)
	}
	entry := items[0].Entry(record.ByWork)
	at, err := dueAt(entry)
	switch {
	case err != nil, at.IsZero(), at.After(w.Now()):
		return at, err
	case entry.Partition == record.DeliveriesPartition:
		return w.sendChanged(ctx, items[0])
	default:
		return time.Time{}, w.deliver(ctx, key)
	}
}

// RunDue delivers what is due, and returns the instant from which on the next is, or the zero Time. It fails when nothing of what is due
// can be delivered, so that its host waits before it tries again. It reads an index, which may lag by about a second.
func (w *Worker) RunDue(ctx context.Context) (time.Time, error) {
	w.delivered.Store(false)
	w.failed.Store(false)
	err := w.startDue(ctx)
	for !w.running.awaitIdle(ctx, pollInterval) { // what became due meanwhile does not wait for the slowest
		err = errors.Join(err, w.startDue(ctx))
	}
	if w.failed.Load() && !w.delivered.Load() {
		err = errors.Join(err, errors.New("nothing of what is due can be delivered"))
	}
	if err != nil {
		return time.Time{}, err
	}
	return w.nextDue(ctx)
}

// nextDue returns the instant from which on the first record is due; the zero Time: none is.
func (w *Worker) nextDue(ctx context.Context) (time.Time, error) {
	first, err := w.Store.Query(ctx, store.Query{Index: record.ByWork, Partition: record.OutboxPartition, Limit: 1})
	if err != nil {
		return time.Time{}, records.Failed(err)
	}
	var next time.Time
	if len(first) > 0 {
		if next, err = dueAt(first[0].Entry(record.ByWork)); err != nil {
			return next, err
		}
	}
	for p, err := range w.payers(ctx, "") {
		if err != nil {
			return next, err
		}
		if next.IsZero() || p.due.Before(next) {
			next = p.due
		}
	}
	return next, nil
}

// deliver handles one record of the outbox, which it reads again, because the index may lag.
func (w *Worker) deliver(ctx context.Context, key store.Key) error {
	kind, _, _ := strings.Cut(key.Partition, "#")
	handle := map[string]func(context.Context, store.Key) error{
		"EVENT": w.fanOut, "MAILBOX": w.sendMail, "TOKENS": w.noticeToken,
	}[kind]
	return w.try(ctx, key, func(ctx context.Context, key store.Key) error {
		if handle == nil {
			return errors.New("nothing delivers it")
		}
		return handle(ctx, key)
	})
}

// try calls the handler of a record. It logs an error, also a panic, and the record stays due.
func (w *Worker) try(ctx context.Context, key store.Key, handle func(context.Context, store.Key) error) error {
	err := panics.Catch(func() error { return handle(ctx, key) })
	if err != nil && ctx.Err() == nil {
		w.Log.ErrorContext(ctx, "not delivered; it is tried again", "record", key.Partition, "error", err)
	}
	return err
}
