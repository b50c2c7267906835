// Package waittest makes tests wait for events instead of for a time, so that they pass on a busy machine too.
//
// A wait fails only if nothing changes for a bound that no slow machine reaches, or if the test binary is about to be ended by its
// own timeout. Tests in a bubble of testing/synctest use that package's Wait instead: their time is not the machine's.
package waittest

import (
	"reflect"
	"testing"
	"time"
)

const (
	// patience is how long a wait lasts without a change. It detects waits that are stuck. It is no requirement on speed.
	patience = 3 * time.Minute
	// margin is reserved at the end of the test binary's time, so that the failure appears instead of the stacks of all goroutines.
	margin       = 10 * time.Second
	firstPause   = time.Millisecond
	longestPause = 50 * time.Millisecond
)

// Until waits until holds returns true. The statement says what becomes true, such as "the run has ended".
func Until(t testing.TB, statement string, holds func() bool) {
	t.Helper()
	wait(t, statement, func() (progress, shown any, ends bool) {
		held := holds()
		return nil, held, held
	})
}

// Value waits until observe reports that the value it observed is the expected one, and returns this value. Each change of the value is
// progress, after which the bound starts again. A failure prints the last value.
func Value[T any](t testing.TB, statement string, observe func() (value T, expected bool)) (last T) {
	t.Helper()
	wait(t, statement, func() (progress, shown any, ends bool) {
		last, ends = observe()
		return last, last, ends
	})
	return last
}

// Succeed waits until try returns no error. A failure prints the last error. A different error is no progress, because errors can
// contain the names of requests.
func Succeed(t testing.TB, statement string, try func() error) {
	t.Helper()
	wait(t, statement, func() (progress, shown any, ends bool) {
		err := try()
		return nil, err, err == nil
	})
}

// wait calls observe until it ends the wait. Each change of the progress starts the bound again. A failure prints what was shown last.
func wait(t testing.TB, statement string, observe func() (progress, shown any, ends bool)) {
	t.Helper()
	b := startBound(t)
	var last any
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		over := b.over() // before observe, so that observe gets a last call after a suspension
		progress, shown, ends := observe()
		if ends {
			return
		}
		if !reflect.DeepEqual(progress, last) {
			b.restart()
			last = progress
		}
		if over && b.over() {
			t.Fatalf("it does not become true that %s; for %s this has not changed: %+v", statement, b.spent(), shown)
		}
		time.Sleep(pause)
	}
}

// Receive waits for a value from the channel, or for its end, and returns the value.
func Receive[T any](t testing.TB, statement string, from <-chan T) T {
	t.Helper()
	var received T
	Until(t, statement, func() bool {
		select {
		case received = <-from:
			return true
		case <-time.After(longestPause): // a select, so that a value is received at once
			return false
		}
	})
	return received
}

// bound limits how long a test waits.
type bound struct {
	began    time.Time
	deadline time.Time // of the test binary; zero if it has none
}

func startBound(t testing.TB) *bound {
	b := &bound{began: time.Now()}
	if limited, ok := t.(interface{ Deadline() (time.Time, bool) }); ok {
		if deadline, set := limited.Deadline(); set {
			b.deadline = deadline.Add(-margin)
		}
	}
	return b
}

func (b *bound) restart() { b.began = time.Now() }

func (b *bound) spent() time.Duration { return time.Since(b.began).Round(time.Second) }

func (b *bound) over() bool {
	return time.Since(b.began) > patience || !b.deadline.IsZero() && time.Now().After(b.deadline)
}
