package architecture

import (
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// threatModel is the document whose threats name the tests of their defences.
const threatModel = ".github/threat-model.md"

var (
	citedTest   = regexp.MustCompile("`((?:Test|Fuzz)[A-Za-z0-9_]+)`")
	definedTest = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)[A-Za-z0-9_]+)\(`)
	threatRow   = regexp.MustCompile(`(?m)^\|.*\|$`)
)

// TestThreatModel_CitesTestsThatExist finds tests that the threat model names and the repository does not have.
func TestThreatModel_CitesTestsThatExist(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(root, threatModel))
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
	for _, name := range slices.Sorted(maps.Keys(cited)) {
		if !defined[name] {
			t.Errorf("%s names the test %s, which does not exist: name the test that proves the defence now", threatModel, name)
		}
	}
}

// TestThreatModel_ProvesEachDefence finds threats without a test, and a model without threats.
func TestThreatModel_ProvesEachDefence(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(root, threatModel))
	if err != nil {
		t.Fatal(err)
	}
	_, threats, found := strings.Cut(string(content), "\n## Threats\n")
	threats, _, closed := strings.Cut(threats, "\n## ")
	if !found || !closed {
		t.Fatalf("%s has no section Threats that another section follows", threatModel)
	}
	count := 0
	for _, row := range threatRow.FindAllString(threats, -1) {
		if strings.HasPrefix(row, "|---") || strings.HasPrefix(row, "| threat |") {
			continue
		}
		count++
		if !citedTest.MatchString(row) {
			t.Errorf("this threat names no test: %s", row)
		}
	}
	if count == 0 {
		t.Errorf("%s has no threats", threatModel)
	}
}

var citedPath = regexp.MustCompile("`((?:functions|grpc|infra|local|shared)/[A-Za-z0-9_./-]*[A-Za-z0-9])`")

// TestDocuments_NameFilesThatExist finds paths in documents of files that have moved.
func TestDocuments_NameFilesThatExist(t *testing.T) {
	for _, f := range documents(t) {
		for _, found := range citedPath.FindAllSubmatch(f.content, -1) {
			if _, err := os.Stat(filepath.Join(root, string(found[1]))); err != nil {
				t.Errorf("%s names %s, which does not exist: name its new place", f.path, found[1])
			}
		}
	}
}

// documents returns the Markdown files that people of this project write.
func documents(t *testing.T) []textFile {
	t.Helper()
	return slices.DeleteFunc(slices.Clone(textFiles(t)), func(f textFile) bool { return path.Ext(f.path) != ".md" })
}
