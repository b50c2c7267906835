package tools

import (
	"math/bits"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestCliques_AgreeWithExhaustiveSearch compares with the plainest way, on graphs of any shape.
func TestCliques_AgreeWithExhaustiveSearch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 9).Draw(t, "vertices")
		joined := make([]uint64, n)
		for i := range n {
			for j := range i {
				if rapid.Bool().Draw(t, "joined") {
					joined[i] |= 1 << j
					joined[j] |= 1 << i
				}
			}
		}
		clique := func(set uint64) bool {
			for rest := set; rest != 0; rest &= rest - 1 {
				v := bits.TrailingZeros64(rest)
				if set&^(joined[v]|1<<v) != 0 {
					return false
				}
			}
			return true
		}
		var want []uint64
		for set := range uint64(1) << n {
			maximal := clique(set)
			for v := range n {
				maximal = maximal && (set>>v&1 == 1 || !clique(set|1<<v))
			}
			if maximal {
				want = append(want, set)
			}
		}
		got := cliques(joined, 1000)
		if !slices.IsSortedFunc(got, func(a, b uint64) int { return int(int64(bits.Reverse64(b)>>1) - int64(bits.Reverse64(a)>>1)) }) {
			t.Fatalf("%b are not in order", got)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Fatalf("%b, want %b", got, want)
		}
		if len(want) > 1 && cliques(joined, len(want)-1) != nil {
			t.Fatal("there are more than asked for, and some are given")
		}
	})
}
