// Package backoff says how long to wait after something has failed several times: ever longer, and never as long as others
// who failed at the same moment, so that a server that comes back is not run over.
package backoff

import (
	"context"
	"math/rand/v2"
	"time"
)

const first = 250 * time.Millisecond

// After returns how long to wait after so many failures in a row: between half and all of a time that doubles with each, up
// to the longest.
func After(failures int, longest time.Duration) time.Duration {
	d := longest
	if failures = max(failures, 1); failures < 20 {
		d = min(first<<(failures-1), longest)
	}
	return d/2 + rand.N(d/2+1) //nolint:gosec // chance spreads the calls here, it guards nothing
}

// Sleep waits, and reports whether the context still goes on.
func Sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}
