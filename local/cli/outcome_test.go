package main

import (
	"reflect"
	"testing"
)

// TestOutcome_SaysWhichTruthValuesBelongTo shows runs while they are evaluated against a new truth version.
func TestOutcome_SaysWhichTruthValuesBelongTo(t *testing.T) {
	evaluated := func(dataset, id string, version float64) outcome {
		return outcome{Run: object{"datasetId": dataset}, Evaluation: object{"id": id, "truthVersion": version}}
	}
	before, after := evaluated("lakes", "old", 1), evaluated("lakes", "new", 2)
	elsewhere := evaluated("seas", "other", 5)
	all := []outcome{before, after, elsewhere}
	for name, c := range map[string]struct {
		run   outcome
		shown board
		all   []outcome
		want  [][]string
		rank  bool
	}{
		"the only run": {before, board{TruthVersion: 1, Entries: []object{{"evaluationId": "old"}}}, []outcome{before}, nil, true},
		"the leaderboard is older": {after, board{TruthVersion: 1, Entries: []object{{"evaluationId": "old"}}}, []outcome{after},
			[][]string{{"Evaluated against", "version 2 of the ground truth and evaluator; the leaderboard shows version 1"}}, false},
		"another run is newer": {before, board{TruthVersion: 1, Entries: []object{{"evaluationId": "old"}}}, all,
			[][]string{{"Evaluated against", "version 1 of the ground truth and evaluator"}}, true},
		"another dataset": {elsewhere, board{TruthVersion: 5}, all, nil, false},
	} {
		c.run.compare(c.shown)
		if got := c.run.versionLines(c.all); !reflect.DeepEqual(got, c.want) || (c.run.Entry != nil) != c.rank {
			t.Errorf("%s: %v and the entry %v, want %v", name, got, c.run.Entry, c.want)
		}
	}
}

// TestMarked_NamesEachBaselineOnce marks the runs of teams that are baselines, but no run whose team is called so.
func TestMarked_NamesEachBaselineOnce(t *testing.T) {
	for want, entry := range map[string]object{
		"Otters":            {"team": "Otters"},
		"Otters (baseline)": {"team": "Otters", "baseline": true},
		"baseline":          {"team": "baseline", "baseline": true},
		"Otters (alias anonymous-7, not published)": {"team": "Otters", "alias": "anonymous-7", "hidden": "unpublished"},
		"anonymous-7":                          {"team": "anonymous-7", "alias": "anonymous-7"},
		"baseline (published, columns hidden)": {"team": "baseline", "baseline": true, "hidden": "columns"},
	} {
		if got := marked(entry); got != want {
			t.Errorf("%v is %q; want %q", entry, got, want)
		}
	}
}
