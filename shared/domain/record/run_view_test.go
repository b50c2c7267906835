package record_test

import (
	"strings"
	"testing"
	"time"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
)

const (
	asOwner  = access.Anyone | access.User | access.Owner
	asPublic = access.Anyone
)

// A run tells each reader who sees its values and why it failed. A baseline without a registration has no team.
func TestRun_SpeaksOfATeamOnlyIfItHasOne(t *testing.T) {
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	again := []string{"evaluation"}
	for _, c := range []struct {
		name     string
		run      record.RunItem
		roles    access.Role
		baseline string // what is said of a baseline
		team     string // what is said of the run of a team
	}{
		{"completed", record.RunItem{Run: record.Run{State: record.Completed}}, asPublic,
			"Others than the organizers see the values", "Others than its team and the organizers see the values"},
		{"blinded", record.RunItem{Run: record.Run{State: record.Completed}, Access: record.AccessAttributes{Blinded: true}}, asOwner,
			"shown to the user who submitted it once", "shown to its team once"},
		{"published and blinded", record.RunItem{Run: record.Run{State: record.Completed},
			Access: record.AccessAttributes{Blinded: true, Published: true}}, asOwner,
			"shown to the user who submitted it and to others", "shown to its team and to others"},
		{"failed again", record.RunItem{Run: record.Run{State: record.Failed}, Evaluations: again}, asOwner,
			"It failed when it was evaluated again", "No quota counts it."},
		{"failed again, and excluded by an exception", record.RunItem{Run: record.Run{State: record.Failed}, Evaluations: again, Refunded: true},
			asOwner, "It failed when it was evaluated again", "It failed when it was evaluated again"},
		{"failed for others", record.RunItem{Run: record.Run{State: record.Failed}, Access: record.AccessAttributes{Published: true}}, asPublic,
			"Only the organizers see why the run failed", "Only its team and the organizers see why the run failed"},
	} {
		rules := measured().ValueRules(nil, nil)
		said := func() string {
			c.run.Access.Public = true
			v := c.run.For(rules.For(c.run.Access, c.roles, now))
			if len(v.Diagnostics) > 0 {
				return v.Diagnostics[0].Message + v.Notice
			}
			return v.Notice
		}
		c.run.Access.RegistrationID = "registration"
		if got := said(); !strings.Contains(got, c.team) || c.run.Refunded && strings.Contains(got, "quota") {
			t.Errorf("%s: of the run of a team is said %q, want %q", c.name, got, c.team)
		}
		c.run.Access.RegistrationID, c.run.Access.Baseline = "", true
		if got := said(); !strings.Contains(got, c.baseline) || strings.Contains(got, "its team") || strings.Contains(got, "your team") ||
			strings.Contains(got, "quota") {
			t.Errorf("%s: of a baseline is said %q, want %q", c.name, got, c.baseline)
		}
	}
}

// A run that completed when its team had no failures left says so in the tense of the reader.
func TestRun_SaysWhenNoRunCouldFail(t *testing.T) {
	until := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	run := record.RunItem{Run: record.Run{State: record.Completed}, NextTruthFailure: new(record.At(until)),
		Access: record.AccessAttributes{RegistrationID: "registration", Blinded: true}}
	for now, want := range map[time.Time]string{
		until.Add(-time.Hour): "whose values you do not see fails for such reasons: each ends as completed",
		until.Add(time.Hour):  "whose values you do not see failed for such reasons: each ended as completed",
	} {
		v := run.For(measured().ValueRules(nil, nil).For(run.Access, asOwner, now))
		if len(v.Diagnostics) != 1 || !strings.Contains(v.Diagnostics[0].Message, want) {
			t.Errorf("%+v, want %q", v.Diagnostics, want)
		}
	}
}

// measured returns a dataset with a measure.
func measured() *record.DatasetItem {
	d := new(record.DatasetItem)
	d.Evaluator.Measures = []string{"AP"}
	return d
}
