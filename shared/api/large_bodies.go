package api

import (
	"bytes"
	"context"
	"io"
	"time"

	"assay/shared/problem"
)

// The large bodies that are in memory at the same time are bounded, so that requests whose bodies arrive slowly, or all at
// once, cannot fill it. A body is large beyond smallBody bytes, and counts until its request is answered.
const (
	smallBody         = 64 << 10
	allLargeBodies    = 16
	userLargeBodies   = 4
	largeBodyPatience = time.Second
)

// readAll reads a body to its end, when there is room for a large one.
func (c *Call) readAll(ctx context.Context, body io.Reader) ([]byte, error) {
	small, err := io.ReadAll(io.LimitReader(body, smallBody))
	if err != nil || len(small) < smallBody {
		return small, err
	}
	waiting, cancel := context.WithTimeout(ctx, largeBodyPatience)
	defer cancel()
	if c.large, err = c.server.largeBodies.Acquire(waiting, c.Computing()); err != nil {
		return nil, problem.Unavailable.Wrap(err, "Too many large bodies are on their way at the moment. Try again in a second, and send few at the same time.").After(time.Second)
	}
	whole := bytes.NewBuffer(small)
	whole.Grow(int(min(max(c.request.ContentLength, 0), MaxBodyBytes)))
	_, err = whole.ReadFrom(body)
	return whole.Bytes(), err
}
