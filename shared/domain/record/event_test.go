package record_test

import (
	"slices"
	"testing"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
)

// TestEventKinds_AreComplete checks that every constant is in the table of kinds, with recipients and the notice that previews show. No
// person is notified of EventWebhookCreated, the first delivery to a webhook.
func TestEventKinds_AreComplete(t *testing.T) {
	for _, constant := range recordtest.Constants(t, "EventKind") {
		k := record.EventKind(constant)
		if k != record.EventWebhookCreated && (!slices.Contains(record.EventKinds, k) || k.To() == "" || k.Notice() == "") {
			t.Errorf("the table of kinds in event.go lacks %s, its recipients or its notice", k)
		}
	}
}
