package datasets

import (
	"testing"

	"assay/shared/domain/record"
)

// A run of a team stays the team's if organizers mark its submission as a baseline.
func TestTrial_NamesTheTeamOfABaseline(t *testing.T) {
	run := &record.RunItem{Run: record.Run{Team: "Otters"}, Access: record.AccessAttributes{Baseline: true}}
	if got := (&tried{run: run}).team(); got != "the organizers" {
		t.Errorf("a baseline without a team is a run of %s", got)
	}
	run.Access.RegistrationID = "registration"
	if got := (&tried{run: run}).team(); got != "Otters" {
		t.Errorf("a baseline of a team is a run of %s", got)
	}
}
