package steps

import (
	"cmp"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// These many elements are sorted without looking at the counter, which takes some milliseconds. A comparison function may be slow, so
// SortFunc sorts fewer.
const (
	mostSorted     = 1 << 18
	mostSortedFunc = 1 << 14
)

// Sort sorts like slices.Sort. If an Add of the counter fails, the order of the list is undefined.
func Sort[E cmp.Ordered](c *Counter, list []E) {
	sort(c, list, mostSorted, cmp.Compare[E], slices.Sort[[]E])
}

// SortFunc sorts like slices.SortFunc. If an Add of the counter fails, the order of the list is undefined.
func SortFunc[E any](c *Counter, list []E, compare func(a, b E) int) {
	sort(c, list, mostSortedFunc, compare, func(part []E) { slices.SortFunc(part, compare) })
}

// SortSteps returns the number of steps for sorting n elements.
func SortSteps(n int) int { return n * bits.Len(uint(n)) }

// sort divides the list by Quicksort into parts that are small enough for sortPart.
func sort[E any](c *Counter, list []E, most int, compare func(a, b E) int, sortPart func([]E)) {
	for len(list) > most {
		if sorted(c, list, compare) {
			return
		}
		n := partition(c, list, compare)
		if c.Err() != nil {
			return
		}
		less, greater := list[:n], list[n:]
		if len(less) > len(greater) {
			less, greater = greater, less
		}
		sort(c, less, most, compare, sortPart)
		list = greater
	}
	if c.Add(SortSteps(len(list))) == nil {
		sortPart(list)
	}
}

func sorted[E any](c *Counter, list []E, compare func(a, b E) int) bool {
	for i := 1; i < len(list) && c.Add(1) == nil; i++ {
		if compare(list[i-1], list[i]) > 0 {
			return false
		}
	}
	return true
}

// partition moves elements so that none of the first n is greater than any of the others, and returns n, where 0 < n < len(list)
// (C. A. R. Hoare, Algorithm 64: Quicksort, CACM 4, 1961). The pivot is random, so no caller can choose data with unequal parts.
func partition[E any](c *Counter, list []E, compare func(a, b E) int) (n int) {
	candidates := make([]int, 9)
	for i := range candidates {
		candidates[i] = rand.IntN(len(list)) //nolint:gosec // callers cannot predict it
	}
	slices.SortFunc(candidates, func(a, b int) int { return compare(list[a], list[b]) })
	median := candidates[len(candidates)/2]
	list[0], list[median] = list[median], list[0]
	pivot := list[0]
	i, j := -1, len(list)
	for c.Err() == nil {
		for j--; compare(list[j], pivot) > 0 && c.Add(1) == nil; j-- {
		}
		for i++; compare(list[i], pivot) < 0 && c.Add(1) == nil; i++ {
		}
		if i >= j {
			break
		}
		list[i], list[j] = list[j], list[i]
		_ = c.Add(1) // the loop checks Err
	}
	return j + 1
}
