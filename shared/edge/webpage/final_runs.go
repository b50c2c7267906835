package webpage

import (
	"fmt"

	"assay/shared/language/plural"
)

// FinalRuns says which runs of each team a leaderboard of final runs shows, of a dataset that takes n final runs of a team. Marked runs
// whose results the reader does not see count as well: no other run of the team takes their place. A marked run has no result on the
// leaderboard while it waits, or if it failed or was cancelled.
func FinalRuns(n int, public bool) string {
	last, hidden := "the last", "you"
	if n > 1 {
		last = fmt.Sprintf("the last %d", n)
	}
	if public {
		hidden = "the public"
	}
	return fmt.Sprintf("Of each team, only runs that it marked as final are shown, and none of its runs if the results of these are hidden "+
		"from %s. If no marked run has a result here, hidden or not, the leaderboard shows %s of the team's %s.", hidden, last, Selection(public))
}

// NotOnlyFinalRuns says that a leaderboard ranks runs that do not count, of a dataset that takes n final runs of a team.
func NotOnlyFinalRuns(n int) string {
	count := "counts"
	if n > 1 {
		count = "count"
	}
	return "Runs that do not count are ranked here, too: of each team, " + plural.Count(n, "final run") + " " + count +
		", and “Final runs of each team” has their ranks."
}
