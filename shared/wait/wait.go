// Package wait has the ways in which goroutines wait: for a time, from interval to interval, and for a signal. All of them end
// with the context.
package wait

import (
	"context"
	"time"
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
