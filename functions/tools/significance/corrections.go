package significance

import (
	"cmp"
	"slices"
	"strconv"

	"assay/shared/language/lists"
)

// Bonferroni adjusts the p values of several tests: it multiplies each by their number, up to 1. The probability that any
// adjusted p is at or below a level by chance is then at most the level. (O. J. Dunn, Multiple comparisons among means, JASA 56,
// 1961.) The result is in the order of p.
func Bonferroni(p []float64) []float64 {
	return lists.Map(p, func(x float64) float64 { return multiply(x, float64(len(p))) })
}

// Holm adjusts like Bonferroni, and rejects every hypothesis that Bonferroni rejects and possibly more. It multiplies the lowest
// p by the number of tests, the next by one less, and so on. No result is below the one before it. (S. Holm, A simple
// sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6, 1979.) The result is in the order of p.
func Holm(p []float64) []float64 {
	out, least := make([]float64, len(p)), 0.0
	for rank, i := range ascending(p) {
		least = max(least, multiply(p[i], float64(len(p)-rank)))
		out[i] = least
	}
	return out
}

// BenjaminiHochberg adjusts the p values of several tests to bound the false discovery rate. Of the tests whose adjusted p is at
// or below a level, the expected share of false discoveries is at most the level, if the tests are independent or depend on each
// other positively. It multiplies the p of rank i by the number of tests and divides it by i. No result is above the one after
// it. It rejects every hypothesis that Holm rejects and possibly more. (Y. Benjamini, Y. Hochberg, Controlling the false
// discovery rate, Journal of the Royal Statistical Society B 57, 1995.) The result is in the order of p.
func BenjaminiHochberg(p []float64) []float64 {
	out, most := make([]float64, len(p)), 1.0
	for rank, i := range slices.Backward(ascending(p)) {
		most = min(most, multiply(p[i], float64(len(p))/float64(rank+1)))
		out[i] = most
	}
	return out
}

// ascending returns the indices of p, the index of the lowest p first.
func ascending(p []float64) []int {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(p[i], p[j]) })
	return order
}

// multiply returns p * factor, up to 1. It rounds the product to 14 digits. Otherwise 7 times 1/140 would be less than 0.05.
func multiply(p, factor float64) float64 {
	if factor == 1 {
		return p
	}
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(p*factor, 'g', 14, 64), 64) // FormatFloat wrote a number
	return min(1, rounded)
}
