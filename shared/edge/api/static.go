package api

import (
	"context"
	"sync"
)

// Static is a document that is equal for all callers while the process runs. The first request renders it, and the first request that
// accepts gzip compresses it.
type Static struct {
	answer func() (answer, error)
}

// NewStatic returns the document of the media type that render returns.
func NewStatic(mediaType string, render func() ([]byte, error)) *Static {
	return &Static{sync.OnceValues(func() (answer, error) {
		body, err := render()
		if err != nil {
			return answer{}, err
		}
		a := documentAnswer(mediaType, body)
		a.packed = sync.OnceValue(func() []byte {
			packed, _ := pack(context.Background(), body)
			return packed
		})
		return a, nil
	})}
}

// Answer answers with the document, or 304 if the caller already has it. It is the handler of an operation that Document declares.
func (s *Static) Answer(_ context.Context, c *Call) error {
	a, err := s.answer()
	if err != nil {
		return err
	}
	return c.write(a)
}
