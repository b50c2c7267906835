package tools

import "testing"

// TestLeaderboard_GroupsIgnoreRounding has two runs that differ by .1 on each of two topics, which are too few to distinguish them.
func TestLeaderboard_GroupsIgnoreRounding(t *testing.T) {
	a, b := map[string]float64{"1": .3, "2": .8}, map[string]float64{"1": .2, "2": .7}
	if p := differenceP(a, b); p != .5 {
		t.Errorf("p = %v, want .5", p)
	}
	out := LeaderboardOutput{Entries: make([]LeaderboardEntry, 2)}
	if err := out.assignGroups(t.Context(), []map[string]float64{a, b}); err != nil || out.Entries[0].Group != "a" ||
		out.Entries[1].Group != "a" {
		t.Errorf("%+v, %v", out.Entries, err)
	}
}
