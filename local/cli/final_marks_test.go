package main

import (
	"strings"
	"testing"
)

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
