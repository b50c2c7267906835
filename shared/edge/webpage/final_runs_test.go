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

// TestNotOnlyFinalRuns_SaysHowManyCount: a leaderboard with runs that do not count names the view that ranks those that do.
func TestNotOnlyFinalRuns_SaysHowManyCount(t *testing.T) {
	for n, counting := range map[int]string{1: "1 final run counts", 2: "2 final runs count"} {
		want := "Runs that do not count are ranked here, too: of each team, " + counting + ", and “Final runs of each team” has their ranks."
		if got := webpage.NotOnlyFinalRuns(n); got != want {
			t.Errorf("of %d: %q", n, got)
		}
	}
}
