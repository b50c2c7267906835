package record_test

import (
	"testing"

	"assay/shared/record"
)

// TestEventKind_Notice holds that a preview has words for the notification of each kind of event.
func TestEventKind_Notice(t *testing.T) {
	for _, k := range record.EventKinds {
		if k.Notice() == "" {
			t.Errorf("%s has no words", k)
		}
	}
}
