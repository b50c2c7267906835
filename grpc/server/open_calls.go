package server

import (
	"sync"

	"assay/shared/language/problem"
)

const (
	// maxWaitingLeases bounds the waiting calls of Lease for one user's access tokens, because every user can make access tokens.
	maxWaitingLeases = 20
	// maxWatches bounds the concurrent watches of one caller. A stream that nobody reads takes about 120 KB.
	maxWatches = 200
)

// openCalls counts the open calls of a method by caller.
type openCalls struct {
	method string
	most   int // greatest number for one caller

	mu sync.Mutex
	by map[string]int
}

// enter counts a call until leave is called. It returns a problem if the caller has too many open calls.
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
