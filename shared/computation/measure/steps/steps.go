// Package steps counts the work of computations, and ends a computation when its context ends or its budget is used up. Each loop over
// data of callers, such as examples, lines or samples, counts its rounds. A step takes some nanoseconds in every loop. So steps of
// different computations are comparable and, unlike seconds, do not depend on how busy the machine is.
package steps

import (
	"context"
	"runtime"
	"sync/atomic"
)

// block is the number of steps that a counter adds to its totals at once. A block lasts some 50 microseconds, so the cost of looking at a
// context and at memory that goroutines share is negligible.
const block = 8192

// Counter counts steps. A Counter is for one goroutine: each goroutine of a computation gets its own from Of. All of them share one total.
type Counter struct {
	ctx    context.Context
	left   int64 // steps that were added to the totals in advance
	totals []*total
	err    error
}

// total is the state that counters of one computation share.
type total struct {
	steps  atomic.Int64
	budget int64
	beyond func(context.Context) error
	turn   chan struct{} // a lock with one place, for called and err
	called bool
	err    error // of beyond
}

// New returns a counter with a budget. When the budget is used up, beyond is called once, with the context of the goroutine that noticed.
// beyond may block; other goroutines of the computation then wait too. An error of beyond ends the computation.
func New(budget int64, beyond func(context.Context) error) *Counter {
	t := &total{budget: budget, beyond: beyond, turn: make(chan struct{}, 1)}
	return &Counter{ctx: context.Background(), totals: []*total{t}}
}

// key is the key of the totals in a context.
type key struct{}

// With returns a context whose steps count for the counter, and also for the counters that the context already has.
func With(ctx context.Context, c *Counter) context.Context {
	outer := totalsOf(ctx)
	return context.WithValue(ctx, key{}, append(outer[:len(outer):len(outer)], c.totals...))
}

func totalsOf(ctx context.Context) []*total {
	all, _ := ctx.Value(key{}).([]*total)
	return all
}

// Of returns a new counter for the goroutine, with the totals of the context. If the context has none, the counter only looks whether the
// context ended.
//
// A counter takes steps in advance and does not return them. Code that runs often, such as for each example, takes the counter of its
// caller as an argument instead of a new one.
func Of(ctx context.Context) *Counter {
	return &Counter{ctx: ctx, totals: totalsOf(ctx)}
}

// Add counts n steps, which begin after it returns. It returns the context's error if the context ended, or the error of the function for
// a used up budget. Add looks for both at the first steps of a counter and then every 8192 steps.
func (c *Counter) Add(n int) error {
	c.left -= int64(n)
	if c.left >= 0 {
		return nil
	}
	return c.look()
}

// Err returns the error of an Add that failed. Loops of computations end when Add fails, and leave their result incomplete: ask for Err
// before you use it.
func (c *Counter) Err() error { return c.err }

// look adds the steps that the totals lack, and checks the context and the budgets. After an error, left stays negative, so that each Add
// looks again. look also yields the processor, so that requests wait some microseconds for computations, and not the 10 ms after which Go
// interrupts a goroutine.
func (c *Counter) look() error {
	runtime.Gosched()
	if c.err == nil {
		c.err = c.ctx.Err()
	}
	for _, t := range c.totals {
		if c.err == nil {
			c.err = t.add(c.ctx, -c.left)
		}
	}
	if c.err == nil {
		c.left = block
	}
	return c.err
}

// add adds the missing steps and a block in advance. The block does not count for the budget yet.
func (t *total) add(ctx context.Context, missing int64) error {
	if t.steps.Add(missing+block)-block <= t.budget {
		return nil
	}
	select {
	case t.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-t.turn }()
	if !t.called {
		t.called = true
		t.err = t.beyond(ctx)
	}
	return t.err
}

// Total returns the number of steps of all counters that share this counter's total. If a counter has several totals, Total returns the
// innermost; if it has none, 0. The number includes the steps that counters added in advance: at most 8192 each.
func (c *Counter) Total() int64 {
	if len(c.totals) == 0 {
		return 0
	}
	return c.totals[len(c.totals)-1].steps.Load()
}
