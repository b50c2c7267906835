package scoring

import (
	"context"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/lines"
)

// CountText returns the size of the text of the files after unpacking. It stops after more than most bytes.
func CountText(ctx context.Context, files []File, most int64) (total lines.Size, err error) {
	for _, f := range files {
		r, err := f.Open()
		if err != nil {
			return total, err
		}
		size, err := lines.Count(ctx, r, most-total.Bytes)
		_ = r.Close() // the evaluator reads the file again and reports its errors
		total = total.Plus(size)
		if err != nil || total.Bytes > most {
			return total, err
		}
	}
	return total, nil
}

// Memory estimates the peak memory for reading a run with text of the size. Settings without a kind stand for rankings. The factors were
// measured on the shortest lines that each format allows. They include garbage that is not collected yet.
func (s Settings) Memory(size lines.Size) int64 {
	perByte, perLine := int64(2), int64(80)
	switch {
	case s.Kind == "" || s.Kind.Ranks() || s.Format.Kind == measure.CoNLL:
		perByte, perLine = 1, 20
	case s.Kind == measure.Probabilities:
		perByte, perLine = 4, 40
	}
	return s.withHalves(perByte*size.Bytes + perLine*size.Lines)
}

// MemoryOfTruth estimates the peak memory for reading a truth with text of the size.
func (s Settings) MemoryOfTruth(size lines.Size) int64 {
	if s.Kind == "" || s.Kind.Ranks() {
		return s.withHalves(6*size.Bytes + 60*size.Lines)
	}
	return s.Memory(size)
}

// withHalves returns the memory of a truth or run with its halves. Together they are as large as the whole.
func (s Settings) withHalves(memory int64) int64 {
	if s.isHalved() {
		return 2 * memory
	}
	return memory
}
