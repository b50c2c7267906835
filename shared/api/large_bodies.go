package api

import (
	"bytes"
	"context"
	"errors"
	"io"
	"time"
)

// The bytes of large bodies that are in memory at the same time are bounded, so that requests whose bodies arrive slowly, or
// all at once, cannot fill it. Every chunk beyond the first takes one of allBodyChunks when it has arrived, and gives it back when
// the answer begins: a connection that announces much and sends little takes what it sent.
const (
	bodyChunk      = 64 << 10
	allBodyChunks  = 16 * MaxBodyBytes / bodyChunk
	userBodyChunks = allBodyChunks / 4
	bodyChunkWait  = time.Second
)

// readAll reads a body to its end, as long as there is room for what arrives.
func (c *Call) readAll(ctx context.Context, body io.Reader) ([]byte, error) {
	size := int64(bodyChunk)
	if announced := c.request.ContentLength; announced >= 0 {
		size = min(size, announced)
	}
	var chunks [][]byte
	for {
		chunk := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
		_, err := io.CopyN(chunk, body, bodyChunk)
		chunks = append(chunks, chunk.Bytes())
		switch {
		case errors.Is(err, io.EOF) && len(chunks) == 1:
			return chunk.Bytes(), nil
		case errors.Is(err, io.EOF):
			return bytes.Join(chunks, nil), nil
		case err != nil:
			return nil, err
		}
		err = c.acquireSlot(ctx, c.server.bodyChunks,
			"Too many large bodies are on their way at the moment. Try again in a second, and send few at the same time.")
		if err != nil {
			return nil, err
		}
	}
}
