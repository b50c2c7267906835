package api

import (
	"context"
	"sync"
)

// Static is a document that is the same for all callers as long as the process runs. Its text is made by the first request, and its
// gzip by the first request that accepts gzip.
type Static struct {
	answer func() (answer, error)
}

// NewStatic returns the document of the media type whose text render makes.
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

// Answer answers with the document, or 304 when the caller has it already. It handles an operation that Document declares.
func (s *Static) Answer(_ context.Context, c *Call) error {
	a, err := s.answer()
	if err != nil {
		return err
	}
	return c.write(a)
}
