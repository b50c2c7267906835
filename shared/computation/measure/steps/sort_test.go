package steps_test

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"assay/shared/computation/measure/steps"
)

func TestSort_SortsAsSlicesDoes(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const n = 400_000
	for name, value := range map[string]func(i int) int{
		"random":     func(int) int { return random.IntN(n) },
		"few":        func(int) int { return random.IntN(3) },
		"equal":      func(int) int { return 1 },
		"ascending":  func(i int) int { return i },
		"descending": func(i int) int { return -i },
	} {
		list := make([]int, n)
		for i := range list {
			list[i] = value(i)
		}
		want := slices.Sorted(slices.Values(list))
		other := slices.Clone(list)
		counter := steps.Of(t.Context())
		steps.Sort(counter, list)
		if !slices.Equal(list, want) || counter.Err() != nil {
			t.Errorf("%s: Sort sorts otherwise", name)
		}
		steps.SortFunc(counter, other, cmp.Compare[int])
		if !slices.Equal(other, want) || counter.Err() != nil {
			t.Errorf("%s: SortFunc sorts otherwise", name)
		}
	}
}

// TestSortFunc_EndsWithTheContext counts comparisons. Sorting a million elements takes more than twenty million.
func TestSortFunc_EndsWithTheContext(t *testing.T) {
	const (
		n      = 1_000_000
		before = 3_000_000
		most   = 300_000
	)
	ctx, cancel := context.WithCancel(t.Context())
	random := rand.New(rand.NewPCG(1, 2))
	list := random.Perm(n)
	made := 0
	counter := steps.Of(ctx)
	steps.SortFunc(counter, list, func(a, b int) int {
		made++
		if made == before {
			cancel()
		}
		return cmp.Compare(a, b)
	})
	if counter.Err() == nil || made > before+most {
		t.Errorf("%d comparisons after the context ended, %v", made-before, counter.Err())
	}
}
