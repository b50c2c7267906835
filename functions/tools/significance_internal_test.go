package tools

import "testing"

// TestChancesBesideLevels: what is below a level is not shown as that, and the other way round.
func TestChancesBesideLevels(t *testing.T) {
	for p, want := range map[float64]string{
		0: "<0.0001", 1. / 10_001: "<0.0001", 1. / 10_000: "0.0001", 3. / 10_001: "0.0003", .00014: "0.0001",
		.04996: "<0.0500", .05: "0.0500", .05004: "0.0500", .0499: "0.0499", 1: "1.0000",
	} {
		if got := chance(&p); got != want {
			t.Errorf("%v is shown as %s, want %s", p, got, want)
		}
	}
	if got := chance(nil); got != "–" {
		t.Error(got)
	}
}
