package inputs

import (
	"fmt"
	"slices"

	"assay/shared/measure"
	"assay/shared/measure/evaluator"
	"assay/shared/problem"
	"assay/shared/record"
)

// source is where files come from, so that problems point to their place in the input.
type source struct {
	pointer string // to the reference
	inline  bool
	files   []evaluator.File
}

// Files are what there is to read.
func (s *source) Files() []evaluator.File { return s.files }

// FilePointer points to the file of the name, in the input.
func (s *source) FilePointer(name string) string {
	i := slices.IndexFunc(s.files, func(f evaluator.File) bool { return f.Name == name })
	if !s.inline || i < 0 {
		return s.pointer
	}
	return fmt.Sprintf("%s/files/%d", s.pointer, i)
}

// Refused is the problem of files that have errors; nil when the diagnostics have none.
func (s *source) CheckDiagnostics(diagnostics []measure.Diagnostic) error {
	return problem.Check(record.Faults(diagnostics, s.FilePointer))
}

// open returns the files as readers take them, and what closes them.
func (s *source) open() ([]measure.File, func()) { return evaluator.Contents(s.files) }
