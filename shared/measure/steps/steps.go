// Package steps counts the work of computations and ends those whose context ended or whose budget is used up. Each loop over data of
// callers, such as examples, lines or samples, counts its rounds. A step takes some nanoseconds in every loop, so that steps of
// different computations compare and, unlike seconds, do not depend on how busy the machine is.
package steps

import (
	"context"
	"runtime"
	"sync/atomic"
)

// block is how many steps a counter takes from its total at once. They last some 50 microseconds, so that looking at a context and at
// memory that goroutines share costs nothing.
const block = 8192

// Counter counts steps. One goroutine uses a counter: each goroutine of a computation has its own by Of, and all of them share one total.
type Counter struct {
	ctx    context.Context
	left   int64 // steps that the totals have already and Add has not
	totals []*total
	err    error
}

// total is what counters of the same computation share.
type total struct {
	steps  atomic.Int64
	budget int64
	beyond func(context.Context) error
	turn   chan struct{} // has one place, for the goroutine that reads and writes the rest
	called bool
	err    error // of beyond
}

// New returns a counter with a budget. The first look beyond the budget calls beyond once, which may block: other goroutines of the
// computation wait with it. Its error ends the computation. Its context is that of the goroutine which looked.
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

// Add counts n steps, which begin after it returns. It returns the context's error if the context ended, or the error of a used up
// budget. Add looks for them at the first steps of a counter and then every 8192 steps.
func (c *Counter) Add(n int) error {
	if c.left -= int64(n); c.left >= 0 {
		return nil
	}
	return c.look()
}

// Err returns the error of an Add that failed. Loops of computations end when Add fails, and leave their result incomplete: ask for Err
// before you use it.
func (c *Counter) Err() error { return c.err }

// look takes the steps that are missing from the totals. After an error, left stays negative, so that each Add asks again. It lets other
// goroutines have the processor, so that requests wait some microseconds for computations and not the 10 ms after which Go interrupts one.
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

// add adds the missing steps and a block in advance, which does not yet count for the budget.
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

// Total returns how many steps all counters with the total of this one have counted. It includes those that counters took in advance: at
// most 8192 for each. Of a context's counter it is the innermost total, and 0 if there is none.
func (c *Counter) Total() int64 {
	if len(c.totals) == 0 {
		return 0
	}
	return c.totals[len(c.totals)-1].steps.Load()
}
