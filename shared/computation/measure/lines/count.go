package lines

import (
	"bytes"
	"context"
	"errors"
	"io"

	"assay/shared/computation/measure/steps"
)

// Size is the amount of text in files.
type Size struct{ Bytes, Lines int64 }

// Plus returns the sum of two sizes.
func (s Size) Plus(other Size) Size { return Size{s.Bytes + other.Bytes, s.Lines + other.Lines} }

// Count returns the size of the text that a Reader reads from a file. It unpacks the file, because the length in a gzip trailer is only the
// sender's claim. For a damaged file it returns the size up to the damage; the Reader reports the error. Count stops after more than most
// bytes. It takes about 150 KB of memory.
func Count(ctx context.Context, r io.Reader, most int64) (size Size, err error) {
	text, err := Unpack(r, StandardExpansion)
	buffer := make([]byte, 64<<10)
	counter := steps.Of(ctx)
	for err == nil && size.Bytes <= most {
		if err = counter.Add(1); err != nil {
			break
		}
		var n int
		n, err = text.Read(buffer)
		_ = counter.Add(n) // the next Add returns the error
		size = size.Plus(Size{int64(n), int64(bytes.Count(buffer[:n], newline))})
	}
	if _, refused := errors.AsType[Refusal](err); refused || errors.Is(err, io.EOF) {
		err = nil
	}
	return size, err
}
