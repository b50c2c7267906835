package blob

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
)

// maxBufferBytes is how much of a file is in memory while it is copied.
const maxBufferBytes = 256 << 10

// Copy copies r, to its end, to w. It returns ErrMismatch when r is not what o declares, and as soon as r has yielded too much.
func Copy(ctx context.Context, w io.Writer, o Object, r io.Reader) error {
	sum := sha256.New()
	bounded := io.LimitReader(cancellable{ctx, r}, o.Size+1)
	size, err := io.CopyBuffer(io.MultiWriter(sum, w), bounded, make([]byte, min(maxBufferBytes, o.Size+1)))
	switch got := hex.EncodeToString(sum.Sum(nil)); {
	case err != nil:
		return err
	case size > o.Size:
		return fmt.Errorf("%w: more than %d bytes", ErrMismatch, o.Size)
	case size < o.Size:
		return fmt.Errorf("%w: %d of %d bytes", ErrMismatch, size, o.Size)
	case got != o.SHA256:
		return fmt.Errorf("%w: SHA-256 is %s, not %s", ErrMismatch, got, o.SHA256)
	}
	return nil
}

// cancellable is a reader that fails once ctx is done.
type cancellable struct {
	ctx context.Context
	r   io.Reader
}

// Read implements io.Reader.
func (c cancellable) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
