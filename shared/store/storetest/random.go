package storetest

import (
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
)

// seedVariable is the environment variable with the seed of Random.
const seedVariable = "ASSAY_TEST_SEED"

// Random returns a generator for concurrent use, with the seed that the environment gives, or a random one, which is logged to
// be given again.
func Random(t testing.TB) *rand.Rand {
	t.Helper()
	seed := rand.Uint64() //nolint:gosec // a seed of a test is no secret
	if given := os.Getenv(seedVariable); given != "" {
		var err error
		if seed, err = strconv.ParseUint(given, 10, 64); err != nil {
			t.Fatalf("%s: %v", seedVariable, err)
		}
	}
	t.Logf("%s=%d repeats the random choices of this run", seedVariable, seed)
	return rand.New(&lockedSource{source: rand.NewPCG(seed, seed)}) //nolint:gosec // nor are its choices
}

type lockedSource struct {
	mu     sync.Mutex
	source rand.Source
}

// Uint64 implements rand.Source.
func (s *lockedSource) Uint64() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.source.Uint64()
}
