package notifier

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/service/records"
	"assay/shared/storage/store"
	"assay/shared/storage/store/embedded"
)

// An arrival counts although its attempt began before the webhook was recorded as failing.
func TestEndAttempt_ArrivalEndsFailureRecordedMeanwhile(t *testing.T) {
	s := recordtest.OpenStore(t, embedded.Options{})
	now := record.At(time.Now()).Time
	w := New(s, func() time.Time { return now }, nil)
	h := record.NewWebhook(now, access.Scope{OrganizerID: record.NewID(now)}, "", record.WebhookDraft{URL: "https://receiver.example"})
	failing := record.NewDelivery(now, h, record.EventRunFailed, "", "/v1/runs/1")
	arriving := record.NewDelivery(now, h, record.EventRunFailed, "", "/v1/runs/2")
	if err := new(records.Tx).Create(h).Create(failing).Create(arriving).Commit(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	claim := func(d *record.DeliveryItem) (*record.WebhookItem, *record.DeliveryItem) {
		h, claimed, err := w.claim(t.Context(), d.Key())
		if err != nil || claimed == nil {
			t.Fatal(claimed, err)
		}
		return h, claimed
	}
	end := func(h *record.WebhookItem, claimed *record.DeliveryItem, a answer) *record.WebhookItem {
		now = now.Add(time.Second)
		if err := w.endAttempt(t.Context(), h, claimed, a); err != nil {
			t.Fatal(err)
		}
		return recordtest.Get[record.WebhookItem](t, s, h.Key())
	}
	failed := answer{status: http.StatusInternalServerError, failure: "500"}
	h, first := claim(failing)
	sameTime, second := claim(arriving)
	if stored := end(h, first, failed); stored.FailingSince == nil {
		t.Error("the failure is not recorded")
	}
	if stored := end(sameTime, second, answer{status: http.StatusOK}); stored.FailingSince != nil {
		t.Errorf("failing since %s though something arrived", stored.FailingSince)
	}
	now = now.Add(record.DeliveryTime)
	h, last := claim(failing)
	if stored := end(h, last, failed); stored.Disabled {
		t.Error("it is disabled though something arrived")
	}
}

// A webhook gets several attempts at once from the first event that arrives at its address on, as long as none fails.
func TestSend_RemembersWhetherEventsArrive(t *testing.T) {
	s := recordtest.OpenStore(t, embedded.Options{})
	now := record.At(time.Now()).Time
	status := 0
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
	t.Cleanup(receiver.Close)
	w := New(s, func() time.Time { return now }, nil)
	w.WebhookNetworks = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	h := record.NewWebhook(now, access.Scope{OrganizerID: record.NewID(now)}, "", record.WebhookDraft{URL: receiver.URL})
	if err := new(records.Tx).Create(h).Commit(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		status         int
		proven, steady bool
	}{
		{http.StatusInternalServerError, false, false}, {http.StatusOK, true, true},
		{http.StatusBadGateway, true, false}, {http.StatusOK, true, true},
	} {
		status = want.status
		d := record.NewDelivery(now, h, record.EventRunFailed, "", "/v1/runs/1")
		if err := new(records.Tx).Create(d).Commit(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		if err := w.send(t.Context(), store.Item{Key: d.Key()}); err != nil {
			t.Fatal(err)
		}
		stored := recordtest.Get[record.WebhookItem](t, s, h.Key())
		if stored.Proven != want.proven || stored.Steady() != want.steady {
			t.Errorf("attempt %d is answered %d: proven %v, steady %v", i, status, stored.Proven, stored.Steady())
		}
		now = now.Add(time.Hour)
	}
	h = recordtest.Get[record.WebhookItem](t, s, h.Key())
	h.Change(record.WebhookDraft{URL: receiver.URL, Disabled: true})
	if !h.Proven {
		t.Error("an event has arrived at the address, and a change of other members forgets it")
	}
	h.Change(record.WebhookDraft{URL: "https://other.example"})
	if h.Proven {
		t.Error("nothing has arrived at the other address")
	}
}
