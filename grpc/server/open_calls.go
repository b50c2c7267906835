package server

import (
	"sync"

	"assay/shared/problem"
)

const (
	// maxWaitingLeases is how many calls of Lease may wait for one user with access tokens, of which any user can make some.
	maxWaitingLeases = 20
	// maxWatches is how many runs one caller may watch at a time. A stream that nobody reads takes about 120 KB.
	maxWatches = 200
)

// openCalls counts the calls of a method that are open, by caller.
type openCalls struct {
	method string
	most   int // of one caller

	mu sync.Mutex
	by map[string]int
}

// enter counts a call until leave, or refuses it.
func (o *openCalls) enter(caller string) (leave func(), err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.by[caller] >= o.most {
		return nil, problem.TooManyRequests.New("%d of your calls of %s are open, which is the most. End some first.", o.most, o.method)
	}
	if o.by == nil {
		o.by = map[string]int{}
	}
	o.by[caller]++
	return func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.by[caller]--
		if o.by[caller] == 0 {
			delete(o.by, caller)
		}
	}, nil
}
