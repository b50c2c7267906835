package webpage

import "fmt"

// LastOf begins the name of the runs with which a leaderboard of final runs shows a team that marked none: up to n of its last runs.
func LastOf(n int) string {
	if n > 1 {
		return fmt.Sprintf("the last %d of its ", n)
	}
	return "the last of its "
}
