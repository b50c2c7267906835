package board

import (
	"strings"
	"testing"
	"time"

	"assay/shared/domain/record"
)

// TestEmptyBoard_NamesTheVersionOfMissingResults: after a change of the ground truth, earlier results can exist. Results can also have been
// deleted or hidden again, so no sentence says that there is none "yet".
func TestEmptyBoard_NamesTheVersionOfMissingResults(t *testing.T) {
	for _, reason := range []EmptyReason{EmptyResults, EmptyBlinded, EmptyUnpublished} {
		e := EmptyBoard{Reason: reason, rules: rulesOf()}
		if got := e.sentence(1, time.Now()).Detail; !strings.Contains(got, " no result.") && !strings.Contains(got, " has a result.") {
			t.Errorf("%s: %s", reason, got)
		}
		if got := e.sentence(2, time.Now()).Detail; !strings.Contains(got, " against version 2 of the ground truth and evaluator.") {
			t.Errorf("%s: %s", reason, got)
		}
	}
}

// TestEmptyBoard_KeepsHiddenRunsSecret: readers other than organizers are told nothing about whether runs exist, and nothing that is untrue
// once published runs have failed.
func TestEmptyBoard_KeepsHiddenRunsSecret(t *testing.T) {
	for reason, want := range map[EmptyReason]string{
		EmptyBlinded: "You see no result against version 2 of the ground truth and evaluator. Runs on this dataset start blinded: a " +
			"team sees its result once the organizers have unblinded the run, and others once the run is published as well. " +
			"A run that failed against this version has none.",
		EmptyUnpublished: "You see no result against version 2 of the ground truth and evaluator. A team sees the result of its " +
			"run unless the organizers have blinded the run, and others once the run is published as well. " +
			"A run that failed against this version has none.",
	} {
		if got := (&EmptyBoard{Reason: reason, rules: rulesOf()}).sentence(2, time.Now()).Detail; got != want {
			t.Errorf("%s: %s", reason, got)
		}
	}
}

// TestWaitText_SaysWhoWaits: what the sentence promises holds for runs that are blinded or not published too.
func TestWaitText_SaysWhoWaits(t *testing.T) {
	const (
		early  = "2026-06-01T00:00:00.000Z"
		late   = "2026-06-02T00:00:00.000Z"
		closed = ", when the dataset has closed for every team."
		teams  = " From then on, a team sees the results of its runs that are not blinded"
		both   = teams + ", and others once the run is published as well."
	)
	type columns = []record.Column
	later := record.From(late)
	closes := record.At(time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC))
	for name, c := range map[string]struct {
		columns columns
		closes  *record.Instant
		want    string
	}{
		"all at once":     {columns{{Key: "AP"}, {Key: "RR", From: record.FromClose}}, &closes, ""},
		"after the close": {columns{{Key: "AP", From: record.FromClose}}, &closes, "Nothing is shown before " + early + closed + both},
		"without a close": {columns{{Key: "AP", From: record.FromClose}}, nil,
			"Nothing is shown before the dataset has closed for every team, and no time is set for that." + both},
		"from an instant on": {columns{{Key: "AP", From: later}}, &closes, "Nothing is shown before " + late + "." + both},
		"first the teams": {columns{{Key: "AP", From: later}, {Key: "RR", From: record.FromClose, Audience: record.ForTeam}}, &closes,
			"Nothing is shown before " + early + closed + teams + ". Others see none before " + late + "."},
		"the teams already": {columns{{Key: "AP", From: later}, {Key: "RR", Audience: record.ForTeam}}, &closes,
			"A team sees the results of its runs that are not blinded. Others see none before " + late + "."},
		"only the teams": {columns{{Key: "AP", Audience: record.ForTeam}}, &closes,
			"A team sees only the results of its own runs on this dataset that are not blinded."},
		"only the teams, once published": {columns{{Key: "AP", Audience: record.ForTeam, From: record.FromPublication}}, &closes,
			"A team sees only the results of its own runs on this dataset that are published and not blinded."},
		"the teams already, once published": {columns{{Key: "AP", From: later}, {Key: "RR", Audience: record.ForTeam,
			From: record.FromPublication}}, &closes,
			"A team sees the results of its runs that are published and not blinded. Others see none before " + late + "."},
		"only the organizers": {columns{{Key: "AP", Audience: record.ForOrganizers}}, &closes,
			"Only the organizers see results on this dataset."},
	} {
		d, task := new(record.DatasetItem), new(record.TaskItem)
		d.Evaluator.Measures = []string{"AP"}
		d.Columns, d.Submissions.ClosesAt = c.columns, c.closes
		now := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
		if got := WaitText(d.ValueRules(task, nil), now, "Nothing is shown").Detail; got != c.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// rulesOf returns the rules of a dataset with the columns, or of one that shows everything to everyone.
func rulesOf(columns ...record.Column) *record.ValueRules {
	d := new(record.DatasetItem)
	d.Evaluator.Measures, d.Columns = []string{"AP"}, columns
	return d.ValueRules(nil, nil)
}

// TestEmptyBoard_SaysWhoSeesResults promises results only to readers who see them.
func TestEmptyBoard_SaysWhoSeesResults(t *testing.T) {
	published := record.Column{Key: "AP", From: record.FromPublication}
	team := record.Column{Key: "AP", Audience: record.ForTeam}
	const onlyTeams = "You see no result. A team sees only the results of its own runs on this dataset that are not blinded."
	for _, c := range []struct {
		reason EmptyReason
		column record.Column
		want   string
	}{
		{EmptyUnpublished, published,
			"You see no result. Others than the organizers see the result of a run once it is published, unless the organizers have blinded it."},
		{EmptyBlinded, published, "You see no result. Runs on this dataset start blinded: others than the organizers see the result of a run " +
			"once the organizers have unblinded and published it."},
		{EmptyUnpublished, team, onlyTeams},
		{EmptyBlinded, team, onlyTeams},
	} {
		if got := (&EmptyBoard{Reason: c.reason, rules: rulesOf(c.column)}).sentence(1, time.Now()).Detail; got != c.want {
			t.Errorf("%s, %+v: %s", c.reason, c.column, got)
		}
	}
}
