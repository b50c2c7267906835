package significance

import (
	"cmp"
	"slices"
	"strconv"

	"assay/shared/lists"
)

// Bonferroni adjusts the p of several tests so that one at or below a level holds although there were that many chances:
// each is multiplied by their number, up to 1. (O. J. Dunn, Multiple comparisons among means, JASA 56, 1961.) The result
// has the order of p.
func Bonferroni(p []float64) []float64 {
	return lists.Map(p, func(x float64) float64 { return multiply(x, float64(len(p))) })
}

// Holm adjusts like Bonferroni and rejects all that it rejects and more: the least p is multiplied by the number of
// tests, the next by one less, and so on, none ending below the one before it. (S. Holm, A simple sequentially rejective
// multiple test procedure, Scandinavian Journal of Statistics 6, 1979.)
func Holm(p []float64) []float64 {
	out, least := make([]float64, len(p)), 0.0
	for rank, i := range ascending(p) {
		least = max(least, multiply(p[i], float64(len(p)-rank)))
		out[i] = least
	}
	return out
}

// BenjaminiHochberg adjusts the p of several tests so that, of those at or below a level, at most that share is expected to
// be there by chance, if the tests are independent or depend on each other positively: the p of rank i is multiplied by
// the number of tests and divided by i, none ending above the one after it. (Y. Benjamini, Y. Hochberg, Controlling the
// false discovery rate, Journal of the Royal Statistical Society B 57, 1995.) It rejects all that Holm rejects and more.
func BenjaminiHochberg(p []float64) []float64 {
	out, most := make([]float64, len(p)), 1.0
	for rank, i := range slices.Backward(ascending(p)) {
		most = min(most, multiply(p[i], float64(len(p))/float64(rank+1)))
		out[i] = most
	}
	return out
}

// ascending lists the indices of p, that of the least first.
func ascending(p []float64) []int {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(p[i], p[j]) })
	return order
}

// multiply is a p multiplied, up to 1. The product is rounded to 14 digits: 7 times 1/140 would else be less than 0.05.
func multiply(p, factor float64) float64 {
	if factor == 1 {
		return p
	}
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(p*factor, 'g', 14, 64), 64) // it is a number
	return min(1, rounded)
}
