package wait

import "sync"

// Signal wakes one goroutine that waits for it, or the next that will; several sends before that count as one. The zero Signal is
// ready for use.
type Signal struct {
	once    sync.Once
	channel chan struct{}
}

// C returns the channel on which the signal arrives.
func (s *Signal) C() <-chan struct{} { return s.c() }

func (s *Signal) c() chan struct{} {
	s.once.Do(func() { s.channel = make(chan struct{}, 1) })
	return s.channel
}

// Send sends the signal. It never blocks.
func (s *Signal) Send() {
	select {
	case s.c() <- struct{}{}:
	default: // it is sent already
	}
}
