// Package measuretest has what the tests of evaluators share: files of testdata, lists of measures, and diagnostics as lines.
package measuretest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"assay/shared/measure"
)

// Open opens a file of testdata until the test ends.
func Open(t testing.TB, path string) measure.File {
	t.Helper()
	f, err := os.Open(filepath.Clean(path))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() }) // it was only read
	return measure.File{Name: filepath.Base(path), Content: f}
}

// Parse returns the measures of the names.
func Parse(t testing.TB, kind measure.Kind, names ...string) []measure.Measure {
	t.Helper()
	var list []measure.Measure
	for _, name := range names {
		m, err := measure.Parse(kind, name)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, m)
	}
	return list
}

// Lines writes diagnostics as file:line severity: message.
func Lines(diagnostics []measure.Diagnostic) []string {
	var list []string
	for _, d := range diagnostics {
		at := d.File
		if d.Line > 0 {
			at += fmt.Sprint(":", d.Line)
		}
		list = append(list, fmt.Sprintf("%s %s: %s", at, d.Severity, d.Message))
	}
	return list
}
