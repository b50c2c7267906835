package regression

import (
	"cmp"
	"math"
	"slices"
)

// pearson is the product-moment correlation of x and y.
func pearson(x, y []float64) (float64, string) {
	if reason := undefinedCorrelation(x, y); reason != "" {
		return 0, reason
	}
	// Each side has its own unit: a correlation does not depend on them.
	x, y = scaled(x, exponent(largest(x))), scaled(y, exponent(largest(y)))
	m := newMoments(x, y)
	r := m.xy / math.Sqrt(m.xx*m.yy)
	return max(-1, min(1, r)), ""
}

// spearman is the Pearson correlation of the ranks, where equal values share the mean of their ranks.
func spearman(x, y []float64) (float64, string) {
	if reason := undefinedCorrelation(x, y); reason != "" {
		return 0, reason
	}
	return pearson(ranks(x), ranks(y))
}

// undefinedCorrelation says why a correlation of x and y is not defined; empty when it is.
func undefinedCorrelation(truth, predicted []float64) string {
	switch {
	case len(truth) < 2:
		return tooFew
	case constant(truth):
		return "all values of the truth are equal"
	case constant(predicted):
		return "all predicted values are equal"
	}
	return ""
}

func ranks(xs []float64) []float64 {
	type place struct {
		x float64
		i int
	}
	order := make([]place, len(xs))
	for i, x := range xs {
		order[i] = place{x, i}
	}
	slices.SortFunc(order, func(a, b place) int { return cmp.Compare(a.x, b.x) })
	out := make([]float64, len(xs))
	for from := 0; from < len(order); {
		to := from + 1
		for to < len(order) && order[to].x == order[from].x {
			to++
		}
		shared := float64(from+1+to) / 2
		for _, p := range order[from:to] {
			out[p.i] = shared
		}
		from = to
	}
	return out
}
