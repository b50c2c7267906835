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
	"time"

	"assay/shared/mail"
	"assay/shared/panics"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
	"assay/shared/wait"
)

const (
	pollInterval = time.Second
	batch        = 100
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

	busy    sync.Map   // store.Key of what is being delivered
	failing sync.Map   // partition of each webhook whose last attempt of this process failed
	fanOuts sync.Mutex // one at a time: each gives numbers to deliveries of the same webhooks
	wakeUp  wait.Signal
}

// Run delivers what is due until the context ends, and then waits for what it has begun.
func (w *Worker) Run(ctx context.Context) {
	running := newPool()
	for ctx.Err() == nil {
		if err := w.startDue(ctx, running); err != nil && ctx.Err() == nil {
			w.Log.ErrorContext(ctx, "the outbox cannot be read", "error", err)
		}
		select {
		case <-w.wakeUp.C():
		case <-time.After(pollInterval):
		case <-ctx.Done():
		}
	}
	running.wait()
}

// startDue begins to deliver each record that is due and is not being delivered, so that none waits for one that takes long.
func (w *Worker) startDue(ctx context.Context, running *pool) error {
	q := store.Query{Index: record.ByWork, Partition: record.OutboxPartition, To: record.DueBy(w.Now()), Limit: batch}
	return records.EachItem(ctx, w.Store, q, func(it store.Item) error {
		if _, busy := w.busy.LoadOrStore(it.Key, true); busy || ctx.Err() != nil {
			return ctx.Err()
		}
		_, failing := w.failing.Load(it.Key.Partition)
		started := running.start(it.Key, failing, func() {
			err := w.deliver(ctx, it.Key)
			w.busy.Delete(it.Key)
			if err != nil {
				running.failed.Store(true)
				return
			}
			running.delivered.Store(true)
			w.wakeUp.Send() // what was delivered may have put something into the outbox
		})
		if !started {
			w.busy.Delete(it.Key) // it stays due
		}
		return nil
	})
}

// Changed wakes the worker when the items, just written, contain something that is due.
func (w *Worker) Changed(items []store.Item) {
	due := record.DueBy(w.Now())
	if slices.ContainsFunc(items, func(it store.Item) bool {
		entry := it.Entry(record.ByWork)
		return entry.Partition == record.OutboxPartition && entry.Sort <= due
	}) {
		w.wakeUp.Send()
	}
}

// HandleChange delivers the record under the key if it is in the outbox and due, or returns the instant from which on it is. It is for
// a host that calls it for each change instead of calling Run.
func (w *Worker) HandleChange(ctx context.Context, key store.Key) (time.Time, error) {
	items, err := w.Store.Get(ctx, store.Strong, key)
	if err != nil {
		return time.Time{}, records.Failed(err)
	}
	entry := items[0].Entry(record.ByWork)
	if entry.Partition != record.OutboxPartition {
		return time.Time{}, nil
	}
	at, err := record.DueAt(entry.Sort)
	if err != nil || at.After(w.Now()) {
		return at, err
	}
	return time.Time{}, w.deliver(ctx, key)
}

// RunDue delivers what is due, and returns the instant from which on the next is, or the zero Time. It fails when nothing of what is due
// can be delivered, so that its host waits before it tries again. It reads an index, which may lag by about a second.
func (w *Worker) RunDue(ctx context.Context) (time.Time, error) {
	running := newPool()
	err := w.startDue(ctx, running)
	running.wait()
	if running.failed.Load() && !running.delivered.Load() {
		err = errors.Join(err, errors.New("nothing of what is due can be delivered"))
	}
	next, queryErr := w.Store.Query(ctx, store.Query{Index: record.ByWork, Partition: record.OutboxPartition, Limit: 1})
	if err = errors.Join(err, records.Failed(queryErr)); err != nil || len(next) == 0 {
		return time.Time{}, err
	}
	return record.DueAt(next[0].Entry(record.ByWork).Sort)
}

// deliver handles one record of the outbox, which it reads again, because the index may lag. An error is logged, and the record stays due.
func (w *Worker) deliver(ctx context.Context, key store.Key) error {
	kind, _, _ := strings.Cut(key.Partition, "#")
	handle := map[string]func(context.Context, store.Key) error{
		"EVENT": w.fanOut, "MAILBOX": w.sendMail, "TOKENS": w.noticeToken, deliveries: w.send,
	}[kind]
	err := panics.Catch(func() error {
		if handle == nil {
			return errors.New("nothing delivers it")
		}
		return handle(ctx, key)
	})
	if err != nil && ctx.Err() == nil {
		w.Log.ErrorContext(ctx, "not delivered; it is tried again", "record", key.Partition, "error", err)
	}
	return err
}
