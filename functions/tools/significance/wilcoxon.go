package significance

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// exactWilcoxon is the largest number of differences for which the distribution of rank sums is counted exactly, as in scipy. Its
// counts are below 2^50, so a float64 holds them exactly.
const exactWilcoxon = 50

// SignedRank is the result of Wilcoxon's signed-rank test.
type SignedRank struct {
	Plus  float64 `json:"plus" doc:"sum of the ranks of positive differences (V in R)"`
	Minus float64 `json:"minus" doc:"sum of the ranks of negative differences; the lower of both sums is scipy's statistic"`
	Zeros int     `json:"zeros" doc:"number of pairs without a difference, which the test leaves out"`
	Exact bool    `json:"exact" doc:"whether p is exact and not approximated"`
	P     float64 `json:"p" minimum:"0" maximum:"1" doc:"probability of sums at least as different if the runs do not differ"`
}

// Wilcoxon is the signed-rank test (F. Wilcoxon, Individual comparisons by ranking methods, Biometrics Bulletin 1, 1945). It
// ranks the differences by size. Equal sizes share their mean rank. It leaves out pairs without a difference, like zero_method
// "wilcox", scipy's default.
//
// For up to 50 differences p is exact, also with ties: it counts all combinations of signs for the given sizes. It equals the p
// of scipy's wilcoxon with method=PermutationMethod(n_resamples=np.inf). For more differences, p comes from the normal
// distribution with corrections for ties and for continuity, as in R's wilcox.test and scipy's wilcoxon with correction=True and
// method="asymptotic". The test is undefined if every difference is 0.
func Wilcoxon(a, b []float64) (SignedRank, error) {
	d, rounding, err := differences(a, b)
	if err != nil {
		return SignedRank{}, err
	}
	pairs := len(d)
	d = slices.DeleteFunc(d, func(x float64) bool { return x == 0 })
	n := len(d)
	if n == 0 {
		return SignedRank{}, fmt.Errorf("%w: all pairs are equal, so there is nothing to rank", ErrUndefined)
	}
	slices.SortFunc(d, func(x, y float64) int { return cmp.Compare(math.Abs(x), math.Abs(y)) })
	r := rankBySize(d, rounding)
	s := SignedRank{
		Plus:  float64(r.plus) / 2,
		Minus: float64(r.minus) / 2,
		Zeros: pairs - n,
		Exact: n <= exactWilcoxon,
	}
	if s.Exact {
		s.P = min(1, 2*rankSumCDF(r.ranks, min(r.plus, r.minus)))
	} else {
		s.P = normalWilcoxon(s.Plus, float64(n), r.ties)
	}
	return s, nil
}

// doubledRanks are the ranks of differences by size. Ranks and their sums are doubled, because the mean rank of ties may end in .5.
type doubledRanks struct {
	ranks       []int
	plus, minus int     // sums of the ranks of positive and of negative differences
	ties        float64 // sum of t^3 - t over groups of t tied differences
}

// rankBySize ranks differences that are sorted by size. Sizes are tied if they differ by at most rounding.
func rankBySize(sorted []float64, rounding float64) (r doubledRanks) {
	n := len(sorted)
	for from := 0; from < n; {
		to := from + 1
		for to < n && math.Abs(sorted[to])-math.Abs(sorted[from]) <= rounding {
			to++
		}
		rank := from + 1 + to // twice the mean of the ranks from+1 to to
		for _, x := range sorted[from:to] {
			r.ranks = append(r.ranks, rank)
			if x > 0 {
				r.plus += rank
			} else {
				r.minus += rank
			}
		}
		t := float64(to - from)
		r.ties += t*t*t - t
		from = to
	}
	return r
}

// normalWilcoxon returns p by the normal distribution, for a sum of ranks of n differences.
func normalWilcoxon(sum, n, ties float64) float64 {
	deviation := math.Sqrt(n*(n+1)*(2*n+1)/24 - ties/48)
	distance := math.Abs(sum - n*(n+1)/4)
	z := max(0, distance-0.5) / deviation
	return math.Erfc(z / math.Sqrt2)
}

// rankSumCDF returns the probability that the ranks, each chosen with probability 1/2, add up to at most sum.
func rankSumCDF(ranks []int, sum int) float64 {
	ways := make([]float64, sum+1) // number of subsets of the ranks so far, by their sum
	ways[0] = 1
	for _, rank := range ranks {
		for s := sum; s >= rank; s-- {
			ways[s] += ways[s-rank]
		}
	}
	total := 0.0
	for _, w := range ways {
		total += w
	}
	return math.Ldexp(total, -len(ranks))
}
