package notifier_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"sync"
	"testing"
	"time"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/storage/store"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// message is a request that a receiver gets.
type message struct {
	Type string
	Data struct {
		Path, OrganizerID, TaskID string
		Sequence                  int64
	}
}

// receiver is a server of webhooks that checks its requests. The function answer returns the status of each answer.
type receiver struct {
	*httptest.Server
	f      *fixture
	hook   *record.WebhookItem
	answer func(id string, attempt int) int

	mu           sync.Mutex
	now          time.Time // of the notifier, when it last began
	bodies       map[string]string
	attempts     map[string]int
	acknowledged map[string]message
}

// receive makes a webhook of the task, or with nil of an organizer of its own, and its receiver.
func (f *fixture) receive(t *testing.T, task *recordtest.Task, answer func(id string, attempt int) int) *receiver {
	r := &receiver{f: f, answer: answer, bodies: map[string]string{}, attempts: map[string]int{}, acknowledged: map[string]message{}}
	r.Server = httptest.NewServer(r)
	f.receivers = append(f.receivers, r)
	t.Cleanup(r.Close)
	f.WebhookNetworks = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	r.hook = record.NewWebhook(f.now, task.Scope(), task.PayerID(), record.WebhookDraft{URL: r.URL})
	f.Put(r.hook)
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	var m message
	if err != nil || json.Unmarshal(body, &m) != nil {
		r.f.t.Errorf("%s: %v", body, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, secret := range r.hook.Secrets(r.now) {
		verifier, err := standardwebhooks.NewWebhook(secret)
		if err == nil {
			err = verifier.VerifyIgnoringTimestamp(body, request.Header)
		}
		if err != nil {
			r.f.t.Error(err)
		}
	}
	if at := request.Header.Get("Webhook-Timestamp"); at != strconv.FormatInt(r.now.Unix(), 10) {
		r.f.t.Errorf("timestamp %s at %s", at, r.now)
	}
	id := request.Header.Get("Webhook-Id")
	if before := r.bodies[id]; before != "" && before != string(body) {
		r.f.t.Errorf("%s is first %s and then %s", id, before, body)
	}
	if _, again := r.acknowledged[id]; again {
		r.f.t.Errorf("%s was acknowledged and is sent again", id)
	}
	r.bodies[id] = string(body)
	status := r.answer(id, r.attempts[id])
	r.attempts[id]++
	if status == 0 { // no answer, though the event has arrived
		panic(http.ErrAbortHandler)
	}
	w.WriteHeader(status)
	if status/100 == 2 {
		r.acknowledged[id] = m
	}
}

// stored returns the present record of the webhook.
func (r *receiver) stored() *record.WebhookItem {
	return recordtest.Get[record.WebhookItem](r.f.t, r.f.Builder.Store, r.hook.Key())
}

// deliveries returns the stored deliveries, the oldest first.
func (r *receiver) deliveries() (all []*record.DeliveryItem) {
	r.f.t.Helper()
	q := store.Query{Partition: record.DeliveryPartition(r.hook.ID), Limit: store.MaxKeys}
	for {
		items, err := r.f.Builder.Store.Query(context.Background(), q)
		if err != nil {
			r.f.t.Fatal(err)
		}
		for _, it := range items {
			d := new(record.DeliveryItem)
			if err := record.Decode(it, d); err != nil {
				r.f.t.Fatal(err)
			}
			all = append(all, d)
		}
		if q.IsLastPage(items) {
			return all
		}
		q.After = &items[len(items)-1]
	}
}

// happen puts events about runs of the task into the outbox.
func (f *fixture) happen(task *recordtest.Task, n int) {
	f.Batch(func() {
		for range n {
			f.Put(record.NewEvent(f.now, record.EventRunCompleted, task.Scope(), "/v1/runs/"+record.NewID(f.now)))
		}
	})
}

// run delivers until nothing is due.
func (f *fixture) run() (next time.Time) {
	f.t.Helper()
	for _, r := range f.receivers {
		r.mu.Lock()
		r.now = f.now
		r.mu.Unlock()
	}
	for {
		next, err := f.runDue(context.Background())
		if err != nil {
			f.t.Fatal(err)
		}
		if next.IsZero() || next.After(f.now) {
			return next
		}
	}
}
