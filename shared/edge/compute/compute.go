// Package compute shares the processors and the memory of a process among its callers. It serves computations, which are tools and
// checks of files in requests. Package api also uses it for lists and large bodies. A caller who asks for much does not delay others
// until they time out.
//
// A Pool gives slots and memory to callers in turn. There are three pools for computations, so that one kind does not delay another:
// small computations, checks of submissions, and large computations. The memory of a computation is known only after its files have been
// unpacked and counted. The counting takes a slot too.
package compute

import (
	"context"
	"runtime"
	"time"
)

const (
	// SmallBytes is the greatest memory of a small computation.
	SmallBytes = 8 << 20
	// LargeBytes is the greatest memory of all large computations of a process together, and so of each of them.
	LargeBytes = 384 << 20
	// maxWait bounds the wait of a computation for a slot.
	maxWait = 10 * time.Second
)

// Computations holds the pools for the computations of a process. Together they hold less than 512 MiB.
type Computations struct {
	small, checks, large *Pool
}

// Process holds the pools of this process.
var Process = New(runtime.GOMAXPROCS(0))

// New returns the pools for a number of processors. A user can have a third of the slots for small computations, and a quarter of those
// for large ones, so that two users leave room for others. One user can have all memory of the large ones. Callers without a login can
// have half of it.
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
	Check  bool // the work is a check of a submission, which has slots of its own
	// Memory estimates the peak memory of Do, including its result. Memory itself must take less than SmallBytes.
	Memory func(context.Context) (int64, error)
	Do     func(context.Context) error
}

// Run estimates the memory of the work, and does the work, in slots of the caller's shares. If a step before Do fails, Run returns its
// error and does not call Do.
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
		slot.Release() // no work waits for a slot while it holds another
		larger, err := p.large.Acquire(ctx, w.Caller, Amount{Slots: 1, Bytes: bytes})
		if err != nil {
			return err
		}
		usual := Frugal()
		defer func() {
			runtime.GC() // otherwise the garbage of this computation would add to the memory of the next one
			larger.Release()
			usual()
		}()
	}
	return w.Do(ctx)
}
