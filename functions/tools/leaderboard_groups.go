package tools

import (
	"cmp"
	"context"
	"math/bits"
	"slices"

	"assay/functions/tools/significance"
)

// assignGroups gives the entries that are compared the letters of their groups. The groups are the maximal cliques of the graph
// in which entries are joined that cannot be distinguished, so two entries share a letter if and only if they cannot
// (H.-P. Piepho, An algorithm for a letter-based representation of all-pairwise comparisons, Journal of Computational and
// Graphical Statistics 13, 2004, asks that of letters).
func (out *LeaderboardOutput) assignGroups(ctx context.Context, values []map[string]float64) error {
	var compared []int // entries
	for i, v := range values {
		if len(v) > 0 && len(compared) < maxCompared {
			compared = append(compared, i)
		}
	}
	if len(compared) < 2 {
		return nil
	}
	out.Compared = len(compared)
	var chances []float64
	for i, a := range compared {
		for _, b := range compared[i+1:] {
			if err := ctx.Err(); err != nil {
				return err
			}
			chances = append(chances, differenceP(values[a], values[b]))
		}
	}
	corrected := significance.Holm(chances)
	joined := make([]uint64, len(compared))
	pair := 0
	for i := range compared {
		for j := i + 1; j < len(compared); j++ {
			if corrected[pair] >= significanceLevel {
				joined[i] |= 1 << j
				joined[j] |= 1 << i
			}
			pair++
		}
	}
	for n, clique := range cliques(joined, len(groupLetters)) {
		for i, entry := range compared {
			if clique>>i&1 == 1 {
				out.Entries[entry].Group += groupLetters[n : n+1]
			}
		}
	}
	return nil
}

// groupLetters are the names of groups. A graph that needs more of them is too entangled for letters to help.
const groupLetters = "abcdefghijklmnopqrstuvwxyz"

// differenceP is the p of two runs on the topics that both have: of Student's t-test or, where the differences have
// no spread, of the randomization test. It is 1 when there is nothing to test.
func differenceP(a, b map[string]float64) float64 {
	var topics []string
	for topic := range a {
		if _, ok := b[topic]; ok {
			topics = append(topics, topic)
		}
	}
	slices.Sort(topics) // sums depend on the order of their terms
	x, y := make([]float64, len(topics)), make([]float64, len(topics))
	for i, topic := range topics {
		x[i], y[i] = a[topic], b[topic]
	}
	if t, err := significance.PairedT(x, y); err == nil {
		return t.P
	}
	if f, err := significance.Randomization(x, y, 0, significance.Rounds); err == nil {
		return f.P
	}
	return 1
}

// cliques returns the maximal cliques of a graph of up to 64 vertices, whose neighbours are the bits of joined, as bits:
// that with the lowest vertices first. It returns none when there are more than most, of which there can be very many. (C. Bron,
// J. Kerbosch, Algorithm 457: finding all cliques of an undirected graph, Communications of the ACM 16, 1973.)
func cliques(joined []uint64, most int) []uint64 {
	var found []uint64
	var extend func(clique, candidates, seen uint64)
	extend = func(clique, candidates, seen uint64) {
		if len(found) > most {
			return
		}
		if candidates|seen == 0 {
			found = append(found, clique)
			return
		}
		pivot, covered := 0, -1
		for rest := candidates | seen; rest != 0; rest &= rest - 1 {
			v := bits.TrailingZeros64(rest)
			if n := bits.OnesCount64(candidates & joined[v]); n > covered {
				pivot, covered = v, n
			}
		}
		for rest := candidates &^ joined[pivot]; rest != 0; rest &= rest - 1 {
			v := bits.TrailingZeros64(rest)
			bit := uint64(1) << v
			extend(clique|bit, candidates&joined[v], seen&joined[v])
			candidates, seen = candidates&^bit, seen|bit
		}
	}
	extend(0, 1<<len(joined)-1, 0)
	if len(found) > most {
		return nil
	}
	slices.SortFunc(found, func(a, b uint64) int { return cmp.Compare(bits.Reverse64(b), bits.Reverse64(a)) })
	return found
}
