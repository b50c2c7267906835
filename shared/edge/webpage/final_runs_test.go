package webpage_test

import (
	"testing"

	"assay/shared/edge/webpage"
)

// TestFinalRuns_CountsTheLastRuns: a dataset with several final runs shows as many of a team without a marked run that has a result.
func TestFinalRuns_CountsTheLastRuns(t *testing.T) {
	const marked = "Of each team, only runs that it marked as final are shown or, if none of these has a result here, "
	if got := webpage.FinalRuns(1, false); got != marked+"the last of its runs that you see." {
		t.Errorf("of one: %q", got)
	}
	if got := webpage.FinalRuns(2, true); got != marked+"the last 2 of its runs that everyone sees." {
		t.Errorf("of two: %q", got)
	}
}
