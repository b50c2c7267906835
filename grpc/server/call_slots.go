package server

import (
	"context"
	"slices"
	"sync"

	"assay/shared/edge/ratelimit"

	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
)

// callerClass is a group of callers with common slots. No class can use the slots of another.
type callerClass int

const (
	anonymousCallers callerClass = iota
	users
	workerCallers
)

// maxSlots bounds the calls of each class that are receiving their first message, so that endless messages cannot exhaust the memory.
var maxSlots = [...]int{anonymousCallers: 40, users: 200, workerCallers: 200}

// callSlots holds the slots in use. If a class has no free slot, its caller with the most slots loses the oldest one to a caller with
// fewer. So callers with few calls always get a slot.
type callSlots struct {
	mu sync.Mutex
	by [len(maxSlots)]map[string][]*context.CancelFunc // by caller: calls that are receiving their first message, the oldest first
}

// slotOwner returns the class of the call, and the caller within the class. Addresses distinguish callers without a login.
func (c *call) slotOwner() (callerClass, string) {
	switch {
	case c.caller.Worker:
		return workerCallers, c.caller.ID
	case !c.caller.Anonymous():
		return users, c.caller.ID
	}
	return anonymousCallers, c.network
}

// network returns the network that a call comes from. Behind a trusted proxy, the proxy names the address.
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

// acquire takes a slot for a call. ok is false if there is none. acquire may cancel a call of another caller.
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

// remove removes a call from the slots. It does nothing if the call was already removed.
func (s *callSlots) remove(of callerClass, caller string, call *context.CancelFunc) {
	left := slices.DeleteFunc(s.by[of][caller], func(other *context.CancelFunc) bool { return other == call })
	s.by[of][caller] = left
	if len(left) == 0 {
		delete(s.by[of], caller)
	}
}
