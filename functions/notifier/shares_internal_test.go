package notifier

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/mail"
	"assay/shared/service/records"
	"assay/shared/storage/store"
	"assay/shared/storage/store/embedded"
	"assay/shared/testing/waittest"
)

// counts has the number of deliveries that have begun, by a name for each group.
type counts struct {
	mu sync.Mutex
	of map[string]int
}

func (c *counts) add(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.of[name]++
}

func (c *counts) get(name string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.of[name]
}

func (w *Worker) create(t *testing.T, all ...record.Record) {
	t.Helper()
	for some := range slices.Chunk(all, store.MaxWrites) {
		tx := new(records.Tx)
		for _, r := range some {
			tx.Create(r)
		}
		if err := tx.Commit(t.Context(), w.Store); err != nil {
			t.Fatal(err)
		}
	}
}

// owe stores deliveries that are due, to a webhook of the payer with the address.
func (w *Worker) owe(t *testing.T, payer, url string, deliveries int, change func(*record.WebhookItem)) {
	t.Helper()
	h := record.NewWebhook(w.Now(), access.Scope{OrganizerID: record.NewID(w.Now())}, payer, record.WebhookDraft{URL: url})
	change(h)
	all := []record.Record{h}
	for range deliveries {
		all = append(all, record.NewDelivery(w.Now(), h, record.EventRunFailed, "", "/v1/runs/1"))
	}
	w.create(t, all...)
}

// TestShares_LeaveRoomForOthers makes every receiver and the mail server hang, and counts the deliveries on their way at once: of a payer,
// of a webhook, of webhooks at which nothing has arrived, and of e-mails.
func TestShares_LeaveRoomForOthers(t *testing.T) {
	w := New(recordtest.OpenStore(t, embedded.Options{}), time.Now, slog.New(slog.DiscardHandler))
	w.WebhookNetworks = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	begun, hold := counts{of: map[string]int{}}, make(chan struct{})
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		begun.add(strings.Split(r.URL.Path, "/")[1])
		<-hold
	}))
	t.Cleanup(receiver.Close)
	w.Mail = func(context.Context, mail.Message) error {
		begun.add("e-mails")
		<-hold
		return nil
	}
	steady := func(h *record.WebhookItem) { h.Proven = true }
	failing := func(h *record.WebhookItem) { h.Proven, h.FailingSince = true, new(record.At(w.Now())) }
	unproven := func(*record.WebhookItem) {}
	owe := func(name, payer string, webhooks, deliveries int, change func(*record.WebhookItem)) {
		for range webhooks {
			w.owe(t, payer, receiver.URL+"/"+name, deliveries, change)
		}
	}
	owe("one webhook whose last attempt arrived", "A", 1, 20, steady)
	owe("all webhooks of a payer", "B", 30, 1, steady)
	owe("one webhook whose last attempt failed", "C", 1, 20, failing)
	owe("webhooks of a payer at which nothing has arrived", "D", 20, 1, unproven)
	owe("a webhook of that payer at which something has", "D", 1, 20, steady)
	for i := range 2 * trials {
		owe("webhooks of all payers at which nothing has arrived", fmt.Sprint("E", i), 1, 1, unproven)
	}
	builder := recordtest.New(t, w.Store)
	for i := range 2 * concurrency {
		o := &record.Organizer{Meta: record.NewMeta(w.Now()), Payer: fmt.Sprint("F", i)}
		task := builder.Task(func(t *record.TaskItem) { t.OrganizerID = o.ID })
		user := fmt.Sprint("user", i)
		builder.User(user)
		task.Register(user)
		a := &record.Announcement{Meta: record.NewMeta(w.Now()), TaskID: task.ID, AnnouncementDraft: record.AnnouncementDraft{Title: "News"}}
		w.create(t, o, a, record.NewEvent(w.Now(), record.EventAnnouncementPublished, task.Scope(), task.Path()+"/announcements/"+a.ID))
	}
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { w.Run(ctx) })
	defer running.Wait()
	defer close(hold)
	defer stop()
	want := map[string]int{
		"one webhook whose last attempt arrived":              perWebhook,
		"all webhooks of a payer":                             perPayer,
		"one webhook whose last attempt failed":               1,
		"webhooks of a payer at which nothing has arrived":    1,
		"a webhook of that payer at which something has":      perWebhook,
		"webhooks of all payers at which nothing has arrived": trials - 1,
		"e-mails": concurrency,
	}
	for name, n := range want {
		waittest.Until(t, fmt.Sprint(n, " of ", name), func() bool { return begun.get(name) >= n })
	}
	owe("a payer who comes later", "G", 1, 1, steady)
	waittest.Until(t, "the delivery of a payer who comes later", func() bool { return begun.get("a payer who comes later") == 1 })
	for name, n := range want {
		if got := begun.get(name); got != n {
			t.Errorf("%s: %d at once, want %d", name, got, n)
		}
	}
}
