// Package compute shares the processors and the memory of a process among its callers: for computations, which are tools and the
// checks of files that come with a request, and in package api for lists and large bodies. It exists so that callers who ask
// for much do not keep the others waiting until their time is over.
//
// A Pool gives slots and memory to callers in turn. Computations have three pools, so that none keeps those of another kind waiting:
// small ones, checks of submissions, and large ones. Which of them a computation needs is known once its files have been unpacked and
// counted, which takes a slot of its own for as long.
package compute

import (
	"context"
	"runtime"
	"time"
)

const (
	// SmallBytes is how much memory a small computation takes at most.
	SmallBytes = 8 << 20
	// LargeBytes is how much memory all large computations of a process take together at most, and so each of them.
	LargeBytes = 384 << 20
	// maxWait is how long a computation waits for its slot.
	maxWait = 10 * time.Second
)

// Computations are the pools of a process. All of them together hold less than 512 MiB.
type Computations struct {
	small, checks, large *Pool
}

// Process has the pools of this process.
var Process = New(runtime.GOMAXPROCS(0))

// New returns the pools for so many processors. A user has a third of the slots for small computations, and a quarter of those for large
// ones, so that two users leave room for others. All memory for large ones can go to one user, and half of it to callers without a login.
func New(processors int) *Computations {
	atMost := func(slots, least, most int) int64 { return int64(min(max(slots, least), most)) }
	small := atMost(3*processors, 6, 12)
	checks := atMost(processors, 2, 4)
	large := atMost(2*processors, 4, 8)
	ofLarge := Halved(large, large/4, maxWait)
	ofLarge.All.Bytes, ofLarge.User.Bytes = LargeBytes, LargeBytes
	ofLarge.Anonymous.Bytes, ofLarge.Address.Bytes = LargeBytes/2, LargeBytes/2
	return &Computations{
		small:  NewPool(Halved(small, small/3, maxWait)),
		checks: NewPool(Halved(checks, checks/2, maxWait)),
		large:  NewPool(ofLarge),
	}
}

// Work is a computation for a caller.
type Work struct {
	Caller Caller
	Check  bool // the check of a submission, for which slots are kept
	// Memory returns about how much memory Do takes at its peak, with its result. It takes itself less than SmallBytes.
	Memory func(context.Context) (int64, error)
	Do     func(context.Context) error
}

// Run counts the memory of the work, and does it, in slots of the caller's shares. The work is not done when there is an error before.
func (p *Computations) Run(ctx context.Context, w Work) error {
	first := p.small
	if w.Check {
		first = p.checks
	}
	slot, err := first.Acquire(ctx, w.Caller, Amount{Slots: 1})
	if err != nil {
		return err
	}
	defer slot.Release()
	bytes, err := w.Memory(ctx)
	if err != nil {
		return err
	}
	if bytes > SmallBytes {
		slot.Release() // nobody waits for room while having some
		larger, err := p.large.Acquire(ctx, w.Caller, Amount{Slots: 1, Bytes: bytes})
		if err != nil {
			return err
		}
		usual := Frugal()
		defer func() {
			runtime.GC() // or the next computation would add its memory to what this one left behind
			larger.Release()
			usual()
		}()
	}
	return w.Do(ctx)
}
