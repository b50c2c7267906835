package wait

import (
	"math/rand/v2"
	"time"
)

const firstDelay = 250 * time.Millisecond

// Backoff returns how long to wait after so many failures in a row: between half and all of a time that doubles with each, up
// to the longest. Chance keeps callers that failed at the same moment apart, so that a server that comes back is not flooded.
func Backoff(failures int, longest time.Duration) time.Duration {
	d := longest
	if failures = max(failures, 1); failures < 20 {
		d = min(firstDelay<<(failures-1), longest)
	}
	return d/2 + rand.N(d/2+1) //nolint:gosec // chance spreads the calls here, it guards nothing
}
