package api

import (
	"bytes"
	"context"
	"errors"
	"io"
	"time"

	"assay/shared/problem"
)

// The bytes of large bodies that are in memory at the same time are bounded, so that requests whose bodies arrive slowly, or
// all at once, cannot fill it. Every chunk beyond the first takes one of allBodyChunks when it has arrived, and gives it back when
// the answer begins: a connection that announces much and sends little takes no more than it sent.
const (
	bodyChunk         = 64 << 10
	allBodyChunks     = 16 * MaxBodyBytes / bodyChunk
	userBodyChunks    = allBodyChunks / 4
	bodyChunkPatience = time.Second
)

// readAll reads a body to its end, as long as there is room for what arrives.
func (c *Call) readAll(ctx context.Context, body io.Reader) ([]byte, error) {
	var whole bytes.Buffer
	for {
		_, err := io.CopyN(&whole, body, bodyChunk)
		if errors.Is(err, io.EOF) {
			return whole.Bytes(), nil
		}
		if err != nil {
			return nil, err
		}
		if err := c.holdBodyChunk(ctx); err != nil {
			return nil, err
		}
	}
}

func (c *Call) holdBodyChunk(ctx context.Context) error {
	chunk, err := c.server.bodyChunks.Acquire(ctx, c.Computing())
	if err != nil {
		return problem.Unavailable.Wrap(err, "Too many large bodies are on their way at the moment. Try again in a second, and send few at the same time.").After(time.Second)
	}
	c.held = append(c.held, chunk)
	return nil
}
