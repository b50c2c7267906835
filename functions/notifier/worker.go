// Package notifier delivers the outbox: it tells people by e-mail what happened, and programs by webhooks. It runs as goroutines of the
// local server, and on AWS as a function that the table's stream and schedules call.
//
// Whatever changes something that others are to be told of creates a record.Event in its transaction, and what time brings creates one
// that is due later. The notifier fans each event out to its recipients, a page in each transaction that also moves the event's cursor,
// so that every recipient gets it once. What one recipient is to be told waits in a record.Mailbox and is sent as one e-mail. Its
// text is composed when it is sent, of what the recipient may see then.
//
// Each webhook that takes an event gets a record.DeliveryItem of its own, which is numbered, sent, and sent again later when that failed,
// whatever becomes of the others.
package notifier

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
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

	busy   sync.Map // store.Key of what is being handled
	wakeUp wait.Signal
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

// startDue begins to deliver each record that is due and is not being handled, so that none waits for one that takes long.
func (w *Worker) startDue(ctx context.Context, running *pool) error {
	q := store.Query{Index: record.ByWork, Partition: record.OutboxPartition, To: record.DueBy(w.Now()), Limit: batch}
	return records.EachItem(ctx, w.Store, q, func(it store.Item) error {
		key := it.Key
		if isUnnumbered(key) {
			key.Sort = "" // one goroutine numbers all of a webhook
		}
		if _, handled := w.busy.LoadOrStore(key, true); handled || ctx.Err() != nil {
			return ctx.Err()
		}
		do := func() error { // never fails
			err := w.deliver(ctx, it)
			w.busy.Delete(key)
			if err == nil {
				w.wakeUp.Send() // what was delivered may have put something into the outbox
			}
			return nil
		}
		if !running.start(it.Key, do) {
			w.busy.Delete(key) // it stays due
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
	return time.Time{}, w.deliver(ctx, items[0])
}

// RunDue delivers what is due, and returns the instant from which on the next is, or the zero Time. It reads an index, which may lag by
// about a second.
func (w *Worker) RunDue(ctx context.Context) (time.Time, error) {
	running := newPool()
	err := w.startDue(ctx, running)
	running.wait()
	next, queryErr := w.Store.Query(ctx, store.Query{Index: record.ByWork, Partition: record.OutboxPartition, Limit: 1})
	if err = errors.Join(err, records.Failed(queryErr)); err != nil || len(next) == 0 {
		return time.Time{}, err
	}
	return record.DueAt(next[0].Entry(record.ByWork).Sort)
}

// deliver handles one record of the outbox. The item comes from an index, which may lag, so the record is read again before anything
// is done. An error is logged, and the record stays due.
func (w *Worker) deliver(ctx context.Context, it store.Item) error {
	err := panics.Catch(func() error {
		r, err := record.DecodeOutbox(it)
		if err != nil {
			return err
		}
		switch r := r.(type) {
		case *record.Event:
			return w.fanOut(ctx, r.Key())
		case *record.Mailbox:
			return w.sendMail(ctx, r.Key())
		case *record.InvitationItem:
			return w.sendInvitation(ctx, r.Key())
		case *record.AccessTokenItem:
			return w.noticeToken(ctx, r.Key())
		case *record.DeliveryItem:
			if r.Sequence == 0 {
				return w.number(ctx, r)
			}
			return w.send(ctx, r.Key())
		default:
			return fmt.Errorf("nothing delivers a %T", r)
		}
	})
	if err != nil && ctx.Err() == nil {
		w.Log.ErrorContext(ctx, "not delivered; it is tried again", "record", it.Partition, "error", err)
	}
	return err
}

// Waits after failures.
const (
	firstDelay   = time.Minute
	longestDelay = 6 * time.Hour
)

// delay is how long to wait after so many attempts in a row that failed.
func delay(attempts int) time.Duration {
	return min(firstDelay<<min(max(attempts-1, 0), 20), longestDelay)
}
