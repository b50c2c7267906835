package server

import (
	"context"
	"net"
	"slices"
	"sync"

	"assay/shared/access"

	"google.golang.org/grpc/peer"
)

// class is a group of callers whose calls share places while their first message is on its way: what one class takes is
// no other's.
type class int

const (
	ofAnonymous class = iota
	ofUsers
	ofWorkers
)

// maxArriving is how many calls of each class may be on their way, so that messages that never end do not fill the memory.
var maxArriving = [...]int{ofAnonymous: 40, ofUsers: 200, ofWorkers: 200}

// arrivals are the calls whose first message is on its way, by class and caller. When a class has no place left, the caller
// who has the most calls in it loses the oldest of them to a caller who has fewer, so that callers with few calls are never kept out.
type arrivals struct {
	mu sync.Mutex
	by [len(maxArriving)]map[string][]*arrival // the oldest first
}

// arrival is a call whose first message is on its way.
type arrival struct {
	cancel context.CancelFunc
}

// placeOf says what a call counts as: its class, and who its caller is there. Callers without a login are told apart by address.
func placeOf(ctx context.Context, c access.Caller) (class, string) {
	switch {
	case c.Worker:
		return ofWorkers, c.ID
	case !c.Anonymous():
		return ofUsers, c.ID
	}
	host := ""
	if p, ok := peer.FromContext(ctx); ok {
		host, _, _ = net.SplitHostPort(p.Addr.String()) // what has no port is one caller
	}
	return ofAnonymous, host
}

// begin counts a call, unless there is no place for it, and returns what ends it. It may cancel the call of another caller.
func (a *arrivals) begin(of class, caller string, cancel context.CancelFunc) (end func(), ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.by[of] == nil {
		a.by[of] = map[string][]*arrival{}
	}
	calls := a.by[of]
	all, most := 0, ""
	for id, theirs := range calls {
		if all += len(theirs); len(theirs) > len(calls[most]) {
			most = id
		}
	}
	if all >= maxArriving[of] {
		if len(calls[most]) <= len(calls[caller])+1 {
			return nil, false
		}
		calls[most][0].cancel()
		a.remove(of, most, calls[most][0])
	}
	arriving := &arrival{cancel}
	calls[caller] = append(calls[caller], arriving)
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.remove(of, caller, arriving)
	}, true
}

// remove forgets a call, if it is not forgotten yet.
func (a *arrivals) remove(of class, caller string, call *arrival) {
	left := slices.DeleteFunc(a.by[of][caller], func(other *arrival) bool { return other == call })
	if a.by[of][caller] = left; len(left) == 0 {
		delete(a.by[of], caller)
	}
}
