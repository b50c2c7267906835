package notifier

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/service/records"
	"assay/shared/storage/store"
	"assay/shared/storage/store/embedded"
	"assay/shared/testing/waittest"
)

// countingStore counts the items that queries return.
type countingStore struct {
	store.Store
	items atomic.Int64
}

func (s *countingStore) Query(ctx context.Context, q store.Query) ([]store.Item, error) {
	items, err := s.Store.Query(ctx, q)
	s.items.Add(int64(len(items)))
	return items, err
}

// newWorker returns a worker over an empty store, whose webhooks may be on this machine.
func newWorker(t *testing.T) (*Worker, *countingStore) {
	s := &countingStore{Store: recordtest.OpenStore(t, embedded.Options{})}
	now := record.At(time.Now()).Time
	return &Worker{Store: s, Now: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler),
		WebhookNetworks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}, s
}

// owe stores a webhook of the payer at which an event has arrived, and so many deliveries to it that are due.
func (w *Worker) owe(t *testing.T, payer, url string, deliveries int) *record.WebhookItem {
	t.Helper()
	h := record.NewWebhook(w.Now(), access.Scope{OrganizerID: record.NewID(w.Now())}, payer, record.WebhookDraft{URL: url})
	h.Proven = true
	all := []record.Record{}
	for range deliveries {
		all = append(all, record.NewDelivery(w.Now(), h, record.EventRunFailed, "", "/v1/runs/1"))
	}
	for some := range slices.Chunk(append(all, h), store.MaxWrites) {
		tx := new(records.Tx)
		for _, r := range some {
			tx.Create(r)
		}
		if err := tx.Commit(t.Context(), w.Store); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

// While all connections but one are taken, payers get that one in turn, whatever each of them has waiting.
func TestAttempts_TakeTurnsByPayer(t *testing.T) {
	w, _ := newWorker(t)
	served := make(chan string, 100)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { served <- r.URL.Path[1:] }))
	t.Cleanup(receiver.Close)
	for payer, deliveries := range map[string]int{"A": 50, "B": 3, "C": 3} {
		w.owe(t, payer, receiver.URL+"/"+payer, deliveries)
	}
	w.running.running = map[string]int{attemptsOfAll: connections - 1}
	var order []string
	for range 8 {
		if err := w.startAttempts(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.running.all.Wait()
		order = append(order, <-served)
	}
	if want := []string{"A", "B", "C", "A", "B", "C", "A", "B"}; !slices.Equal(order, want) || len(served) > 0 {
		t.Errorf("served %v and %d more, want %v", order, len(served), want)
	}
}

// A delivery that cannot be read keeps the deliveries of no other payer waiting.
func TestAttempts_GoOnBehindAnUnreadableDelivery(t *testing.T) {
	w, s := newWorker(t)
	served := make(chan string, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { served <- r.URL.Path }))
	t.Cleanup(receiver.Close)
	w.owe(t, "A", receiver.URL+"/A", 1)
	w.owe(t, "B", receiver.URL+"/B", 1)
	first, err := s.Query(t.Context(), store.Query{Index: record.ByWork, Partition: record.DeliveriesPartition, Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	first[0].Data = []byte("damaged")
	if err := s.Write(t.Context(), store.Replace(first[0])); err != nil {
		t.Fatal(err)
	}
	if err := w.startAttempts(t.Context()); err == nil {
		t.Error("the unreadable delivery is no error")
	}
	w.running.all.Wait()
	if len(served) != 1 || <-served != "/B" {
		t.Error("the delivery of the other payer was not sent")
	}
}

// A pass reads one page of each payer's deliveries, however many are due, and a later pass the next page, behind the receiver that hangs.
func TestAttempts_ReadOnePageOfEachPayer(t *testing.T) {
	w, s := newWorker(t)
	reached := make(chan string, 100)
	hold := make(chan struct{})
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		reached <- r.URL.Path
		if r.URL.Path == "/hangs" {
			<-hold
		}
	}))
	t.Cleanup(receiver.Close)
	t.Cleanup(w.running.all.Wait)
	t.Cleanup(func() { close(hold) })
	w.owe(t, "A", receiver.URL+"/hangs", 9*batch)
	w.owe(t, "A", receiver.URL+"/works", 1)
	w.owe(t, "B", receiver.URL+"/other", 1)
	var all []string
	for passes := range 12 {
		s.items.Store(0)
		if err := w.startAttempts(t.Context()); err != nil {
			t.Fatal(err)
		}
		if read := s.items.Load(); read > batch+4 { // and the first delivery of each payer, of whom there are two
			t.Fatalf("pass %d reads %d items", passes, read)
		}
		if passes == 0 {
			for range perWebhook + 1 {
				all = append(all, waittest.Receive(t, "a receiver is reached", reached))
			}
		}
	}
	all = append(all, waittest.Receive(t, "a receiver is reached", reached))
	slices.Sort(all)
	all = slices.Compact(all)
	if fmt.Sprint(all) != "[/hangs /other /works]" {
		t.Errorf("reached %v", all)
	}
}

// Limits of a payer, of a webhook, and of webhooks at which nothing has arrived.
func TestPool_HasRoomForOthers(t *testing.T) {
	var p pool
	hold := make(chan struct{})
	defer p.all.Wait()
	defer close(hold)
	count := func(n int, groups func(i int) []group) (started int) {
		for i := range n {
			if p.start(groups(i), func() bool {
				<-hold
				return false
			}, nil) {
				started++
			}
		}
		return started
	}
	steady := &record.WebhookItem{Proven: true}
	failing := &record.WebhookItem{Proven: true, FailingSince: new(record.At(time.Now()))}
	unproven := new(record.WebhookItem)
	of := func(payer, partition string, h *record.WebhookItem) func(int) []group {
		return func(int) []group { return attempt(payer, partition, h) }
	}
	each := func(payer string, h *record.WebhookItem) func(int) []group {
		return func(i int) []group { return attempt(payer, fmt.Sprint(payer, i), h) }
	}
	for _, c := range []struct {
		name      string
		got, want int
	}{
		{"one webhook whose last attempt arrived", count(20, of("A", "A0", steady)), perWebhook},
		{"all webhooks of a payer", count(300, each("A", steady)), perPayer - perWebhook},
		{"one webhook whose last attempt failed", count(20, of("B", "B0", failing)), 1},
		{"a webhook that does not exist", count(20, of("B", "B1", nil)), 1},
		{"one webhook at which nothing has arrived", count(20, of("C", "C0", unproven)), 1},
		{"all webhooks of a payer at which nothing has arrived", count(20, each("D", unproven)), 1},
		{"another one at which something has", count(20, of("D", "D", steady)), perWebhook},
		{"webhooks of all payers at which nothing has arrived", count(300, func(i int) []group {
			return attempt(fmt.Sprint("E", i), fmt.Sprint("E", i), unproven)
		}), trials - 2},
		{"a payer who has begun nothing", count(1, of("F", "F0", steady)), 1},
		{"e-mails", count(100, func(int) []group { return []group{{"MAILBOX", concurrency}} }), concurrency},
		{"events", count(1, func(int) []group { return []group{{"EVENT", concurrency}} }), 1},
	} {
		if c.got != c.want {
			t.Errorf("%s: %d attempts at once, want %d", c.name, c.got, c.want)
		}
	}
}
