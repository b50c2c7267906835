package notifier_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/mail"
	"assay/shared/service/records"
	"assay/shared/storage/store"
	"assay/shared/testing/waittest"
)

// 960 receivers of one user hang, and the webhook of another user gets its event meanwhile: attempts at webhooks of one payer never take
// more than the payer's share of the connections, and those at webhooks at which nothing has arrived never more than one.
func TestWebhook_DoesNotWaitForReceiversOfOthers(t *testing.T) {
	for name, c := range map[string]struct {
		proven bool
		most   int64
	}{"nothing has arrived at them": {false, 1}, "they answered before": {true, 16}} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			var begun atomic.Int64
			hold := make(chan struct{})
			receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
				begun.Add(1)
				<-hold
			}))
			t.Cleanup(receiver.Close)
			arrived := make(chan struct{}, 10)
			bystander := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { arrived <- struct{}{} }))
			t.Cleanup(bystander.Close)
			f.WebhookNetworks = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
			f.Batch(func() {
				for range 960 {
					h := record.NewWebhook(f.now, access.Scope{OrganizerID: record.NewID(f.now)}, "PAYER", record.WebhookDraft{URL: receiver.URL})
					h.Proven = c.proven
					f.Put(record.NewDelivery(f.now, h, record.EventRunFailed, "", "/v1/runs/1"), h)
				}
			})
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan struct{})
			go func() {
				f.Run(ctx)
				close(ended)
			}()
			defer func() {
				stop()
				close(hold)
				<-ended
			}()
			waittest.Until(t, "receivers hang", func() bool { return begun.Load() >= c.most })
			task := f.Task()
			f.Put(record.NewWebhook(f.now, task.Scope(), task.PayerID(), record.WebhookDraft{URL: bystander.URL}))
			f.happen(task, 3)
			for range 3 {
				waittest.Receive(t, "the event of the bystander arrives", arrived)
			}
			n := begun.Load()
			n -= f.failed()
			if n > c.most {
				t.Errorf("%d attempts at receivers that hang are under way", n)
			}
		})
	}
}

// failed counts the deliveries of which an attempt has failed.
func (f *fixture) failed() (n int64) {
	f.t.Helper()
	q := store.Query{Index: record.ByWork, Partition: record.DeliveriesPartition, Limit: store.MaxKeys}
	err := records.EachItem(context.Background(), f.Builder.Store, q, func(it store.Item) error {
		d, err := records.Decode[record.DeliveryItem](it)
		if err == nil && d.Failure != "" {
			n++
		}
		return err
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return n
}

// An event does not wait for those of another payer that were due before it, of whichever of the payer's organizers they are.
func TestFanOut_TakesTurnsByPayer(t *testing.T) {
	f := newFixture(t)
	arrived := make(chan struct{}, 1)
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { arrived <- struct{}{} }))
	t.Cleanup(receiver.Close)
	f.WebhookNetworks = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	var flood []*record.Event
	f.Batch(func() {
		for range 40 {
			o := &record.Organizer{Meta: record.NewMeta(f.now), Payer: "PAYER"}
			f.Put(o)
			for range 12 {
				flood = append(flood, record.NewEvent(f.now, record.EventWebhookDisabled, o.Scope(), "/"))
				f.Put(flood[len(flood)-1])
			}
		}
	})
	task := f.Task()
	f.Put(record.NewWebhook(f.now, task.Scope(), task.PayerID(), record.WebhookDraft{URL: receiver.URL}))
	f.happen(task, 1)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		f.Run(ctx)
		close(ended)
	}()
	waittest.Receive(t, "the event arrives", arrived)
	stop()
	<-ended
	delivered := 0
	for _, e := range flood {
		if recordtest.Get[record.Event](t, f.Builder.Store, e.Key()).Delivered {
			delivered++
		}
	}
	if delivered > len(flood)/2 {
		t.Errorf("it waits for %d of %d events of another payer", delivered, len(flood))
	}
}

// TestMail_TakesTurnsByPayer has a slow mail server, and one payer who tells many. The e-mail of somebody else's task does not wait.
func TestMail_TakesTurnsByPayer(t *testing.T) {
	f := newFixture(t)
	organizer := &record.Organizer{Meta: record.NewMeta(f.now), Payer: "PAYER"}
	f.Put(organizer)
	flood := f.Task(func(t *record.TaskItem) { t.OrganizerID = organizer.ID })
	const told, most = 60, 8
	f.Batch(func() {
		for i := range told {
			name := fmt.Sprint("user", i)
			f.User(name)
			flood.Register(name)
		}
	})
	arrived, proceed := make(chan struct{}), make(chan struct{})
	var sending, largest atomic.Int64
	f.Mail = func(_ context.Context, m mail.Message) error {
		if strings.Contains(m.Subject+m.Text, "Other news") {
			close(arrived)
			return nil
		}
		largest.Store(max(largest.Load(), sending.Add(1)))
		<-proceed
		sending.Add(-1)
		return nil
	}
	f.announce(flood, "Flood", "")
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		f.Run(ctx)
		close(ended)
	}()
	waittest.Until(t, "the payer has as many e-mails on their way as a payer may", func() bool { return sending.Load() == most })
	task := f.Task()
	f.User("ann")
	task.Register("ann")
	f.announce(task, "Other news", "")
	waittest.Receive(t, "somebody else's e-mail is sent", arrived)
	close(proceed)
	stop()
	<-ended
	if n := largest.Load(); n > most {
		t.Errorf("%d e-mails of the payer were on their way", n)
	}
}

// A host that calls RunDue waits for the slowest receiver, and what becomes due meanwhile does not.
func TestRunDue_BeginsWhatBecomesDueMeanwhile(t *testing.T) {
	f := newFixture(t)
	task := f.Task()
	hangs, arrived := make(chan struct{}), make(chan struct{})
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/other" {
			close(arrived)
			return
		}
		_, _ = io.Copy(io.Discard, r.Body) // or the server does not notice that the attempt ends
		close(hangs)
		select {
		case <-arrived:
		case <-r.Context().Done():
			t.Error("the other event does not arrive before the attempt ends")
		}
	}))
	t.Cleanup(receiver.Close)
	f.WebhookNetworks = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	due := func(task *recordtest.Task, path string) {
		h := record.NewWebhook(f.now, task.Scope(), task.PayerID(), record.WebhookDraft{URL: receiver.URL + path})
		f.Put(record.NewDelivery(f.now, h, record.EventRunFailed, task.ID, "/v1/runs/1"), h)
	}
	due(task, "/slow")
	ended := make(chan error, 1)
	go func() {
		ended <- f.RunDue(context.Background())
	}()
	waittest.Receive(t, "a receiver hangs", hangs)
	due(f.Task(func(t *record.TaskItem) { t.Payer = "OTHER" }), "/other")
	if err := waittest.Receive(t, "RunDue ends", ended); err != nil {
		t.Error(err)
	}
}

// A change is handled at once if the receiver is known to answer. A receiver that may hang does not make later changes wait: RunDue
// reaches it.
func TestHandleChange_LeavesReceiversThatMayHang(t *testing.T) {
	f := newFixture(t)
	task := f.Task()
	r := f.receive(t, task, func(string, int) int { return http.StatusOK })
	r.now = f.now
	for _, steady := range []bool{false, true} {
		d := record.NewDelivery(f.now, r.stored(), record.EventRunFailed, task.ID, "/v1/runs/1")
		f.Put(d)
		items, err := f.Builder.Store.Get(t.Context(), store.Strong, d.Key())
		if err != nil {
			t.Fatal(err)
		}
		next, err := f.HandleChange(t.Context(), items[0])
		if err != nil || next.IsZero() != steady {
			t.Errorf("steady %v: due at %v, %v", steady, next, err)
		}
		if _, sent := r.acknowledged[d.ID]; sent != steady {
			t.Errorf("steady %v: sent %v", steady, sent)
		}
		f.run()
		if _, sent := r.acknowledged[d.ID]; !sent {
			t.Errorf("steady %v: it was never sent", steady)
		}
	}
}
