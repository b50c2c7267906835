package record_test

import (
	"regexp"
	"slices"
	"testing"
	"time"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/language/problem"
)

// TestEventKinds_AreComplete checks that every constant is in the table of kinds, with recipients and the notice that previews show. No
// person is notified of EventWebhookCreated, the first delivery to a webhook.
func TestEventKinds_AreComplete(t *testing.T) {
	for _, constant := range recordtest.Constants(t, "EventKind") {
		k := record.EventKind(constant)
		if k == record.EventWebhookCreated {
			continue
		}
		if !slices.Contains(record.EventKinds, k) || k.To() == "" || !told.MatchString(noticeOf(k)) {
			t.Errorf("the table of kinds in event.go lacks %s, its recipients or its notice", k)
		}
	}
}

// told matches the notices of events that people are notified of at once.
var told = regexp.MustCompile(`^The .+ (is|are) notified by e-mail (that|of) .+\.$`)

func noticeOf(k record.EventKind) string {
	now := time.Now()
	return record.NewEvent(now, k, access.Scope{}, "/").Notice(now, false).Detail
}

func TestNotice_SaysWhenAndHow(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	later := &record.TaskItem{}
	later.Submissions.ClosesAt = new(record.At(now.Add(3 * record.Day)))
	soon := &record.TaskItem{}
	soon.Submissions.ClosesAt = new(record.At(now.Add(time.Hour)))
	const reminded = "The teams that take part are notified by e-mail "
	for want, got := range map[string]problem.Text{
		reminded + "at 2026-01-02T00:00:00.000Z that the window closes.": later.ClosingEvent(now).Notice(now, false),
		reminded + "that the window closes.":                             soon.ClosingEvent(now).Notice(now, false),
	} {
		if got.Detail != want {
			t.Errorf("%q, want %q", got.Detail, want)
		}
	}
}
