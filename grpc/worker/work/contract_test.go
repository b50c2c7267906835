package work_test

import (
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"assay/grpc/assayv1"
)

// setByShell are variables that the shell of a command sets itself.
var setByShell = []string{"PWD", "OLDPWD", "SHLVL", "_"}

// TestContract_NamesVariablesAndFolders holds the comments of the protocol, from which workers are written, to what programs get.
func TestContract_NamesVariablesAndFolders(t *testing.T) {
	contract, err := os.ReadFile("../../proto/assay/v1/worker.proto")
	if err != nil {
		t.Fatal(err)
	}
	const command = `echo '{"ndcg": 0, "recall": 0}' > "$ASSAY_OUTPUT/evaluation.json"; env`
	for kind, s := range map[string]*server{"execution": newServer(t, image(command)), "evaluation": evaluation(t, command)} {
		s.finish(nil)
		var folders []string
		for _, line := range s.printed(assayv1.Stream_STREAM_STDOUT) {
			name, value, _ := strings.Cut(line, "=")
			if slices.Contains(setByShell, name) {
				continue
			}
			if !regexp.MustCompile(`\b` + name + `\b`).Match(contract) {
				t.Errorf("the protocol does not name the variable %s of an %s", name, kind)
			}
			if strings.HasPrefix(name, "ASSAY_") {
				folders = append(folders, path.Base(value))
				if row := `(?m)^//     /assay/` + path.Base(value) + ` +` + name + `\b`; !regexp.MustCompile(row).Match(contract) {
					t.Errorf("the protocol does not say that %s leads to /assay/%s", name, path.Base(value))
				}
			}
		}
		slices.Sort(folders)
		if got, want := strings.Join(folders, " "), map[string]string{
			"execution": "input output", "evaluation": "input output run truth"}[kind]; got != want {
			t.Errorf("an %s has the folders %s, want %s", kind, got, want)
		}
	}
}
