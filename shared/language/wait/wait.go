// Package wait makes goroutines wait: for a time, between repetitions, and for a signal. A wait ends with its context.
package wait

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"assay/shared/language/panics"
)

// Sleep waits for the duration. It returns false if the context ends before.
func Sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// Every calls do at once, and then at every interval until the context ends.
func Every(ctx context.Context, interval time.Duration, do func()) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for ctx.Err() == nil {
		do()
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// Repeat does a job at every interval, like Every. It logs errors and panics of the job, and continues.
func Repeat(ctx context.Context, interval time.Duration, log *slog.Logger, failed string, job func(context.Context) error) {
	Every(ctx, interval, func() {
		if err := panics.Catch(func() error { return job(ctx) }); err != nil && ctx.Err() == nil {
			log.ErrorContext(ctx, failed, "error", err) //nolint:sloglint // callers pass a constant
		}
	})
}

// Jitter returns a random wait after the attempt, counted from 0 (full jitter). Its upper bound doubles with each attempt from first to
// longest. So callers that conflicted once are unlikely to conflict again.
func Jitter(attempt int, first, longest time.Duration) time.Duration {
	return rand.N(doubled(attempt, first, longest)) //nolint:gosec // spreads calls, guards nothing
}

// doubled returns first, doubled times times, up to longest.
func doubled(times int, first, longest time.Duration) time.Duration {
	return min(first<<min(times, 20), longest)
}

// Signal wakes one goroutine that waits for it, or the next one. Several sends before the receive count as one. The zero Signal is
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
	default: // already sent
	}
}

const firstDelay = 250 * time.Millisecond

// Backoff returns how long to wait after the number of consecutive failures: a random time between half and all of a duration that
// doubles with each failure, up to longest. So callers that failed together return at different times, and do not flood a server that
// recovers.
func Backoff(failures int, longest time.Duration) time.Duration {
	d := doubled(max(failures, 1)-1, firstDelay, longest)
	return d/2 + rand.N(d/2+1) //nolint:gosec // spreads calls, guards nothing
}
