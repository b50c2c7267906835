// Package notifier delivers the outbox: it notifies people by e-mail and programs by webhooks. It runs as goroutines of the binary, and on
// AWS as a function that the table's stream and schedules call.
//
// The transaction of a change creates a record.Event if others are notified of the change. Events about later times are due later. The
// notifier fans each event out to its recipients. Each transaction serves a page of recipients and moves the cursor of the event, so that
// every recipient gets the event once. A record.Mailbox collects the events of a recipient for one e-mail. The notifier composes the text
// when it sends the e-mail, from resources that the recipient may see at that time.
//
// The first of these transactions creates a record.DeliveryItem with a number for each webhook that takes the event. A delivery that fails
// is sent again later, independently of the others.
package notifier

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"assay/shared/domain/record"
	"assay/shared/edge/mail"
	"assay/shared/service/due"
	"assay/shared/storage/store"

	lru "github.com/hashicorp/golang-lru/v2"
)

// maxPayers is the number of organizers whose payers a worker remembers.
const maxPayers = 10_000

// Worker delivers the outbox. Callers set its exported fields before they use it, except that a store may get Changed before.
type Worker struct {
	due.Worker
	Mail mail.Sender // nil: no e-mails
	URL  string      // of the server, for links in e-mails

	// WebhookNetworks are addresses that webhooks may have although they are not public. Webhooks there may also use http.
	WebhookNetworks []netip.Prefix

	clients       sync.Once
	secure, plain *http.Client

	fanOuts sync.Mutex                 // one at a time, because each counts the deliveries of the same webhooks
	payers  *lru.Cache[string, string] // by organizer; they never change
}

// New returns a worker over the table. Callers may set it later.
func New(s store.Store, now func() time.Time, log *slog.Logger) *Worker {
	w := &Worker{Worker: due.Worker{Store: s, Now: now, Log: log}}
	w.payers, _ = lru.New[string, string](maxPayers) // the size is positive
	w.Lines = []*due.Line{
		{
			Name: "outbox", Partition: record.OutboxPartition, Places: len(handlers) * concurrency, Shares: w.sharesOfOutbox,
			Do: w.deliver,
		},
		{
			Name: "deliveries", Partition: record.DeliveriesPartition, Places: connections, PerPayer: perPayer,
			Shares: w.sharesOfAttempts, Do: w.send,
		},
	}
	return w
}

// handlers deliver the records of the outbox, by the first part of their key.
var handlers = map[string]func(*Worker, context.Context, store.Key) error{
	"EVENT":   (*Worker).fanOut,
	"MAILBOX": (*Worker).sendMail,
	"TOKENS":  (*Worker).noticeToken,
}

// deliver handles one record of the outbox.
func (w *Worker) deliver(ctx context.Context, it store.Item) error {
	handle := handlers[kindOf(it.Key)]
	if handle == nil {
		return fmt.Errorf("nothing delivers %s", it.Partition)
	}
	return handle(w, ctx, it.Key)
}

func kindOf(k store.Key) string {
	kind, _, _ := strings.Cut(k.Partition, "#")
	return kind
}
