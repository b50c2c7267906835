package compute

import (
	"runtime/debug"
	"sync"
)

// frugalPercent is how much garbage there may be, in percent of what is in use, while something takes much memory. Usual are 100.
const frugalPercent = 50

// frugal counts what is under way that takes much memory.
var frugal struct {
	mu           sync.Mutex
	underWay     int
	usualPercent int
}

// Frugal has the garbage collector leave half as much garbage as usual until usual is called. It is for work that takes much memory,
// to which the process would add as much garbage.
func Frugal() (usual func()) {
	frugal.mu.Lock()
	defer frugal.mu.Unlock()
	frugal.underWay++
	if frugal.underWay == 1 {
		frugal.usualPercent = debug.SetGCPercent(frugalPercent)
	}
	return func() {
		frugal.mu.Lock()
		defer frugal.mu.Unlock()
		frugal.underWay--
		if frugal.underWay == 0 {
			debug.SetGCPercent(frugal.usualPercent)
		}
	}
}
