package architecture

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

const measurePackage = "assay/shared/computation/measure"

// apiWords are requests, paths, instants, members and parameters of the API, and flags of programs. A diagnostic is plain text, so that the
// command line and the console show its words unchanged.
var apiWords = regexp.MustCompile(`\b(GET|HEAD|POST|PUT|PATCH|DELETE) /|/v1\b|\d{4}-\d\d-\d\dT\d\d:|\b[a-z]{3,}[A-Z][a-z]+|\bfilter\[|` +
	`\blinks\.|(^| )--?[a-z]+-[a-z]+`)

// productNames are words that apiWords would match.
var productNames = regexp.MustCompile(`\bfastText\b`)

// TestDiagnostics_HaveNoWordsOfTheAPI checks all sentences of files that make diagnostics of runs and of ground truths.
func TestDiagnostics_HaveNoWordsOfTheAPI(t *testing.T) {
	sentences := 0
	for _, l := range spokenIn(t, makesDiagnostics) {
		if !strings.Contains(l.text, " ") {
			continue
		}
		sentences++
		if found := apiWords.FindString(productNames.ReplaceAllString(l.text, "")); found != "" {
			t.Errorf("%s: %q in a diagnostic: %q", l.place, found, l.text)
		}
	}
	if sentences < 500 {
		t.Errorf("found only %d sentences", sentences)
	}
}

// makesDiagnostics reports whether a file belongs to the package measure, to a package below it, or imports it to say what is wrong with
// files. The tools also describe the members of their requests, and the command line has a test of its own words.
func makesDiagnostics(f goFile) bool {
	if strings.HasPrefix(f.path, "functions/tools/") || strings.HasPrefix(f.path, "local/cli/") || f.path == "shared/edge/api/schema.go" {
		return false
	}
	return strings.HasPrefix(f.path, "shared/computation/measure/") || slices.Contains(f.imports, measurePackage)
}

func TestDiagnostics_FaultsAreFound(t *testing.T) {
	for text, found := range map[string]bool{
		"the file is not read; see GET /info": true, "give runFormat": true, "start the worker with -work-folder": true,
		"nDCG@10 is not in the file": false, "lines 3 to 7 have no score": false,
	} {
		if got := apiWords.MatchString(text); got != found {
			t.Errorf("%q has words of the API: %t", text, got)
		}
	}
}
