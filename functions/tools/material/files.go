package material

import (
	"assay/shared/measure"
	"assay/shared/measure/evaluator"
)

// Files are what there is to read.
func (s *source) Files() []evaluator.File { return s.files }

// FileAt points to the file of the name, in the input.
func (s *source) FileAt(name string) string { return s.at(name) }

// Refused is the problem of files that have errors; nil when the diagnostics have none.
func (s *source) Refused(diagnostics []measure.Diagnostic) error { return s.refused(diagnostics) }
