package sandbox

import "sync/atomic"

// outage counts consecutive failures of pulls and clones. Registries and hosts are the run's choice, so a failure is the run's; only
// after many in a row the worker's own network may be the cause.
type outage struct{ failures atomic.Int32 }

const maxOutageFailures = 10

// failed counts a failure, and reports whether it counts as the worker's.
func (o *outage) failed() bool { return o.failures.Add(1) > maxOutageFailures }

func (o *outage) over() { o.failures.Store(0) }

// headBuffer keeps the beginning of what is written.
type headBuffer struct {
	kept []byte
	each func(b []byte) // called with all of it; may be nil
}

const maxHead = 2000

// Write implements io.Writer.
func (s *headBuffer) Write(b []byte) (int, error) {
	if s.each != nil {
		s.each(b)
	}
	s.kept = append(s.kept, b[:min(len(b), maxHead-len(s.kept))]...)
	return len(b), nil
}

// String is what was kept.
func (s *headBuffer) String() string { return string(s.kept) }
