package sandbox

import (
	"bytes"
	"sync/atomic"
)

// outage counts pulls and clones that failed one after the other. What an image or a repository names is the run's own: its
// registry, its host, its redirects. Only when nothing has come for a long time, the worker's own network may be at fault.
type outage struct{ failures atomic.Int32 }

const mostFailures = 10

// failed counts a failure, and reports whether it is to be taken for the worker's own.
func (o *outage) failed() bool { return o.failures.Add(1) > mostFailures }

func (o *outage) over() { o.failures.Store(0) }

// short keeps the beginning of what a program says.
type short struct{ to *bytes.Buffer }

const shortest = 2000

// Write implements io.Writer.
func (s *short) Write(b []byte) (int, error) {
	s.to.Write(b[:max(min(len(b), shortest-s.to.Len()), 0)])
	return len(b), nil
}
