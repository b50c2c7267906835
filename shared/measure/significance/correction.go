package significance

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
)

// Bonferroni adjusts the p of several tests so that one at or below a level holds although there were that many chances:
// each is multiplied by their number, up to 1. (O. J. Dunn, Multiple comparisons among means, JASA 56, 1961.) The result
// has the order of p. It is an error for one not to be from 0 to 1.
func Bonferroni(p []float64) ([]float64, error) {
	if err := checkChances(p); err != nil {
		return nil, err
	}
	out := make([]float64, len(p))
	for i, x := range p {
		out[i] = times(x, len(p))
	}
	return out, nil
}

// Holm adjusts like Bonferroni and rejects all that it rejects and more: the least p is multiplied by the number of
// tests, the next by one less, and so on, none ending below the one before it. (S. Holm, A simple sequentially rejective
// multiple test procedure, Scandinavian Journal of Statistics 6, 1979.)
func Holm(p []float64) ([]float64, error) {
	if err := checkChances(p); err != nil {
		return nil, err
	}
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(p[i], p[j]) })
	out, least := make([]float64, len(p)), 0.0
	for rank, i := range order {
		least = max(least, times(p[i], len(p)-rank))
		out[i] = least
	}
	return out, nil
}

// times is a p for so many tests, up to 1. The product is rounded to 14 digits: 7 times 1/140 would else be less than 0.05.
func times(p float64, tests int) float64 {
	if tests == 1 {
		return p
	}
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(p*float64(tests), 'g', 14, 64), 64) // it is a number
	return min(1, rounded)
}

func checkChances(p []float64) error {
	for i, x := range p {
		if !(x >= 0 && x <= 1) {
			return fmt.Errorf("p %d is %v; each is a number from 0 to 1", i+1, x)
		}
	}
	return nil
}
