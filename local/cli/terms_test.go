package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTerms_ThatChangedAreAcceptedFirst changes the terms of a task with a team. Its submissions are refused with the new terms, and the
// datasets say so, until the team accepts them.
func TestTerms_ThatChangedAreAcceptedFirst(t *testing.T) {
	s := serve(t, "embedded")
	olga, tom := s.person("olga"), s.person("tom")
	olga.write("qrels.txt", qrelsFile)
	olga.write("topics.tsv", "1\tlakes\n")
	withTerms := func(text string) string {
		return olga.write("task.yaml", strings.Replace(taskFile, "  submissions:", "  terms: {text: "+text+"}\n  submissions:", 1))
	}
	olga.want(done, "apply", withTerms("Cite us."))
	tom.want(done, "join", "Lake search", "--accept-terms")
	olga.want(done, "apply", withTerms("Cite us twice."))
	tom.says(done, []string{"no inputs of Lakes that you may read",
		"To read them: assay join 'Lake search'. To accept them: assay join 'Lake search' --accept-terms\n"},
		"download", "Lake search", "--dataset", "Lakes", "-o", filepath.Join(tom.folder, "new"))
	if _, err := os.Stat(filepath.Join(tom.folder, "new")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a download without files leaves a folder: %v", err)
	}

	run := tom.write("run.txt", goodRun)
	tom.says(done, []string{"no, accept the terms", "Your team has not accepted the present terms of Lake search.",
		"assay join 'Lake search' --accept-terms"}, "datasets", "Lake search")
	tom.says(failed, []string{"Cite us twice.", "Try: the same command with --accept-terms"}, "submit", "Lake search", "Rivers="+run)
	bad := tom.write("bad.txt", "1 Q0 lake 1 high tom\n")
	tom.want(fileRefused, "submit", "Lake search", "Rivers="+bad, "--accept-terms")
	tom.says(done, []string{"no, accept the terms"}, "datasets", "Lake search")
	tom.says(done, []string{"Rivers takes runs until ", "Left to submit: 5 runs.", "Submitted"},
		"submit", "Lake search", "Rivers="+run, "--accept-terms")
	if got := tom.want(done, "datasets", "Lake search"); strings.Contains(got, "accept") {
		t.Errorf("terms that the team has accepted are asked for:\n%s", got)
	}
	limits := strings.NewReplacer("  submissions: {perDay: 5", "  terms: {text: Cite us thrice.}\n  submissions: {total: 1, perDay: 5")
	olga.want(done, "apply", olga.write("task.yaml", limits.Replace(taskFile)))
	for _, flags := range [][]string{nil, {"--accept-terms"}} {
		again := append([]string{"submit", "Lake search", "Rivers=" + run}, flags...)
		tom.says(done, []string{"Your team submitted the same at ", "A new one is not possible now. Left to submit to Rivers: 0 runs."}, again...)
		tom.says(outside, []string{"Left to submit to Rivers: 0 runs."}, append(again, "--title", "Other")...)
	}
	tom.says(done, []string{"no, accept the terms"}, "datasets", "Lake search")
	over := strings.Replace(taskFile, "{mode: open}", `{mode: open, closesAt: "2020-01-01T00:00:00Z"}`, 1)
	olga.want(done, "apply", olga.write("task.yaml", over))
	if got := s.person("zoe").says(outside, []string{"Registration closed at "}, "join", "Lake search"); strings.Contains(got, "Cite us") {
		t.Errorf("terms of a task that takes no registrations are asked for:\n%s", got)
	}
}

// TestJoin_IsAdvisedOnlyWhileItWorks asks for things that need a team before registration opens and after it has closed.
func TestJoin_IsAdvisedOnlyWhileItWorks(t *testing.T) {
	s := serve(t, "embedded")
	olga, zoe := s.person("olga"), s.person("zoe")
	olga.write("qrels.txt", qrelsFile)
	olga.write("topics.tsv", "1\tlakes\n")
	for _, c := range [][2]string{
		{`opensAt: "2099-01-01T00:00:00Z"`, "Registration opens at "},
		{`opensAt: "2019-01-01T00:00:00Z", closesAt: "2020-01-01T00:00:00Z"`, "Registration closed at "},
	} {
		why := c[1]
		file := strings.Replace(taskFile, "{mode: open}", "{mode: open, "+c[0]+"}", 1)
		olga.want(done, "apply", olga.write("task.yaml", file))
		for _, got := range []string{
			zoe.says(notFound, []string{"You have no team in Lake search yet. " + why}, "invite", "Lake search"),
			zoe.says(done, []string{"only to accepted teams. " + why}, "download", "Lake search", "--dataset", "Lakes"),
			zoe.says(done, []string{"  hidden  ", "You may not read inputs of Lakes. The task gives them only to accepted teams. " + why},
				"datasets", "Lake search"),
			zoe.says(done, []string{"You have no team in Lake search.", why}, "runs", "--task", "Lake search"),
		} {
			if strings.Contains(got, "assay join") || strings.Contains(got, "assay submit") {
				t.Errorf("a command that would be refused is advised: %s", got)
			}
		}
	}
}
