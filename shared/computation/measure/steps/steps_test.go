package steps_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"assay/shared/computation/measure/steps"
)

// block is the maximum number of steps of a counter between two looks.
const block = 8192

func unlimited(context.Context) error {
	return errors.New("a budget that is not used up ended a computation")
}

func TestOf_LooksAtItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	counter := steps.Of(ctx)
	if err := counter.Add(1); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := counter.Err(); err != nil {
		t.Errorf("an error without an Add that failed: %v", err)
	}
	made := 0
	for counter.Add(1) == nil {
		made++
		if made > block {
			t.Fatalf("%d steps after the context ended", made)
		}
	}
	if err := counter.Add(1); !errors.Is(err, context.Canceled) || !errors.Is(counter.Err(), context.Canceled) {
		t.Errorf("the next step: %v, and %v; want the error of the context again", err, counter.Err())
	}
	if err := steps.Of(ctx).Add(1); !errors.Is(err, context.Canceled) {
		t.Errorf("the first step of another counter: %v; want the error of the context", err)
	}
	if counter.Total() != 0 {
		t.Errorf("without a total: %d steps", counter.Total())
	}
}

// TestTotal_HasTheStepsOfAllGoroutines also counts in an inner context, like a part of a computation that has its own budget.
func TestTotal_HasTheStepsOfAllGoroutines(t *testing.T) {
	const goroutines, each = 4, 1_000_000
	all, part := steps.New(1<<40, unlimited), steps.New(1<<40, unlimited)
	ctx := steps.With(t.Context(), all)
	within := steps.With(ctx, part)
	var computing sync.WaitGroup
	for i := range goroutines {
		computing.Go(func() {
			counter := steps.Of(ctx)
			if i == 0 {
				counter = steps.Of(within)
			}
			for range each / 2 {
				if err := counter.Add(2); err != nil {
					t.Error(err)
				}
			}
		})
	}
	computing.Wait()
	if n := all.Total(); n < goroutines*each || n > goroutines*(each+block) {
		t.Errorf("%d steps of %d goroutines with %d each", n, goroutines, each)
	}
	if n := part.Total(); n < each || n > each+block || n != steps.Of(within).Total() {
		t.Errorf("%d steps of the part, and %d by its context; want %d", n, steps.Of(within).Total(), each)
	}
}

func TestAdd_CallsOnceBeyondTheBudgetAndEndsWithItsError(t *testing.T) {
	const budget = 3 * block
	full := errors.New("full")
	called := 0
	ctx := steps.With(t.Context(), steps.New(budget, func(context.Context) error { called++; return full }))
	counter := steps.Of(ctx)
	if err := counter.Add(budget); err != nil || called > 0 {
		t.Fatalf("as many steps as the budget has: %v, called %d times", err, called)
	}
	made := 0
	var err error
	for err == nil && made <= block {
		err = counter.Add(1)
		made++
	}
	if !errors.Is(err, full) {
		t.Fatalf("%d steps beyond the budget: %v", made, err)
	}
	if err := counter.Add(1); !errors.Is(err, full) {
		t.Errorf("the next step: %v", err)
	}
	if err := steps.Of(ctx).Add(1); !errors.Is(err, full) || called != 1 {
		t.Errorf("another counter: %v, called %d times", err, called)
	}
}

// TestAdd_WaitsBeyondTheBudget uses a function that blocks. All goroutines of the computation must wait for it, and go on afterwards.
func TestAdd_WaitsBeyondTheBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		goOn := make(chan struct{})
		ctx := steps.With(t.Context(), steps.New(0, func(ctx context.Context) error {
			select {
			case <-goOn:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}))
		var went atomic.Int32
		for range 3 {
			go func() {
				counter := steps.Of(ctx)
				for range 10 {
					if err := counter.Add(block); err != nil {
						t.Error(err)
					}
				}
				went.Add(1)
			}()
		}
		synctest.Wait()
		if n := went.Load(); n != 0 {
			t.Fatalf("%d goroutines went on beyond the budget", n)
		}
		close(goOn)
		synctest.Wait()
		if n := went.Load(); n != 3 {
			t.Errorf("%d of 3 goroutines went on", n)
		}
	})
}

func BenchmarkAdd(b *testing.B) {
	counter := steps.Of(steps.With(b.Context(), steps.New(1<<62, unlimited)))
	for b.Loop() {
		if err := counter.Add(1); err != nil {
			b.Fatal(err)
		}
	}
}
