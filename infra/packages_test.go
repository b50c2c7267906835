package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// TestPackagesArePinned holds the lock file to exact versions with digests, and to no other registry than npm's own: one that
// a machine was set up with is out of reach elsewhere.
func TestPackagesArePinned(t *testing.T) {
	content, err := os.ReadFile("package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	var lock struct {
		Packages map[string]struct{ Version, Resolved, Integrity string }
	}
	if err := json.Unmarshal(content, &lock); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"node_modules/aws-cdk": "2.1148.1", "node_modules/@dynoxide/linux-x64": "1.2.1", "node_modules/@bufbuild/buf-linux-x64": "1.75.0"}
	for name, p := range lock.Packages {
		if name == "" {
			continue
		}
		if p.Version != want[name] || !strings.HasPrefix(p.Integrity, "sha512-") {
			t.Errorf("%s is %s with the digest %q, want version %q", name, p.Version, p.Integrity, want[name])
		}
		if p.Resolved != "" && !strings.HasPrefix(p.Resolved, "https://registry.npmjs.org/") {
			t.Errorf("%s comes from %s", name, p.Resolved)
		}
		delete(want, name)
	}
	if len(want) > 0 {
		t.Errorf("%v are missing", want)
	}
}
