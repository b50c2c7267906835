package apitest

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"assay/shared/testing/programtest"
)

//go:embed redocly.yaml
var rules []byte

// Lint returns the faults of each JSON document: those that Redocly finds with the rules of redocly.yaml, and invalid defaults and unused
// tags, which Redocly does not check. Pass many documents in one call, because starting Node.js takes most of the time.
func Lint(t testing.TB, documents ...[]byte) [][]string {
	t.Helper()
	folder := t.TempDir()
	write := func(name string, content []byte) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	arguments := []string{programtest.Installed(t, "@redocly", "cli", "bin", "cli.js"), "lint", "--format=json", "--max-problems=1000",
		"--config", write("redocly.yaml", rules)}
	faults := make([][]string, len(documents))
	for i, content := range documents {
		d, err := parse(content)
		if err != nil {
			t.Fatal(err)
		}
		faults[i] = append(d.root.defaultFaults(), d.unusedTags()...)
		arguments = append(arguments, write(fmt.Sprintf("%d.json", i), content))
	}
	command := exec.CommandContext(t.Context(), "node", arguments...) //nolint:gosec // files that the test has written
	command.Env = append(os.Environ(), "REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true")
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	var exited *exec.ExitError // Redocly exits with an error when it finds faults
	if err != nil && !errors.As(err, &exited) {
		t.Fatal(err)
	}
	results := json.NewDecoder(bytes.NewReader(out))
	for i := range documents {
		var result struct{ Problems []redoclyProblem }
		if err := results.Decode(&result); err != nil {
			t.Fatalf("Redocly checked %d of %d documents (%v); run make test, which installs it.\n%s", i, len(documents), err, &stderr)
		}
		for _, p := range result.Problems {
			faults[i] = append(faults[i], p.String())
		}
	}
	if err := results.Decode(&struct{}{}); !errors.Is(err, io.EOF) {
		t.Fatalf("Redocly printed more results than there are documents: %v", err)
	}
	return faults
}

// redoclyProblem is a fault in Redocly's output.
type redoclyProblem struct {
	RuleID   string
	Message  string
	Location []struct{ Pointer string }
}

func (p redoclyProblem) String() string {
	place := ""
	if len(p.Location) > 0 {
		place = p.Location[0].Pointer
	}
	return fmt.Sprintf("%s: %s: %s", place, p.RuleID, p.Message)
}

// defaultFaults returns the defaults at and below a node that do not satisfy their own schemas.
func (n node) defaultFaults() []string {
	object, _ := n.value.(map[string]any)
	if object["$ref"] != nil {
		return nil // the referenced schema is checked at its own place
	}
	var faults []string
	if _, ok := object["type"].(string); ok && object["default"] != nil {
		if schema, err := n.compile(); err != nil {
			faults = append(faults, err.Error())
		} else {
			faults = append(faults, prefixed("#"+n.pointer+"/default: ", schemaFaults(schema, object["default"]))...)
		}
	}
	for _, below := range n.all() {
		faults = append(faults, below.defaultFaults()...)
	}
	return faults
}

// unusedTags returns a fault for each tag without an operation.
func (d *document) unusedTags() []string {
	var used, faults []string
	for o := range d.operations() {
		for _, tag := range o.get("tags").all() {
			used = append(used, tag.text())
		}
	}
	for _, tag := range d.root.get("tags").all() {
		if name := tag.get("name").text(); !slices.Contains(used, name) {
			faults = append(faults, fmt.Sprintf("#%s: no operation has the tag %q", tag.pointer, name))
		}
	}
	return faults
}
