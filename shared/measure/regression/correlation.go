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

// concordance is Lin's coefficient of x and y.
func concordance(x, y []float64) (float64, string) {
	if len(x) < 2 {
		return 0, tooFew
	}
	e := exponent(max(largest(x), largest(y)))
	x, y = scaled(x, e), scaled(y, e)
	differences := make([]float64, len(x)) // whose mean has more digits than the difference of the means
	for i := range x {
		differences[i] = x[i] - y[i]
	}
	m, apart := newMoments(x, y), mean(differences)
	spread := m.xx + m.yy + float64(len(x))*apart*apart
	if spread == 0 {
		return 0, "all values of truth and predictions are equal"
	}
	return 2 * m.xy / spread, ""
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

// place is where a number stands among others.
type place struct {
	x float64
	i int
}

// ranks are those of the numbers of both sides, where equal ones share the mean of theirs.
func ranks(x, y []float64) (ofX, ofY []float64) {
	order := make([]place, len(x))
	return ranksOf(x, order), ranksOf(y, order)
}

func ranksOf(xs []float64, order []place) []float64 {
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

// Kendall is tau-b of x and y, which are as long as each other; the reason says why there is no value, and is empty when there is one.
func Kendall(x, y []float64) (value float64, reason string) { return kendall(ranks(x, y)) }

// kendall is tau-b of ranks: (C - D) / sqrt((n0 - n1)(n0 - n2)) with C concordant and D discordant pairs, n0 pairs in all, n1
// tied in x and n2 tied in y. Knight's method (W. R. Knight, A computer method for calculating Kendall's tau with
// ungrouped data, JASA 61, 1966) finds D in O(n log n): it is the number of exchanges that sort y once the
// examples stand in the order of x.
func kendall(x, y []float64) (value float64, reason string) {
	if reason := undefinedCorrelation(x, y); reason != "" {
		return 0, reason
	}
	const half = 32
	points := make([]uint64, len(x)) // x and y, each doubled: a mean rank may have a half
	for i := range points {
		points[i] = uint64(2*x[i])<<half | uint64(2*y[i])
	}
	slices.Sort(points)
	tiedX, tiedBoth := tiedPairs(points, half), tiedPairs(points, 0)
	for i, p := range points {
		points[i] = p & (1<<half - 1)
	}
	discordant := sortCounting(points)
	tiedY := tiedPairs(points, 0)

	all := pairs(len(x))
	concordant := all - tiedX - tiedY + tiedBoth - discordant
	return float64(concordant-discordant) / math.Sqrt(float64(all-tiedX)*float64(all-tiedY)), ""
}

func pairs(n int) int64 { return int64(n) * int64(n-1) / 2 }

// tiedPairs counts the pairs of elements of a sorted list that are equal without their last bits.
func tiedPairs(list []uint64, bits int) int64 {
	var tied int64
	for from := 0; from < len(list); {
		to := from + 1
		for to < len(list) && list[to]>>bits == list[from]>>bits {
			to++
		}
		tied += pairs(to - from)
		from = to
	}
	return tied
}

// sortCounting sorts ys by merging, and returns how many pairs stood in the wrong order.
func sortCounting(ys []uint64) int64 {
	var exchanges int64
	from, to := ys, make([]uint64, len(ys))
	for width := 1; width < len(ys); width *= 2 {
		for lo := 0; lo < len(ys); lo += 2 * width {
			mid, hi := min(lo+width, len(ys)), min(lo+2*width, len(ys))
			exchanges += merge(to[lo:hi], from[lo:mid], from[mid:hi])
		}
		from, to = to, from
	}
	copy(ys, from)
	return exchanges
}

// merge writes the sorted a and b to out in order, and counts the pairs in which b's element passes one of a's.
func merge(out, a, b []uint64) int64 {
	var passed int64
	for i := range out {
		if len(b) == 0 || (len(a) > 0 && a[0] <= b[0]) {
			out[i], a = a[0], a[1:]
		} else {
			out[i], b = b[0], b[1:]
			passed += int64(len(a))
		}
	}
	return passed
}
