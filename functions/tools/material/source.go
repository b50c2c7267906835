package material

import (
	"fmt"
	"slices"

	"assay/shared/measure"
	"assay/shared/measure/evaluator"
	"assay/shared/problem"
	"assay/shared/record"
)

// source is where files come from, so that what is wrong with them can be told where the input has them.
type source struct {
	pointer string // to the reference
	inline  bool
	files   []evaluator.File
}

// at points to a file.
func (s *source) at(name string) string {
	i := slices.IndexFunc(s.files, func(f evaluator.File) bool { return f.Name == name })
	if !s.inline || i < 0 {
		return s.pointer
	}
	return fmt.Sprintf("%s/files/%d", s.pointer, i)
}

// refused is the problem of files that have errors; nil when the diagnostics have none.
func (s *source) refused(diagnostics []measure.Diagnostic) error {
	return problem.Check(record.Faults(diagnostics, s.at))
}

// open returns the files as readers take them, and what closes them.
func (s *source) open() ([]measure.File, func()) { return evaluator.Contents(s.files) }
