package webpage_test

import (
	"testing"

	"assay/shared/edge/webpage"
)

// TestLastOf_CountsTheRuns: a dataset with several final runs shows as many of a team that marked none.
func TestLastOf_CountsTheRuns(t *testing.T) {
	for n, want := range map[int]string{1: "the last of its ", 2: "the last 2 of its "} {
		if got := webpage.LastOf(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
