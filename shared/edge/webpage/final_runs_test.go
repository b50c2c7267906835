package webpage_test

import (
	"testing"

	"assay/shared/edge/webpage"
)

// TestFinalRuns_CountsTheLastRuns: a dataset with several final runs shows as many of a team without a marked run that has a result.
func TestFinalRuns_CountsTheLastRuns(t *testing.T) {
	const marked = "Of each team, only runs that it marked as final are shown, and none of its runs if the results of these are hidden from "
	const shows = ". If no marked run has a result here, hidden or not, the leaderboard shows "
	if got := webpage.FinalRuns(1, false); got != marked+"you"+shows+"the last of the team's runs that you see." {
		t.Errorf("of one: %q", got)
	}
	if got := webpage.FinalRuns(2, true); got != marked+"the public"+shows+"the last 2 of the team's runs that everyone sees." {
		t.Errorf("of two: %q", got)
	}
}
