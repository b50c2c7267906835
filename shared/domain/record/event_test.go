package record_test

import (
	"slices"
	"testing"
	"time"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
)

// TestEventKinds_AreComplete checks that every constant is in the table of kinds, with recipients and the notice that previews show. No
// person is notified of EventWebhookCreated, the first delivery to a webhook.
func TestEventKinds_AreComplete(t *testing.T) {
	for _, constant := range recordtest.Constants(t, "EventKind") {
		k := record.EventKind(constant)
		if k == record.EventWebhookCreated {
			continue
		}
		if !slices.Contains(record.EventKinds, k) || k.To() == "" || (&record.Event{Kind: k}).Notice().Detail == "" {
			t.Errorf("the table of kinds in event.go lacks %s, its recipients or its notice", k)
		}
	}
}

// TestNotice_SaysWhenAWindowCloses: teams are notified two days before, or at once where less time is left.
func TestNotice_SaysWhenAWindowCloses(t *testing.T) {
	now := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	for closes, want := range map[time.Duration]string{
		time.Minute:    "The teams that take part are notified that the window closes.",
		3 * record.Day: "The teams that take part are notified at 2026-12-02T12:00:00.000Z that the window closes.",
	} {
		task := new(record.TaskItem)
		task.Submissions.ClosesAt = new(record.At(now.Add(closes)))
		if got := task.ClosingEvent(now).Notice().Detail; got != want {
			t.Errorf("a window that closes in %s: %q, want %q", closes, got, want)
		}
	}
}
