package notifier

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"assay/shared/access"
	"assay/shared/record"
	"assay/shared/record/recordtest"
	"assay/shared/records"
	"assay/shared/store/embedded"
)

// An arrival counts although its attempt began before the webhook was recorded as failing.
func TestEndAttempt_ArrivalEndsFailureRecordedMeanwhile(t *testing.T) {
	s := recordtest.OpenStore(t, embedded.Options{})
	now := record.At(time.Now()).Time
	w := &Worker{Store: s, Now: func() time.Time { return now }}
	h := record.NewWebhook(now, access.Scope{OrganizerID: record.NewID(now)}, record.WebhookDraft{URL: "https://receiver.example"})
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

// A webhook counts as failing from an attempt that failed to one that arrives.
func TestSend_RemembersThatWebhookFails(t *testing.T) {
	s := recordtest.OpenStore(t, embedded.Options{})
	now := record.At(time.Now()).Time
	status := 0
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
	t.Cleanup(receiver.Close)
	w := &Worker{Store: s, Now: func() time.Time { return now }, WebhookNetworks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}
	h := record.NewWebhook(now, access.Scope{OrganizerID: record.NewID(now)}, record.WebhookDraft{URL: receiver.URL})
	d := record.NewDelivery(now, h, record.EventRunFailed, "", "/v1/runs/1")
	if err := new(records.Tx).Create(h).Create(d).Commit(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	for _, status = range []int{http.StatusInternalServerError, http.StatusOK} {
		if err := w.send(t.Context(), d.Key()); err != nil {
			t.Fatal(err)
		}
		if _, failing := w.failing.Load(d.Key().Partition); failing != (status != http.StatusOK) {
			t.Errorf("after an answer of %d: failing %v", status, failing)
		}
		now = now.Add(time.Hour)
	}
}
