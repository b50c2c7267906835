// Package wait has the ways in which goroutines wait: for a time, from interval to interval, and for a signal. All of them end
// with the context.
package wait

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"assay/shared/panics"
)

// Sleep waits, and reports whether the context still goes on.
func Sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// Every calls do now, and then in the interval until the context ends.
func Every(ctx context.Context, interval time.Duration, do func()) { every(ctx, interval, nil, do) }

// every is Every, for which wake begins the next interval early.
func every(ctx context.Context, interval time.Duration, wake <-chan struct{}, do func()) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for ctx.Err() == nil {
		do()
		select {
		case <-tick.C:
		case <-wake:
		case <-ctx.Done():
		}
	}
}

// Repeat does a job as Every does, also when wake, which may be nil, delivers. It logs failures of the job, also panics, and goes on.
func Repeat(ctx context.Context, interval time.Duration, wake <-chan struct{}, log *slog.Logger, failed string,
	job func(context.Context) error) {
	every(ctx, interval, wake, func() {
		if err := panics.Catch(func() error { return job(ctx) }); err != nil && ctx.Err() == nil {
			log.ErrorContext(ctx, failed, "error", err) //nolint:sloglint // a constant of the caller's
		}
	})
}

// Jitter returns how long to wait after the attempt, counted from 0: any time up to a bound that doubles from the first to the longest
// (full jitter), so that callers that conflicted once do not conflict again.
func Jitter(attempt int, first, longest time.Duration) time.Duration {
	return rand.N(doubled(attempt, first, longest)) //nolint:gosec // chance spreads the calls here, it guards nothing
}

// doubled returns the first duration, doubled as often as said, up to the longest.
func doubled(times int, first, longest time.Duration) time.Duration {
	return min(first<<min(times, 20), longest)
}

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

const firstDelay = 250 * time.Millisecond

// Backoff returns how long to wait after so many failures in a row: between half and all of a time that doubles with each, up
// to the longest. Chance keeps callers that failed at the same moment apart, so that a server that comes back is not flooded.
func Backoff(failures int, longest time.Duration) time.Duration {
	d := doubled(max(failures, 1)-1, firstDelay, longest)
	return d/2 + rand.N(d/2+1) //nolint:gosec // chance spreads the calls here, it guards nothing
}
