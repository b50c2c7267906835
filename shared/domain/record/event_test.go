package record_test

import (
	"testing"

	"assay/shared/domain/record"
)

// TestEventKind_Notice checks that every kind of event has a notice, which previews show.
func TestEventKind_Notice(t *testing.T) {
	for _, k := range record.EventKinds {
		if k.Notice() == "" {
			t.Errorf("%s has no words", k)
		}
	}
}
