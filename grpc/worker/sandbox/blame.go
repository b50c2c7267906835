package sandbox

import "sync/atomic"

// outage counts pulls and clones that failed one after the other. What an image or a repository names is the run's own: its
// registry, its host, its redirects. Only when nothing has come for a long time, the worker's own network may be at fault.
type outage struct{ failures atomic.Int32 }

const mostFailures = 10

// failed counts a failure, and reports whether it is to be taken for the worker's own.
func (o *outage) failed() bool { return o.failures.Add(1) > mostFailures }

func (o *outage) over() { o.failures.Store(0) }

// short keeps the beginning of what a program says.
type short struct {
	kept []byte
	each func(b []byte) // sees all of it; may be nil
}

const shortest = 2000

// Write implements io.Writer.
func (s *short) Write(b []byte) (int, error) {
	if s.each != nil {
		s.each(b)
	}
	s.kept = append(s.kept, b[:min(len(b), shortest-len(s.kept))]...)
	return len(b), nil
}

// String is what was kept.
func (s *short) String() string { return string(s.kept) }
