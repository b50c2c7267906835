package evaluator

import (
	"assay/shared/measure"
	"assay/shared/measure/lines"
)

// Memory returns about how much memory it takes at its peak to read a run or a truth whose text has the size; Settings
// without a kind read rankings. The factors are those of the
// shortest lines that each format allows, with what the garbage collector has not freed yet.
func (s Settings) Memory(size lines.Size) int64 {
	perByte, perLine := int64(2), int64(80)
	switch {
	case s.Kind == "" || s.Kind.Ranks() || s.Format.Kind == measure.CoNLL:
		perByte, perLine = 1, 20
	case s.Kind == measure.Probabilities:
		perByte, perLine = 4, 40
	}
	return perByte*size.Bytes + perLine*size.Lines
}
