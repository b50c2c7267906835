package notifier_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/service/records"
	"assay/shared/storage/store"
	"assay/shared/storage/store/dynamo/dynamotest"
	"assay/shared/testing/nightlytest"
)

var webhookEvents = flag.Int("webhook-events", nightlytest.Count(150, 1200), "how many events the test of webhooks sends")

// Every event arrives, whatever the receiver answers, with numbers without gaps; and one receiver that works does not wait for the other.
func TestWebhook_EveryEventArrives(t *testing.T) {
	t.Run("embedded", func(t *testing.T) { testWebhookEveryEventArrives(t, newFixture(t), *webhookEvents) })
	t.Run("DynamoDB", func(t *testing.T) {
		testWebhookEveryEventArrives(t, newFixtureOf(t, dynamotest.Open(t, dynamotest.Start(t))), nightlytest.Count(20, 100))
	})
}

func testWebhookEveryEventArrives(t *testing.T, f *fixture, n int) {
	f.Mail = nil
	task := f.Task()
	failing := f.receive(t, task, func(string, int) int {
		return []int{http.StatusInternalServerError, http.StatusFound, 0, http.StatusNoContent, http.StatusOK}[min(rand.N(12), 4)] // 1 of 4 fails
	})
	working := f.receive(t, task, func(string, int) int { return http.StatusOK })
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
}

func TestWebhook_TakesTheKindsOfItsDraft(t *testing.T) {
	f := newFixture(t)
	task, other := f.Task(), f.Task()
	ok := func(string, int) int { return http.StatusOK }
	all := f.receive(t, task, ok)
	some := f.receive(t, task, ok)
	off := f.receive(t, task, ok)
	others := f.receive(t, other, ok)
	some.hook.Kinds = []record.EventKind{record.EventRunFailed}
	off.hook.Disabled = true
	organizer := f.receive(t, task, ok)
	f.Replace(some.hook, off.hook)
	ofOrganizer := access.Scope{OrganizerID: task.OrganizerID}
	organizers := record.NewWebhook(f.now, ofOrganizer, task.PayerID(), record.WebhookDraft{URL: organizer.URL})
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
			f.Put(&record.User{Meta: record.MetaOf(members[0], f.now), Name: "Olga", Email: "olga@example.org",
				EmailConfirmed: true})
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

// One event never arrives, and after its first day and the arrival of another, no further one does: that is three days only later.
func TestWebhook_StaysWhenOtherEventsArrive(t *testing.T) {
	f := newFixture(t)
	task := f.Task()
	down, bad := true, ""
	r := f.receive(t, task, func(id string, _ int) int {
		if down || id == bad {
			return http.StatusBadGateway
		}
		return http.StatusOK
	})
	begin := f.now
	until := func(after time.Duration) {
		for next := f.run(); !next.IsZero() && next.Before(begin.Add(after)); next = f.run() {
			f.now = next
		}
	}
	f.happen(task, 1)
	until(record.Day)
	down, bad = false, r.deliveries()[0].ID
	f.happen(task, 1)
	f.run()
	down = true
	f.happen(task, 101) // more than are listed at once
	until(7 * record.Day / 2)
	if d := r.deliveries(); d[0].State != record.DeliveryFailed || d[1].State != record.DeliveryDelivered || r.stored().Disabled {
		t.Errorf("disabled: %v, after %+v and %+v", r.stored().Disabled, d[0], d[1])
	}
	until(6 * record.Day)
	if !r.stored().Disabled {
		t.Error("it is not disabled though nothing arrived for three days")
	}
}

func TestWebhook_OfNobodyGetsNothing(t *testing.T) { onBothStores(t, testWebhookOfNobodyGetsNothing) }

func testWebhookOfNobodyGetsNothing(t *testing.T, f *fixture) {
	task := f.Task()
	r := f.receive(t, task, func(string, int) int { return http.StatusInternalServerError })
	f.happen(task, 40)
	next := f.run()
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

// Receivers that organizers name are reached only at public addresses, and cannot redirect the notifier.
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
	const unreachable = "The host cannot be reached: it has no public address, or the webhook uses http. The operator of " +
		"the server can allow other networks."
	for name, c := range map[string]struct {
		url      string
		networks []netip.Prefix
		failure  string
	}{
		"a private address":                    {untrusted.URL, nil, unreachable},
		"http":                                 {private.URL, nil, unreachable},
		"a name of a private address":          {strings.Replace(untrusted.URL, "127.0.0.1", "localhost", 1), nil, unreachable},
		"a name that nobody knows":             {"https://receiver.invalid:8443", nil, unreachable},
		"http to a name that nobody knows":     {"http://receiver.invalid:8443", nil, unreachable},
		"an address of IPv6 that is mapped":    {strings.Replace(untrusted.URL, "127.0.0.1", "[::ffff:127.0.0.1]", 1), nil, unreachable},
		"another network than the allowed one": {private.URL, []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, unreachable},
		"an untrusted certificate":             {untrusted.URL, networks, "certificate"},
		"a redirect":                           {redirecting.URL, networks, "307"},
		"an endless answer":                    {endless.URL, networks, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			task := f.Task()
			f.WebhookNetworks = c.networks
			r := &receiver{f: f, hook: record.NewWebhook(f.now, task.Scope(), task.PayerID(), record.WebhookDraft{URL: c.url})}
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

// What organizers ask for while an attempt is under way is done after it, and what became of the attempt is kept.
func TestWebhook_IsSentAgainAfterTheAttempt(t *testing.T) {
	f := newFixture(t)
	task := f.Task()
	var r *receiver
	r = f.receive(t, task, func(id string, attempt int) int {
		if attempt > 0 {
			return http.StatusOK
		}
		d := recordtest.Get[record.DeliveryItem](t, f.Builder.Store, record.DeliveryKey(r.hook.ID, id))
		d.Restart(f.now)
		f.Commit(new(records.Tx).Save(d, f.now))
		return http.StatusTeapot
	})
	f.happen(task, 1)
	f.run()
	if d := r.deliveries()[0]; len(r.acknowledged) != 1 || d.Attempts != 2 || d.State != record.DeliveryDelivered {
		t.Errorf("%+v", d)
	}
}

func TestWebhook_WaitsInTheTrash(t *testing.T) { onBothStores(t, testWebhookWaitsInTheTrash) }

// Deliveries of a webhook wait while it lies in the trash with its task, and are sent once it is restored.
func testWebhookWaitsInTheTrash(t *testing.T, f *fixture) {
	task := f.Task()
	r := f.receive(t, task, func(string, int) int { return http.StatusServiceUnavailable })
	f.happen(task, 3)
	f.run()
	live, err := record.Item(r.stored())
	if err != nil {
		t.Fatal(err)
	}
	bin, err := record.Trash(live, record.NewID(f.now))
	if err != nil {
		t.Fatal(err)
	}
	f.Commit(new(records.Tx).Write(store.DeleteIf(live)).Write(store.Create(bin)))
	for next, end := f.run(), f.now.Add(4*record.Day); !next.IsZero() && next.Before(end); next = f.run() {
		f.now = next
	}
	if left := r.deliveries(); len(left) != 3 || left[0].Attempts != 1 || left[0].State != record.DeliveryPending {
		t.Fatalf("%d deliveries are left: %+v", len(left), left)
	}
	if err := f.Builder.Store.Write(t.Context(), store.Delete(bin.Key), store.Create(live)); err != nil {
		t.Fatal(err)
	}
	r.answer = func(string, int) int { return http.StatusOK }
	f.now = f.now.Add(record.Day)
	f.run()
	if len(r.acknowledged) != 3 {
		t.Errorf("%d of 3 events arrived", len(r.acknowledged))
	}
}
