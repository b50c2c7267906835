package inputs

import (
	"bufio"
	"compress/gzip"
	"context"
	"io"

	"assay/shared/compute"
	"assay/shared/problem"
)

// MaxTextBytes is how large the packed runs and truths that one invocation reads may be together once they are unpacked:
// the sizes of packed files say little, and their lines are held in memory.
const MaxTextBytes = compute.MaxBytes

// heldUnpackedBytes is how many bytes the stored runs and truths that are packed have once they are unpacked.
func (resolver *Resolver) heldUnpackedBytes(ctx context.Context) (total int64, err error) {
	for _, f := range resolver.heldFiles {
		r, err := f.Open()
		if err != nil {
			return 0, err
		}
		size, err := unpackedSize(ctx, r, MaxTextBytes-total)
		_ = r.Close() // what it has is read again
		if err != nil {
			return 0, err
		}
		if total += size; total > MaxTextBytes {
			return 0, problem.TooLarge.New("The packed files that this would read unpack to more than %d bytes together. Name fewer runs, or get "+
				"the files by their links and use a tool of your own.", MaxTextBytes)
		}
	}
	return total, nil
}

// unpackedSize is how many bytes a packed file has once it is unpacked, one more than most when it has more; 0 when it is not
// packed. What is damaged counts as far as it goes, for its reader says what is wrong with it.
func unpackedSize(ctx context.Context, r io.Reader, most int64) (size int64, err error) {
	z, err := gzip.NewReader(bufio.NewReader(r))
	if err != nil {
		return 0, nil //nolint:nilerr // it is not packed
	}
	for size <= most && err == nil {
		if err := ctx.Err(); err != nil {
			return size, err
		}
		var n int64
		n, err = io.CopyN(io.Discard, z, 16<<20)
		size += n
	}
	return min(size, most+1), nil
}
