package server

import (
	"context"
	"slices"
	"sync"

	"assay/shared/ratelimit"

	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
)

// callerClass is a group of callers who share a number of slots. No class takes slots of another.
type callerClass int

const (
	anonymousCallers callerClass = iota
	users
	workerCallers
)

// maxSlots is how many calls of each class may be receiving their first message, so that endless messages do not fill the memory.
var maxSlots = [...]int{anonymousCallers: 40, users: 200, workerCallers: 200}

// callSlots are the slots in use. When a class has no free slot, its caller with the most slots loses the oldest to a caller with
// fewer, so that callers with few calls always get one.
type callSlots struct {
	mu sync.Mutex
	by [len(maxSlots)]map[string][]*context.CancelFunc // of calls whose first message is being received, the oldest first
}

// slotOwner returns the class of the call, and the caller within the class. Anonymous callers are distinguished by their address.
func (c *call) slotOwner() (callerClass, string) {
	switch {
	case c.caller.Worker:
		return workerCallers, c.caller.ID
	case !c.caller.Anonymous():
		return users, c.caller.ID
	}
	return anonymousCallers, c.network
}

// network is where a call comes from: as the proxy in front of the server says, if it is trusted.
func (s *Server) network(ctx context.Context, md metadata.MD) string {
	address := ""
	if p, ok := peer.FromContext(ctx); ok {
		address = p.Addr.String()
	}
	var proxied []string
	if s.proxyHeader != "" {
		proxied = md.Get(s.proxyHeader)
	}
	return ratelimit.Network(address, proxied)
}

// acquire takes a slot for a call, and returns the function that releases it; not ok when there is none. It may cancel a call of
// another caller.
func (s *callSlots) acquire(of callerClass, caller string, cancel context.CancelFunc) (release func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.by[of] == nil {
		s.by[of] = map[string][]*context.CancelFunc{}
	}
	calls := s.by[of]
	all, most := 0, ""
	for id, theirs := range calls {
		all += len(theirs)
		if len(theirs) > len(calls[most]) {
			most = id
		}
	}
	if all >= maxSlots[of] {
		if len(calls[most]) <= len(calls[caller])+1 {
			return nil, false
		}
		(*calls[most][0])()
		s.remove(of, most, calls[most][0])
	}
	calls[caller] = append(calls[caller], &cancel)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.remove(of, caller, &cancel)
	}, true
}

// remove removes a call, if it is still there.
func (s *callSlots) remove(of callerClass, caller string, call *context.CancelFunc) {
	left := slices.DeleteFunc(s.by[of][caller], func(other *context.CancelFunc) bool { return other == call })
	s.by[of][caller] = left
	if len(left) == 0 {
		delete(s.by[of], caller)
	}
}
