// Package compute shares the processors and the memory of a process among its callers: for computations, which are those of
// tools and the checks of files that come with a request, and in package api for lists and large bodies. It exists so that
// callers who ask for much do not keep the others waiting until their time is over.
//
// A computation has a slot of a Pool for as long as it lasts. Each user has a share of the slots, each address without a login
// half as many, and all callers without a login together have half of them, and half of the memory. A caller who finds no
// slot waits for a while, behind others of the same share alone, and is then asked to try again, before the time of the
// request is over.
package compute

import (
	"context"
	"runtime"
	"sync"
	"time"

	"assay/shared/problem"

	"golang.org/x/sync/semaphore"
)

const (
	// MaxBytes is about how much memory all computations of a process take at the same time.
	MaxBytes = 512 << 20
	// maxWait is how long a computation of this process waits for its slot and its memory.
	maxWait = 10 * time.Second
	// retryDelay is when a refused caller may ask again.
	retryDelay = 5 * time.Second
)

// Caller identifies a caller to a pool.
type Caller struct {
	Name     string // tells callers apart
	LoggedIn bool   // is logged in
}

// Pool has slots, and memory for those who have them.
type Pool struct {
	perUser         int64
	maxWait         time.Duration
	all             *semaphore.Weighted // in slots
	anonymous       *semaphore.Weighted
	memory          *semaphore.Weighted // in bytes
	anonymousMemory *semaphore.Weighted // of callers without a login

	mu      sync.Mutex
	callers map[Caller]*share
}

// share is what one caller may have, which is kept while a computation has it or waits for it.
type share struct {
	slots      *semaphore.Weighted
	references int
}

// New returns a pool with so many slots, of which one user has at most perUser, and for which a caller waits at most as long as wait.
func New(slots, perUser int64, wait time.Duration) *Pool {
	return &Pool{
		perUser: perUser, maxWait: wait, all: semaphore.NewWeighted(slots), anonymous: semaphore.NewWeighted(slots / 2),
		memory: semaphore.NewWeighted(MaxBytes), anonymousMemory: semaphore.NewWeighted(MaxBytes / 2), callers: map[Caller]*share{},
	}
}

// Process is the pool for the computations of this process: two for each processor, four at least.
var Process = New(processSlots, processSlots/2, maxWait)

var processSlots = int64(max(2*runtime.GOMAXPROCS(0), 4))

// Slot is a slot of a Pool, with the memory that was acquired for it.
type Slot struct {
	pool    *Pool
	caller  Caller
	until   time.Time
	release []func()
}

// Acquire waits for a slot. The caller releases it, also when memory is refused.
func (p *Pool) Acquire(ctx context.Context, c Caller) (*Slot, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s := &Slot{pool: p, caller: c, until: time.Now().Add(p.maxWait)}
	own := p.join(c)
	s.release = append(s.release, func() { p.leave(c) })
	err := s.take(ctx, own, 1, ownShareTaken)
	if err == nil && !c.LoggedIn {
		err = s.take(ctx, p.anonymous, 1, anonymousShareTaken)
	}
	if err == nil {
		err = s.take(ctx, p.all, 1, busy)
	}
	if err != nil {
		s.Release()
		return nil, err
	}
	return s, nil
}

// The answers to callers who waited without success.
var (
	ownShareTaken = problem.TooManyRequests.New("Your other computations are still under way, and you may have no more at a time. Ask " +
		"again when one is done.").After(retryDelay)
	anonymousShareTaken = problem.Unavailable.New("Computations for callers who are not logged in take all of their share at the moment. " +
		"Log in, or ask again in a few seconds.").After(retryDelay)
	busy = problem.Unavailable.New("The server computes for others at the moment. Ask again in a few seconds.").After(
		retryDelay)
)

// Memory waits for the memory that the computation takes, once for each slot.
func (s *Slot) Memory(ctx context.Context, bytes int64) error {
	bytes = min(bytes, MaxBytes)
	if !s.caller.LoggedIn {
		if bytes > MaxBytes/2 {
			return problem.Unauthorized.New("This takes about %d bytes of memory, and callers who are not logged in have %d. Log in, or give "+
				"smaller files: Authorization: Bearer <token>.", bytes, MaxBytes/2)
		}
		if err := s.take(ctx, s.pool.anonymousMemory, bytes, busy); err != nil {
			return err
		}
	}
	return s.take(ctx, s.pool.memory, bytes, busy)
}

// Release releases the slot and its memory. It does nothing for a nil Slot, or for one that was released.
func (s *Slot) Release() {
	if s == nil {
		return
	}
	for i := len(s.release) - 1; i >= 0; i-- {
		s.release[i]()
	}
	s.release = nil
}

func (s *Slot) take(ctx context.Context, of *semaphore.Weighted, n int64, otherwise error) error {
	if !of.TryAcquire(n) { // which, unlike the context below, costs nothing
		waiting, cancel := context.WithDeadline(ctx, s.until)
		defer cancel()
		if of.Acquire(waiting, n) != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return otherwise
		}
	}
	s.release = append(s.release, func() { of.Release(n) })
	return nil
}

func (p *Pool) join(c Caller) *semaphore.Weighted {
	p.mu.Lock()
	defer p.mu.Unlock()
	own := p.callers[c]
	if own == nil {
		most := p.perUser
		if !c.LoggedIn {
			most /= 2
		}
		own = &share{slots: semaphore.NewWeighted(most)}
		p.callers[c] = own
	}
	own.references++
	return own.slots
}

func (p *Pool) leave(c Caller) {
	p.mu.Lock()
	defer p.mu.Unlock()
	own := p.callers[c]
	own.references--
	if own.references == 0 {
		delete(p.callers, c)
	}
}
