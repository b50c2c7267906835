// Package measuretest has what the tests of evaluators share: lists of measures, and diagnostics as lines.
package measuretest

import (
	"fmt"
	"testing"

	"assay/shared/measure"
)

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
