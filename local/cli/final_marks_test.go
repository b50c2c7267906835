package main

import (
	"strings"
	"testing"
	"time"
)

// TestSubmit_SaysHowManyRunsCount submits to datasets of which some take final runs, as a team and as an organizer.
func TestSubmit_SaysHowManyRunsCount(t *testing.T) {
	_, olga, tom := limited(t)
	run := tom.write("run.txt", goodRun)
	silent := func(p *person, args ...string) {
		t.Helper()
		if got := p.says(done, nil, args...); strings.Contains(got, "assay final") {
			t.Errorf("assay %v says %s", args, got)
		}
	}
	const column = "FINAL RUNS"
	if got := tom.want(done, "datasets", "Lakes"); strings.Contains(got, column) {
		t.Errorf("no dataset takes final runs: %s", got)
	}
	silent(tom, "submit", "Lakes", "Rivers="+run, "--wait")
	task := strings.Replace(limitedFile, "name: Ponds\n", "name: Ponds\n    finalRuns: 2\n", 1)
	task = strings.Replace(task, "name: Rivers\n", "name: Rivers\n    finalRuns: 1\n", 1)
	olga.want(done, "apply", olga.write("task.yaml", task))

	tom.says(done, []string{column, "2 of each team"}, "datasets", "Lakes")
	until := time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC).Local().Format("2006-01-02 15:04 MST")
	const one = "Of each team, 1 final run on Rivers counts. Your team can mark it with: assay final "
	tom.says(done, []string{one + "RUN\n",
		"Of each team, 2 final runs on Ponds count. Your team can mark them until " + until + " with: assay final RUN\n"},
		"submit", "Lakes", "Ponds="+run, "Rivers="+run, "--again")
	better := tom.write("better.txt", betterRun)
	got := tom.says(done, []string{one}, "submit", "Lakes", "Rivers="+better, "--wait")
	_, id, _ := strings.Cut(got, one)
	tom.want(done, "final", strings.Fields(id)[0])
	silent(olga, "submit", "Lakes", "Rivers="+olga.write("run.txt", goodRun), "--baseline")

	closed := strings.Replace(task, "finalRuns: 1\n", "finalRuns: 1\n    submissions: {closesAt: \"2020-01-01T00:00:00Z\"}\n", 1)
	olga.want(done, "apply", olga.write("task.yaml", closed))
	silent(tom, "submit", "Lakes", "Rivers="+better)
}

// TestRuns_SayWhichMarksCount lowers the number of final runs below the marks of a team.
func TestRuns_SayWhichMarksCount(t *testing.T) {
	_, olga, tom := limited(t)
	takes := func(finals string) {
		t.Helper()
		task := strings.Replace(limitedFile, "name: Rivers\n", "name: Rivers\n    finalRuns: "+finals+"\n", 1)
		olga.want(done, "apply", olga.write("task.yaml", task))
	}
	takes("3")
	for _, run := range []string{goodRun, betterRun} {
		tom.want(done, "submit", "Lakes", "Rivers="+tom.write("run.txt", run), "--wait")
	}
	tom.want(done, append([]string{"final"}, tom.ids("runs")...)...)
	const more = "has marked"
	if got := tom.want(done, "runs"); strings.Contains(got, more) {
		t.Errorf("two of three marks are too many: %s", got)
	}
	takes("1")
	const said = "The team tom has marked 2 runs as final on Rivers, which takes 1: of those with a result, only the newest counts."
	tom.says(done, []string{said}, "runs")
	olga.says(done, []string{said}, "runs", "--task", "Lakes")
}
