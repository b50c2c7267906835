package compute_test

import (
	"runtime/debug"
	"testing"

	"assay/shared/edge/compute"
)

// TestFrugal_LastsAsLongAsAnyWork overlaps two pieces of work. The collector returns to its usual setting when the later one ends.
func TestFrugal_LastsAsLongAsAnyWork(t *testing.T) {
	percent := func() int {
		now := debug.SetGCPercent(-1)
		debug.SetGCPercent(now)
		return now
	}
	usual := percent()
	first := compute.Frugal()
	second := compute.Frugal()
	first()
	if got := percent(); got >= usual {
		t.Errorf("garbage may be %d percent while work is under way, and %d otherwise", got, usual)
	}
	second()
	if got := percent(); got != usual {
		t.Errorf("garbage may be %d percent afterwards, want %d as before", got, usual)
	}
}
