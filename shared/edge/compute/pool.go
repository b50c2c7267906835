package compute

import (
	"context"
	"slices"
	"sync"
	"time"

	"assay/shared/language/problem"
)

// Caller identifies a caller to a pool.
type Caller struct {
	Name     string // unique
	LoggedIn bool
}

// Amount is a number of slots and an amount of memory.
type Amount struct{ Slots, Bytes int64 }

func (a Amount) plus(b Amount) Amount { return Amount{a.Slots + b.Slots, a.Bytes + b.Bytes} }

func (a Amount) minus(b Amount) Amount { return Amount{a.Slots - b.Slots, a.Bytes - b.Bytes} }

// within reports whether a is at most the given amount.
func (a Amount) within(most Amount) bool { return a.Slots <= most.Slots && a.Bytes <= most.Bytes }

// Shares are the amounts of a pool that callers may hold at the same time.
type Shares struct {
	All       Amount        // all callers together
	Anonymous Amount        // all callers without a login together
	User      Amount        // one user
	Address   Amount        // one address without a login
	Wait      time.Duration // longest wait of a request
}

// of returns the share of one caller.
func (s *Shares) of(c Caller) Amount {
	if c.LoggedIn {
		return s.User
	}
	return s.Address
}

// Halved returns the shares of a pool with slots only. A user may hold perUser slots, an address half as many, and all callers without a
// login together half of all slots.
func Halved(slots, perUser int64, wait time.Duration) Shares {
	return Shares{All: Amount{Slots: slots}, Anonymous: Amount{Slots: max(slots/2, 1)}, User: Amount{Slots: perUser},
		Address: Amount{Slots: max(perUser/2, 1)}, Wait: wait}
}

// Pool gives slots and memory to callers. Each caller has a queue, and the callers take turns: the caller who was served last comes last.
//
// No request starves. A caller's requests are served in order. The next request served belongs to the first caller in turn whose own
// share has room. If the pool lacks room for it, free room is set aside for it, and no later caller is served meanwhile. So a request
// waits for three things: running computations, the caller's own earlier requests, and at most one request of each other caller before
// each of these.
//
// A caller without a login also waits for the common share of those callers. They take turns in it, and users pass them meanwhile.
type Pool struct {
	shares Shares

	mu        sync.Mutex
	all       Amount // taken by all callers
	anonymous Amount // taken by callers without a login
	accounts  map[Caller]*account
	turns     []*account // accounts with waiting requests, in the order of their turns
}

// account is the state of one caller. It exists while the caller holds or waits for something.
type account struct {
	caller Caller
	taken  Amount
	queue  []*Slot
}

// Slot is a request of a caller, and the part of the Pool that the request gets.
type Slot struct {
	pool    *Pool
	account *account
	amount  Amount
	state   slotState
	served  chan struct{} // closed when a waiting request is served; nil: it was served at once
}

// slotState is the state of a request.
type slotState int

const (
	waiting slotState = iota
	taken
	released
)

// NewPool returns a pool with the shares.
func NewPool(s Shares) *Pool { return &Pool{shares: s, accounts: map[Caller]*account{}} }

// shortage names the share that has no room for a request.
type shortage int

const (
	noShortage shortage = iota
	ofCaller
	ofAnonymous
	ofAll
)

// problems maps shortages to the answers after an unsuccessful wait.
var problems = map[shortage]error{
	ofCaller: problem.TooManyRequests.New("Your other computations are still under way, and you may have no more at a time. Ask again when " +
		"one is done.").After(retryDelay),
	ofAnonymous: problem.Unavailable.New("Computations for callers who are not logged in take all of their share at the moment. Log in, or " +
		"ask again in a few seconds.").After(retryDelay),
	ofAll: problem.Unavailable.New("The server computes for others at the moment. Ask again in a few seconds.").After(retryDelay),
}

// retryDelay is the delay after which a refused caller may try again.
const retryDelay = 5 * time.Second

// Acquire waits for the caller's turn and for room. The caller must release the slot.
func (p *Pool) Acquire(ctx context.Context, c Caller, n Amount) (*Slot, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !n.within(p.shares.of(c)) {
		return nil, p.tooLarge(c, n)
	}
	s := p.ask(c, n)
	if s.served == nil {
		return s, nil
	}
	late := time.NewTimer(p.shares.Wait)
	defer late.Stop()
	select {
	case <-s.served:
		return s, nil
	case <-late.C:
	case <-ctx.Done():
	}
	lacks, gaveUp := p.giveUp(s)
	switch {
	case !gaveUp:
		return s, nil // it was served just before giving up
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return nil, problems[lacks]
}

// tooLarge returns the problem of a request that is larger than the caller's share.
func (p *Pool) tooLarge(c Caller, n Amount) error {
	most := p.shares.of(c).Bytes
	if !c.LoggedIn && n.within(p.shares.User) {
		return problem.Unauthorized.New("This takes about %d MiB of memory, and callers who are not logged in have %d MiB. Log in, or give "+
			"smaller files: Authorization: Bearer <token>.", n.Bytes>>20, most>>20)
	}
	return problem.TooLarge.New("This takes about %d MiB of memory, and one computation may take %d MiB. Give fewer or smaller files, or get "+
		"the files by their links and use a tool of your own.", n.Bytes>>20, most>>20)
}

// ask adds a request to its caller's queue, and serves all requests that can be served.
func (p *Pool) ask(c Caller, n Amount) *Slot {
	p.mu.Lock()
	defer p.mu.Unlock()
	a := p.accounts[c]
	if a == nil {
		a = &account{caller: c}
		p.accounts[c] = a
	}
	s := &Slot{pool: p, account: a, amount: n}
	a.queue = append(a.queue, s)
	if len(a.queue) == 1 {
		p.turns = append(p.turns, a)
	}
	p.serve()
	if s.state == waiting {
		s.served = make(chan struct{})
	}
	return s
}

// serve serves requests in turn until none can be served.
func (p *Pool) serve() {
	anonymousWait := false // a caller without a login waits for the common share, so later ones may not pass
	for i := 0; i < len(p.turns); {
		a := p.turns[i]
		if anonymousWait && !a.caller.LoggedIn {
			i++
			continue
		}
		switch p.lacks(a, a.queue[0].amount) {
		case noShortage:
			p.take(a)
			p.turns = slices.Delete(p.turns, i, i+1)
			if len(a.queue) > 0 {
				p.turns = append(p.turns, a)
			}
		case ofCaller:
			i++
		case ofAnonymous:
			anonymousWait = true
			i++
		case ofAll:
			return
		}
	}
}

// lacks returns which share has no room for the amount.
func (p *Pool) lacks(a *account, n Amount) shortage {
	switch {
	case !a.taken.plus(n).within(p.shares.of(a.caller)):
		return ofCaller
	case !a.caller.LoggedIn && !p.anonymous.plus(n).within(p.shares.Anonymous):
		return ofAnonymous
	case !p.all.plus(n).within(p.shares.All):
		return ofAll
	default:
		return noShortage
	}
}

// take serves the first request of the account.
func (p *Pool) take(a *account) {
	s := a.queue[0]
	a.queue = slices.Delete(a.queue, 0, 1)
	a.taken, p.all = a.taken.plus(s.amount), p.all.plus(s.amount)
	if !a.caller.LoggedIn {
		p.anonymous = p.anonymous.plus(s.amount)
	}
	s.state = taken
	if s.served != nil {
		close(s.served)
	}
}

// giveUp removes a waiting request, and returns the share that lacked room. It reports false if the request was already served.
func (p *Pool) giveUp(s *Slot) (lacks shortage, gaveUp bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.state != waiting {
		return noShortage, false
	}
	a := s.account
	lacks = p.lacks(a, s.amount)
	if lacks == noShortage {
		lacks = ofAll // the free room was set aside for others
	}
	s.state = released
	a.queue = slices.DeleteFunc(a.queue, func(other *Slot) bool { return other == s })
	if len(a.queue) == 0 {
		p.turns = slices.DeleteFunc(p.turns, func(other *account) bool { return other == a })
	}
	p.forget(a)
	p.serve()
	return lacks, true
}

// forget drops an account that neither holds nor waits for anything.
func (p *Pool) forget(a *account) {
	if a.taken == (Amount{}) && len(a.queue) == 0 {
		delete(p.accounts, a.caller)
	}
}

// Release gives the slot back. It does nothing for a nil Slot or a released one.
func (s *Slot) Release() {
	if s == nil {
		return
	}
	p, a := s.pool, s.account
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.state != taken {
		return
	}
	s.state = released
	a.taken, p.all = a.taken.minus(s.amount), p.all.minus(s.amount)
	if !a.caller.LoggedIn {
		p.anonymous = p.anonymous.minus(s.amount)
	}
	p.forget(a)
	p.serve()
}
