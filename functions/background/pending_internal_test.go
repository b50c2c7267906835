package background

import (
	"testing"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
)

// TestHandlers_AreComplete checks that each kind of pending work has a handler. Work without one would stay due.
func TestHandlers_AreComplete(t *testing.T) {
	handlers := new(Worker).handlers(nil)
	for _, kind := range recordtest.Constants(t, "PendingKind") {
		if handlers[record.PendingKind(kind)] == nil {
			t.Errorf("%s has no handler", kind)
		}
	}
}
