package significance_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"assay/functions/tools/significance"
	"assay/shared/computation/measure/steps"
)

// endless is a context that ends when it is checked for the third time.
type endless struct {
	context.Context
	looks int
}

func (e *endless) Err() error {
	e.looks++
	if e.looks > 2 {
		return context.Canceled
	}
	return nil
}

func TestTests_EndWithTheContext(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	long := make([]float64, 1000)
	zero := make([]float64, len(long))
	for i := range long {
		long[i] = random.Float64()
	}
	short := long[:significance.ExactRandomization]
	for name, test := range map[string]func(*steps.Counter) error{
		"randomization": func(c *steps.Counter) error {
			_, err := significance.Randomization(c, long, zero, 1, 10_000)
			return err
		},
		"exact randomization": func(c *steps.Counter) error {
			_, err := significance.Randomization(c, short, zero[:len(short)], 1, 10_000)
			return err
		},
		"bootstrap": func(c *steps.Counter) error {
			_, err := significance.Bootstrap(c, long, 1, 10_000)
			return err
		},
		"samples": func(c *steps.Counter) error {
			return significance.Samples(c, len(long), 1, 10_000, func([]int) error { return nil })
		},
	} {
		ctx := &endless{Context: t.Context()}
		if err := test(steps.Of(ctx)); !errors.Is(err, context.Canceled) || ctx.looks != 3 {
			t.Errorf("%s: %v after %d looks", name, err, ctx.looks)
		}
	}
}
