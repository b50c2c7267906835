package main

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// platformPackages lists the packages that npm installs on each platform on which the tests run, by npm's names of system and processor.
var platformPackages = map[[2]string][]string{
	{"darwin", "arm64"}: {"@bufbuild/buf-darwin-arm64", "@dynoxide/darwin-arm64"},
	{"darwin", "x64"}:   {"@bufbuild/buf-darwin-x64", "@dynoxide/darwin-x64"},
	{"linux", "arm64"}:  {"@bufbuild/buf-linux-aarch64", "@dynoxide/linux-arm64"},
	{"linux", "x64"}:    {"@bufbuild/buf-linux-x64", "@dynoxide/linux-x64"},
}

// withoutDigest lists packages whose digests are missing in the lock file, because the registry answered 404 for all of their versions.
// "npm install" adds the digests where it can reach the packages. After committing them, remove the names here.
var withoutDigest = []string{"node_modules/@dynoxide/darwin-arm64", "node_modules/@dynoxide/darwin-x64",
	"node_modules/@dynoxide/linux-arm64"}

// TestPackages_ArePinned checks that the lock file has exact versions with digests, the packages of every platform, and only npm's own
// registry. Other registries, which some machines are set up with, cannot be reached elsewhere.
func TestPackages_ArePinned(t *testing.T) {
	content, err := os.ReadFile("package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	var lock struct {
		Packages map[string]struct {
			Version, Resolved, Integrity string
			OS, CPU                      []string
			Optional                     bool
		}
	}
	if err := json.Unmarshal(content, &lock); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"node_modules/@redocly/cli": "2.77.0", "node_modules/aws-cdk": "2.1148.1", "node_modules/axe-core": "4.14.1"}
	for platform, names := range platformPackages {
		for _, name := range names {
			name = "node_modules/" + name
			want[name] = map[bool]string{true: "1.2.1", false: "1.74.0"}[strings.Contains(name, "dynoxide")]
			p := lock.Packages[name]
			if !p.Optional || !slices.Equal(p.OS, platform[:1]) || !slices.Equal(p.CPU, platform[1:]) {
				t.Errorf("%s is installed on %v %v, optional %v; want %v alone", name, p.OS, p.CPU, p.Optional, platform)
			}
		}
	}
	for name, p := range lock.Packages {
		if name == "" {
			continue
		}
		if p.Version != want[name] || !strings.HasPrefix(p.Integrity, "sha512-") != slices.Contains(withoutDigest, name) {
			t.Errorf("%s is %s with the digest %q, want version %q", name, p.Version, p.Integrity, want[name])
		}
		if p.Resolved != "" && !strings.HasPrefix(p.Resolved, "https://registry.npmjs.org/") {
			t.Errorf("%s comes from %s", name, p.Resolved)
		}
		delete(want, name)
	}
	if len(want) > 0 {
		t.Errorf("%v are missing", slices.Sorted(maps.Keys(want)))
	}
}
