package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReadme_ShowsWhatApplyPrints applies the task file of README.md, and finds the output there.
func TestReadme_ShowsWhatApplyPrints(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, task, _ := strings.Cut(string(text), "```yaml\n")
	task, _, _ = strings.Cut(task, "```")
	olga := serve(t, "embedded").person("olga")
	olga.write("qrels.txt", "1 0 lake 1\n2 0 river 2\n")
	file := olga.write("task.yaml", task)
	printed := "```console\n$ assay apply task.yaml --dry-run\n" + olga.want(done, "apply", file, "--dry-run") +
		"$ assay apply task.yaml\n" + olga.want(done, "apply", file) + "```\n"
	printed = strings.ReplaceAll(printed, filepath.Dir(file)+string(filepath.Separator), "")
	if !strings.Contains(string(text), printed) {
		t.Errorf("README.md does not have\n%s", printed)
	}
}
