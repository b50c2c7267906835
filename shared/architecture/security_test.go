package architecture

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

var (
	citedTest   = regexp.MustCompile("`((?:Test|Fuzz)[A-Za-z0-9_]+)`")
	definedTest = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)[A-Za-z0-9_]+)\(`)
)

// TestSecurity_CitesTestsThatExist holds the threat model to the tests: each that it names as a proof is in the repository.
func TestSecurity_CitesTestsThatExist(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(root, "SECURITY.md"))
	if err != nil {
		t.Fatal(err)
	}
	defined := map[string]bool{}
	for _, f := range textFiles(t) {
		for _, found := range definedTest.FindAllSubmatch(f.content, -1) {
			defined[string(found[1])] = true
		}
	}
	cited := map[string]bool{}
	for _, found := range citedTest.FindAllSubmatch(content, -1) {
		cited[string(found[1])] = true
	}
	if len(cited) == 0 {
		t.Error("SECURITY.md names no test: its threats have no proof")
	}
	for _, name := range slices.Sorted(maps.Keys(cited)) {
		if !defined[name] {
			t.Errorf("SECURITY.md names the test %s, which is not in the repository: name the one that proves it now", name)
		}
	}
}

var citedPath = regexp.MustCompile("`((?:functions|grpc|infra|local|shared)/[A-Za-z0-9_./-]*[A-Za-z0-9])`")

// TestDocuments_NameFilesThatExist finds what a document says of a file or package that has moved.
func TestDocuments_NameFilesThatExist(t *testing.T) {
	for _, f := range textFiles(t) {
		if filepath.Ext(f.path) != ".md" {
			continue
		}
		for _, found := range citedPath.FindAllSubmatch(f.content, -1) {
			if _, err := os.Stat(filepath.Join(root, string(found[1]))); err != nil {
				t.Errorf("%s names %s, which is not in the repository: name what it is now", f.path, found[1])
			}
		}
	}
}
