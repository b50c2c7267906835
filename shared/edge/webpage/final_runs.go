package webpage

import "fmt"

// FinalRuns says which runs of each team a leaderboard of final runs shows, of a dataset that takes n final runs of a team. A marked run
// has no result on the leaderboard while it waits, or if it failed or was cancelled.
func FinalRuns(n int, public bool) string {
	last := "the last"
	if n > 1 {
		last = fmt.Sprintf("the last %d", n)
	}
	return fmt.Sprintf("Of each team, only runs that it marked as final are shown or, if none of these has a result here, %s of its %s.", last,
		Selection(public))
}
