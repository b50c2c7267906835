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
		e := EmptyBoard{Reason: reason}
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
		if got := (&EmptyBoard{Reason: reason}).sentence(2, time.Now()).Detail; got != want {
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
			"Nothing is shown before " + early + closed + teams + "."},
		"the teams already": {columns{{Key: "AP", From: later}, {Key: "RR", Audience: record.ForTeam}}, &closes,
			"A team sees the results of its runs that are not blinded. Others see none before " + late + "."},
		"only the teams": {columns{{Key: "AP", Audience: record.ForTeam}}, &closes,
			"A team sees only the results of its own runs on this dataset, unless the organizers have blinded them."},
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
