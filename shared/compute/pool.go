package compute

import (
	"context"
	"slices"
	"sync"
	"time"

	"assay/shared/problem"
)

// Caller identifies a caller to a pool.
type Caller struct {
	Name     string // tells callers apart
	LoggedIn bool
}

// Amount is what a computation takes, or what callers have.
type Amount struct{ Slots, Bytes int64 }

func (a Amount) plus(b Amount) Amount { return Amount{a.Slots + b.Slots, a.Bytes + b.Bytes} }

func (a Amount) minus(b Amount) Amount { return Amount{a.Slots - b.Slots, a.Bytes - b.Bytes} }

// within reports whether the amount fits into the most.
func (a Amount) within(most Amount) bool { return a.Slots <= most.Slots && a.Bytes <= most.Bytes }

// Shares is how much of a pool callers may have at the same time.
type Shares struct {
	All       Amount // all callers together
	Anonymous Amount // all callers without a login together
	User      Amount // one user
	Address   Amount // one address without a login
	Wait      time.Duration
}

// of returns the share of one caller.
func (s *Shares) of(c Caller) Amount {
	if c.LoggedIn {
		return s.User
	}
	return s.Address
}

// Halved returns shares of so many slots: a user may have perUser of them, an address half as many, and all callers without a login
// half of all. No caller waits longer than the given time.
func Halved(slots, perUser int64, wait time.Duration) Shares {
	return Shares{All: Amount{Slots: slots}, Anonymous: Amount{Slots: max(slots/2, 1)}, User: Amount{Slots: perUser},
		Address: Amount{Slots: max(perUser/2, 1)}, Wait: wait}
}

// Pool gives slots and memory to callers. Each caller has a queue, and the callers take turns: the one who was served last comes last.
//
// No request starves. A caller's requests are served in their order. The first caller in turn whose own share has room is served next:
// what it lacks is set aside for it, and nobody behind it is served meanwhile. A request waits until computations under way have ended,
// for the caller's own earlier requests, and for at most one request of each other caller before each of them. A caller without
// a login also waits for the share that those callers have together, in turn among them; users pass meanwhile.
type Pool struct {
	shares Shares

	mu        sync.Mutex
	all       Amount // taken by all callers
	anonymous Amount // taken by callers without a login
	accounts  map[Caller]*account
	turns     []*account // accounts with waiting requests, in the order of their turns
}

// account is what one caller has and waits for. It exists as long as there is something.
type account struct {
	caller Caller
	taken  Amount
	queue  []*Slot
}

// Slot is a part of a Pool that one computation has.
type Slot struct {
	pool    *Pool
	account *account
	amount  Amount
	state   state
	served  chan struct{} // closed when a slot that was waited for is taken
}

type state int

const (
	waiting state = iota
	taken
	released
)

// NewPool returns a pool that is divided into the shares.
func NewPool(s Shares) *Pool { return &Pool{shares: s, accounts: map[Caller]*account{}} }

// shortage says whose share has no room for a request.
type shortage int

const (
	noShortage shortage = iota
	ofCaller
	ofAnonymous
	ofAll
)

// problems are the answers to callers who waited without success.
var problems = map[shortage]error{
	ofCaller: problem.TooManyRequests.New("Your other computations are still under way, and you may have no more at a time. Ask again when " +
		"one is done.").After(retryDelay),
	ofAnonymous: problem.Unavailable.New("Computations for callers who are not logged in take all of their share at the moment. Log in, or " +
		"ask again in a few seconds.").After(retryDelay),
	ofAll: problem.Unavailable.New("The server computes for others at the moment. Ask again in a few seconds.").After(retryDelay),
}

// retryDelay is when a refused caller may ask again.
const retryDelay = 5 * time.Second

// Acquire waits for the caller's turn, and for room. The caller releases the slot.
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
		return s, nil // it was served at the last moment
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return nil, problems[lacks]
}

// tooLarge is the answer to a request that the caller's share never has room for.
func (p *Pool) tooLarge(c Caller, n Amount) error {
	most := p.shares.of(c).Bytes
	if !c.LoggedIn && n.within(p.shares.User) {
		return problem.Unauthorized.New("This takes about %d MiB of memory, and callers who are not logged in have %d MiB. Log in, or give "+
			"smaller files: Authorization: Bearer <token>.", n.Bytes>>20, most>>20)
	}
	return problem.TooLarge.New("This takes about %d MiB of memory, and one computation may take %d MiB. Give fewer or smaller files, or get "+
		"the files by their links and use a tool of your own.", n.Bytes>>20, most>>20)
}

// ask puts a request into its caller's queue, and serves all who can be served.
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

// serve gives slots to those whose turn it is, until nothing more can be given.
func (p *Pool) serve() {
	anonymousWait := false // a caller without a login, in turn, waits for their common share
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

// lacks says whose share has no room for the amount.
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

// giveUp removes a waiting request, and says why it had to wait. It reports false when the request has been served.
func (p *Pool) giveUp(s *Slot) (lacks shortage, gaveUp bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.state != waiting {
		return noShortage, false
	}
	a := s.account
	if lacks = p.lacks(a, s.amount); lacks == noShortage {
		lacks = ofAll // what there is was set aside for others
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

// forget drops an account that has nothing and waits for nothing.
func (p *Pool) forget(a *account) {
	if a.taken == (Amount{}) && len(a.queue) == 0 {
		delete(p.accounts, a.caller)
	}
}

// Release gives the slot back. It does nothing for a nil Slot, or for one that was released.
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
