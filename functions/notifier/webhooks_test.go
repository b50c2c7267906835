package notifier_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"assay/shared/record"
	"assay/shared/record/recordtest"
	"assay/shared/store"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

var webhookEvents = flag.Int("webhook-events", 1200, "how many events the test of webhooks sends")

// message is what a receiver gets.
type message struct {
	Type string
	Data struct {
		Path, OrganizerID, TaskID string
		Sequence                  int64
	}
}

// receiver is a server of webhooks that checks what it gets. Answer decides what it answers.
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
	r.hook = record.NewWebhook(f.now, task.OrganizerID, task.ID, record.WebhookDraft{URL: r.URL})
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

// stored is the webhook as it is now.
func (r *receiver) stored() *record.WebhookItem {
	return recordtest.Get[record.WebhookItem](r.f.t, r.f.Builder.Store, r.hook.Key())
}

// deliveries are what is kept of what was sent, the oldest first.
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

// run delivers what is due until nothing is.
func (f *fixture) run() (next time.Time) {
	f.t.Helper()
	for _, r := range f.receivers {
		r.mu.Lock()
		r.now = f.now
		r.mu.Unlock()
	}
	for {
		next, err := f.RunDue(context.Background())
		if err != nil {
			f.t.Fatal(err)
		}
		if next.IsZero() || next.After(f.now) {
			return next
		}
	}
}

// Every event arrives, whatever the receiver answers, with numbers without gaps; and one receiver that works does not wait for the other.
func TestWebhook_EveryEventArrives(t *testing.T) {
	f := newFixture(t)
	f.Mail = nil
	task := f.Task()
	failing := f.receive(t, task, func(string, int) int {
		return []int{http.StatusInternalServerError, http.StatusFound, 0, http.StatusNoContent, http.StatusOK}[min(rand.N(12), 4)] // 1 of 4 fails
	})
	working := f.receive(t, task, func(string, int) int { return http.StatusOK })
	n := *webhookEvents
	f.happen(task, n)
	next := f.run()
	if len(working.acknowledged) != n {
		t.Errorf("%d of %d events arrived where nothing fails", len(working.acknowledged), n)
	}
	for !next.IsZero() {
		f.now = next
		next = f.run()
	}
	for _, r := range []*receiver{failing, working} {
		seen := make([]bool, n+1)
		for id, m := range r.acknowledged {
			if s := m.Data.Sequence; m.Type != "run.completed" || s < 1 || s > int64(n) || seen[s] || m.Data.TaskID != task.ID ||
				!strings.HasPrefix(m.Data.Path, "/v1/runs/") || m.Data.OrganizerID != task.OrganizerID {
				t.Fatalf("%s: %+v", id, m)
			}
			seen[m.Data.Sequence] = true
		}
		if missing := slices.Index(seen[1:], false); missing >= 0 {
			t.Errorf("the event %d did not arrive", missing+1)
		}
		if s := r.stored(); s.Sequence != int64(n) || s.Disabled {
			t.Errorf("%+v", s)
		}
	}
	// Old ones are deleted when others come.
	for range n / 50 {
		f.happen(task, 1)
		f.run()
	}
	if kept := working.deliveries(); len(kept) != record.DeliveriesKept || kept[0].Sequence != int64(n+n/50-record.DeliveriesKept+1) {
		t.Errorf("%d deliveries are kept, from %d on", len(kept), kept[0].Sequence)
	}
}

func TestWebhook_TakesTheKindsOfItsDraft(t *testing.T) {
	f := newFixture(t)
	task, other := f.Task(), f.Task()
	ok := func(string, int) int { return http.StatusOK }
	all, some, off, others := f.receive(t, task, ok), f.receive(t, task, ok), f.receive(t, task, ok), f.receive(t, other, ok)
	some.hook.Kinds, off.hook.Disabled = []record.EventKind{record.EventRunFailed}, true
	organizer := f.receive(t, task, ok)
	f.Replace(some.hook, off.hook)
	organizers := record.NewWebhook(f.now, task.OrganizerID, "", record.WebhookDraft{URL: organizer.URL})
	f.Put(organizers)
	organizer.hook.Disabled = true
	f.Replace(organizer.hook)
	organizer.hook = organizers
	f.happen(task, 3)
	f.run()
	for i, want := range []int{3, 0, 0, 0, 3} {
		r := []*receiver{all, some, off, others, organizer}[i]
		if len(r.acknowledged) != want {
			t.Errorf("receiver %d: %d events, want %d", i, len(r.acknowledged), want)
		}
	}
}

func TestWebhook_SecretsRotate(t *testing.T) {
	f := newFixture(t)
	task := f.Task()
	r := f.receive(t, task, func(string, int) int { return http.StatusOK })
	old := r.hook.Secret
	r.hook.Rotate(f.now)
	f.Replace(r.hook)
	for _, want := range []int{2, 1} { // the receiver checks each
		if secrets := r.hook.Secrets(f.now); len(secrets) != want || secrets[0] == old {
			t.Errorf("%d secrets", len(secrets))
		}
		f.happen(task, 1)
		f.run()
		f.now = f.now.Add(record.SecretOverlap)
	}
	if len(r.acknowledged) != 2 {
		t.Errorf("%d events", len(r.acknowledged))
	}
}

// fail has an event be sent for four days to a receiver that answers so, and returns the attempts that were made.
func (f *fixture) fail(r *receiver, task *recordtest.Task) int {
	f.happen(task, 1)
	end := f.now.Add(4 * record.Day)
	for next := f.run(); !next.IsZero() && next.Before(end); next = f.run() {
		f.now = next
	}
	attempts := 0
	for _, n := range r.attempts {
		attempts = max(attempts, n)
	}
	return attempts
}

func TestWebhook_IsDisabledWhenNothingArrives(t *testing.T) {
	for name, c := range map[string]struct {
		answer   func(string, int) int
		disabled bool
		min, max int // attempts
	}{
		"an error each time": {func(string, int) int { return http.StatusInternalServerError }, true, 8, 25},
		"no more":            {func(string, int) int { return http.StatusGone }, true, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			task := f.Task()
			members := recordtest.Get[record.Organizer](t, f.Builder.Store, record.OrganizerKey(task.OrganizerID)).Members
			f.Put(&record.User{Meta: record.MetaOf(members[0], f.now), Name: "Olga", Email: "olga@example.org"})
			r := f.receive(t, task, c.answer)
			if attempts := f.fail(r, task); attempts < c.min || attempts > c.max {
				t.Errorf("%d attempts", attempts)
			}
			d := r.deliveries()
			if len(d) != 1 || d[0].State != record.DeliveryFailed || d[0].Failure == "" || d[0].NextAttemptAt != nil {
				t.Errorf("%+v", d[0])
			}
			if r.stored().Disabled != c.disabled {
				t.Errorf("disabled: %v", !c.disabled)
			}
			mails := f.smtp.Take()
			if len(mails) != 1 || mails[0].To != "olga@example.org" || !strings.Contains(mails[0].Text, r.hook.Path()) {
				t.Errorf("%+v", mails)
			}
			r.mu.Lock()
			r.answer = func(string, int) int { return http.StatusOK }
			r.mu.Unlock()
			f.happen(task, 1)
			f.run()
			if len(r.acknowledged) > 0 {
				t.Error("events are sent to a webhook that is disabled")
			}
		})
	}
}

func TestWebhook_StaysWhenOtherEventsArrive(t *testing.T) {
	f := newFixture(t)
	task := f.Task()
	bad := ""
	r := f.receive(t, task, func(id string, _ int) int {
		if bad == "" {
			bad = id
		}
		if id == bad {
			return http.StatusBadRequest
		}
		return http.StatusOK
	})
	f.happen(task, 1)
	f.run()
	f.now = f.now.Add(record.Day)
	f.happen(task, 1)
	f.fail(r, task)
	if r.stored().Disabled || len(r.acknowledged) != 2 {
		t.Errorf("disabled: %v, after %d events", r.stored().Disabled, len(r.acknowledged))
	}
	if d := r.deliveries(); d[0].State != record.DeliveryFailed || d[0].Status != http.StatusBadRequest {
		t.Errorf("%+v", d[0])
	}
}

func TestWebhook_OfNobodyGetsNothing(t *testing.T) {
	f := newFixture(t)
	task := f.Task()
	r := f.receive(t, task, func(string, int) int { return http.StatusInternalServerError })
	f.happen(task, 40)
	next := f.run()
	f.Put(record.NewDelivery(next, r.hook, record.EventRunFailed, task.ID, task.Path())) // that has no number yet
	if err := f.Builder.Store.Write(t.Context(), store.Delete(r.hook.Key())); err != nil {
		t.Fatal(err)
	}
	sent := len(r.bodies)
	for ; !next.IsZero(); next = f.run() {
		f.now = next
	}
	if left := r.deliveries(); len(left) > 0 || len(r.bodies) != sent {
		t.Errorf("%d deliveries are left, and %d were sent", len(left), len(r.bodies)-sent)
	}
}

// What organizers name as a receiver is reached at public addresses alone, and is not led elsewhere.
func TestWebhook_ReachesWhatIsAllowedAlone(t *testing.T) {
	inside := 0
	private := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { inside++ }))
	t.Cleanup(private.Close)
	redirecting := httptest.NewServer(http.RedirectHandler(private.URL, http.StatusTemporaryRedirect))
	t.Cleanup(redirecting.Close)
	untrusted := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { inside++ }))
	t.Cleanup(untrusted.Close)
	endless := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := fmt.Fprintln(w, strings.Repeat("x", 1<<10)); err != nil {
				return
			}
		}
	}))
	t.Cleanup(endless.Close)
	networks := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	for name, c := range map[string]struct {
		url      string
		networks []netip.Prefix
		failure  string
	}{
		"a private address":                    {untrusted.URL, nil, "not public"},
		"http":                                 {private.URL, nil, "not public"},
		"a name of a private address":          {strings.Replace(untrusted.URL, "127.0.0.1", "localhost", 1), nil, "not public"},
		"an address of IPv6 that is mapped":    {strings.Replace(untrusted.URL, "127.0.0.1", "[::ffff:127.0.0.1]", 1), nil, "not public"},
		"another network than the allowed one": {private.URL, []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, "not public"},
		"an untrusted certificate":             {untrusted.URL, networks, "certificate"},
		"a redirect":                           {redirecting.URL, networks, "307"},
		"an endless answer":                    {endless.URL, networks, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			task := f.Task()
			f.WebhookNetworks = c.networks
			r := &receiver{f: f, hook: record.NewWebhook(f.now, task.OrganizerID, task.ID, record.WebhookDraft{URL: c.url})}
			f.Put(r.hook)
			f.happen(task, 1)
			f.run()
			d := r.deliveries()
			if len(d) != 1 || d[0].Attempts != 1 || !strings.Contains(d[0].Failure, c.failure) || c.failure == "" && d[0].Failure != "" {
				t.Errorf("%+v", d[0])
			}
		})
	}
	if inside > 0 {
		t.Errorf("%d requests came where none may", inside)
	}
}
