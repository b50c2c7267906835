package server

import (
	"context"
	"net"
	"sync"

	"assay/shared/access"

	"google.golang.org/grpc/peer"
)

// Limits of what is on its way to the server, so that nobody fills its memory with messages that never end, and nobody keeps
// others out with them: workers, other users and callers without a login have limits apart, and each caller has a share.
const (
	maxArriving          = 200 // calls of users whose first message is on its way, and as many of workers
	maxArrivingAnonymous = 40  // of all callers without a login
	maxArrivingUser      = 100 // of one user who is no worker
	maxArrivingAddress   = 20  // of one address without a login
)

// arrivals counts calls whose first message is on its way.
type arrivals struct {
	mu sync.Mutex
	by map[string]int // by class of callers, and by caller
}

// bound is how many calls may be on their way for all that a key stands for.
type bound struct {
	key  string
	most int
}

// boundsOf are those that a call of the caller counts in.
func boundsOf(ctx context.Context, c access.Caller) []bound {
	switch {
	case c.Worker:
		return []bound{{"workers", maxArriving}}
	case !c.Anonymous():
		return []bound{{"users", maxArriving}, {"user " + c.ID, maxArrivingUser}}
	}
	host := ""
	if p, ok := peer.FromContext(ctx); ok {
		host, _, _ = net.SplitHostPort(p.Addr.String()) // what has no port is one caller
	}
	return []bound{{"anonymous", maxArrivingAnonymous}, {"address " + host, maxArrivingAddress}}
}

// begin counts a call, unless that would be too many, and returns what ends it.
func (a *arrivals) begin(bounds []bound) (end func(), ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, b := range bounds {
		if a.by[b.key] >= b.most {
			return nil, false
		}
	}
	if a.by == nil {
		a.by = map[string]int{}
	}
	for _, b := range bounds {
		a.by[b.key]++
	}
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		for _, b := range bounds {
			if a.by[b.key]--; a.by[b.key] == 0 {
				delete(a.by, b.key)
			}
		}
	}, true
}
