package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// instants matches the instants and the ids that commands print.
var instants = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)? [A-Z]+|01[0-9A-Z]{24}`)

// readme returns the text of README.md, and the task file in it.
func readme(t *testing.T) (text, task string) {
	t.Helper()
	whole, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, task, _ = strings.Cut(string(whole), "```yaml\n")
	task, _, _ = strings.Cut(task, "```")
	return string(whole), task
}

// TestReadme_ShowsWhatSubmitPrints submits two files to the task of README.md, and finds the output there, apart from instants and ids.
func TestReadme_ShowsWhatSubmitPrints(t *testing.T) {
	text, task := readme(t)
	nora := serve(t, "embedded").person("nora")
	nora.write("qrels.txt", "1 0 lake 1\n2 0 river 2\n")
	nora.want(done, "apply", nora.write("task.yaml", task))
	run := nora.write("run.txt", "1 Q0 lake 1 2.0 nora\n2 Q0 sea 1 2.0 nora\n2 Q0 river 2 1.0 nora\n")
	bad := nora.write("bad.txt", "1 Q0 lake 1 2.0 nora\n2 Q0 sea 1 high nora\n")
	shown := instants.ReplaceAllString(text, "...")
	for _, c := range []struct { // in this order, because the first run counts in what the second command prints
		command string
		args    []string
	}{
		{"$ assay submit \"Lake search\" run.txt --wait\n", []string{"submit", "Lake search", run, "--wait"}},
		{"$ assay submit \"Lake search\" bad.txt\n", []string{"submit", "Lake search", bad}},
	} {
		r := nora.run(t.Context(), c.args...)
		printed := c.command + strings.ReplaceAll(r.errs+r.out, filepath.Dir(run)+string(filepath.Separator), "") + "```\n"
		printed = instants.ReplaceAllString(printed, "...")
		if !strings.Contains(shown, printed) {
			t.Errorf("README.md does not have\n%s", printed)
		}
	}
}

// TestReadme_ShowsWhatApplyPrints applies the task file of README.md, and finds the output there.
func TestReadme_ShowsWhatApplyPrints(t *testing.T) {
	text, task := readme(t)
	olga := serve(t, "embedded").person("olga")
	olga.write("qrels.txt", "1 0 lake 1\n2 0 river 2\n")
	file := olga.write("task.yaml", task)
	printed := "```console\n$ assay apply task.yaml --dry-run\n" + olga.want(done, "apply", file, "--dry-run") +
		"$ assay apply task.yaml\n" + olga.want(done, "apply", file) + "```\n"
	printed = strings.ReplaceAll(printed, filepath.Dir(file)+string(filepath.Separator), "")
	if !strings.Contains(text, printed) {
		t.Errorf("README.md does not have\n%s", printed)
	}
}
