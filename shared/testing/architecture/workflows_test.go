package architecture

import (
	"bytes"
	"path"
	"regexp"
	"testing"
)

var (
	usesAction = regexp.MustCompile(`(?m)^[\s-]*uses:\s*(.*)$`)
	// A workflow of this repository has the digest of the commit that names it.
	pinnedAction = regexp.MustCompile(`^[A-Za-z0-9._/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$|^\./\.github/workflows/[a-z]+\.yml$`)
)

// TestWorkflows_PinActions finds actions that a workflow names by a tag. A tag can move; a digest cannot.
func TestWorkflows_PinActions(t *testing.T) {
	actions := 0
	for _, f := range textFiles(t) {
		if path.Dir(f.path) != ".github/workflows" {
			continue
		}
		for _, action := range unpinnedActions(f.content) {
			t.Errorf("%s uses %s: name it by its digest, and the version in a comment: owner/name@<40 hex digits> # v1.2.3", f.path, action)
		}
		actions += bytes.Count(f.content, []byte("uses:"))
	}
	if actions == 0 {
		t.Error("the workflows use no action")
	}
}

// unpinnedActions returns the actions of a workflow without a digest, or without a comment that names the version.
func unpinnedActions(workflow []byte) []string {
	var out []string
	for _, found := range usesAction.FindAllSubmatch(workflow, -1) {
		if !pinnedAction.Match(bytes.TrimSpace(found[1])) {
			out = append(out, string(found[1]))
		}
	}
	return out
}

func TestWorkflows_ChecksCatch(t *testing.T) {
	const digest = "0123456789abcdef0123456789abcdef01234567"
	for action, faults := range map[string]int{
		"actions/cache@" + digest + " # v4.3.0":         0,
		"./.github/workflows/gate.yml":                  0,
		"actions/cache/restore@" + digest + " # v4.3.0": 0,
		"actions/cache@v4":                              1,
		"actions/cache@" + digest:                       1,
		"actions/cache@" + digest + " # v4":             1,
		"actions/cache@" + digest[1:] + " # v4.3.0":     1,
	} {
		if got := unpinnedActions([]byte("    steps:\n      - uses: " + action + "\n")); len(got) != faults {
			t.Errorf("%s has the faults %q, want %d", action, got, faults)
		}
	}
}
