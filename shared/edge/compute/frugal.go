package compute

import (
	"runtime/debug"
	"sync"
)

// frugalPercent is the amount of garbage, in percent of the memory in use, that starts a collection during large work. Go's default is
// 100.
const frugalPercent = 50

// frugal counts the large work in progress.
var frugal struct {
	mu           sync.Mutex
	underWay     int
	usualPercent int
}

// Frugal makes the garbage collector run more often until usual is called, so that the process holds half as much garbage as usual. It
// is for work that takes much memory, because garbage is proportional to the memory in use.
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
