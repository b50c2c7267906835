package regression

import (
	"cmp"
	"math"

	"assay/shared/computation/measure/steps"
)

// pearson returns the product-moment correlation.
func (p *pairs) pearson() (float64, string) {
	if reason := p.undefinedCorrelation(); reason != "" {
		return 0, reason
	}
	// Each side has its own unit. A correlation does not depend on the units.
	x := p.scaled(p.truth, exponent(p.largest(p.truth)))
	y := p.scaled(p.predicted, exponent(p.largest(p.predicted)))
	m := p.newMoments(x, y)
	r := m.xy / math.Sqrt(m.xx*m.yy)
	return max(-1, min(1, r)), ""
}

// concordance returns Lin's concordance correlation coefficient.
func (p *pairs) concordance() (float64, string) {
	if len(p.truth) < 2 {
		return 0, tooFew
	}
	e := exponent(max(p.largest(p.truth), p.largest(p.predicted)))
	x, y := p.scaled(p.truth, e), p.scaled(p.predicted, e)
	differences := make([]float64, len(x)) // their mean is more precise than the difference of the means
	for i := range x {
		if p.counter.Add(1) != nil {
			break
		}
		differences[i] = x[i] - y[i]
	}
	m, apart := p.newMoments(x, y), p.mean(differences)
	spread := m.xx + m.yy + float64(len(x))*apart*apart
	if spread == 0 {
		return 0, "all values of truth and predictions are equal"
	}
	return 2 * m.xy / spread, ""
}

// undefinedCorrelation says why a correlation is not defined. It returns "" if it is defined.
func (p *pairs) undefinedCorrelation() string {
	switch {
	case len(p.truth) < 2:
		return tooFew
	case p.constant(p.truth):
		return "all values of the truth are equal"
	case p.constant(p.predicted):
		return "all predicted values are equal"
	}
	return ""
}

// place is a number and its index.
type place struct {
	x float64
	i int
}

// ranks returns the ranks of the numbers of each side. Equal numbers get the mean of their ranks.
func ranks(counter *steps.Counter, x, y []float64) (ofX, ofY []float64) {
	order := make([]place, len(x))
	return ranksOf(counter, x, order), ranksOf(counter, y, order)
}

func ranksOf(counter *steps.Counter, xs []float64, order []place) []float64 {
	for i, x := range xs {
		if counter.Add(1) != nil {
			break
		}
		order[i] = place{x, i}
	}
	steps.SortFunc(counter, order, func(a, b place) int { return cmp.Compare(a.x, b.x) })
	out := make([]float64, len(xs))
	for from := 0; from < len(order); {
		to := from + 1
		for to < len(order) && order[to].x == order[from].x {
			to++
		}
		if counter.Add(to-from) != nil {
			break
		}
		shared := float64(from+1+to) / 2
		for _, p := range order[from:to] {
			out[p.i] = shared
		}
		from = to
	}
	return out
}

// Kendall returns tau-b of x and y, which must have the same length. If tau-b is not defined, the reason says why; otherwise it is empty.
// The value is invalid if the counter has an error.
func Kendall(counter *steps.Counter, x, y []float64) (value float64, reason string) {
	return newPairs(counter, x, y).ranks().kendall()
}

// kendall returns tau-b of pairs of ranks: (C - D) / sqrt((n0 - n1)(n0 - n2)), where C pairs are concordant and D discordant, of n0 pairs
// n1 are tied in x and n2 tied in y. Knight's method finds D in O(n log n): after sorting the examples by x, D is the number of exchanges
// that sort y (W. R. Knight, A computer method for calculating Kendall's tau with ungrouped data, JASA 61, 1966).
func (p *pairs) kendall() (value float64, reason string) {
	if reason := p.undefinedCorrelation(); reason != "" {
		return 0, reason
	}
	const half = 32
	points := make([]uint64, len(p.truth)) // x and y, each doubled, because a mean rank may end in .5
	for i := range points {
		if p.counter.Add(1) != nil {
			break
		}
		points[i] = uint64(2*p.truth[i])<<half | uint64(2*p.predicted[i])
	}
	steps.Sort(p.counter, points)
	tiedX := tiedPairs(p.counter, points, half)
	tiedBoth := tiedPairs(p.counter, points, 0)
	for i, point := range points {
		points[i] = point & (1<<half - 1)
	}
	discordant := sortCounting(p.counter, points)
	tiedY := tiedPairs(p.counter, points, 0)

	all := pairsOf(len(points))
	concordant := all - tiedX - tiedY + tiedBoth - discordant
	return float64(concordant-discordant) / math.Sqrt(float64(all-tiedX)*float64(all-tiedY)), ""
}

func pairsOf(n int) int64 { return int64(n) * int64(n-1) / 2 }

// tiedPairs counts the pairs of elements of a sorted list that are equal after shifting out the last bits.
func tiedPairs(counter *steps.Counter, list []uint64, bits int) int64 {
	var tied int64
	for from := 0; from < len(list) && counter.Add(1) == nil; {
		to := from + 1
		for to < len(list) && list[to]>>bits == list[from]>>bits {
			to++
		}
		tied += pairsOf(to - from)
		from = to
	}
	return tied
}

// sortCounting sorts ys by merging, and returns the number of pairs that were in the wrong order.
func sortCounting(counter *steps.Counter, ys []uint64) int64 {
	var exchanges int64
	from, to := ys, make([]uint64, len(ys))
	for width := 1; width < len(ys); width *= 2 {
		for lo := 0; lo < len(ys); lo += 2 * width {
			mid, hi := min(lo+width, len(ys)), min(lo+2*width, len(ys))
			exchanges += merge(counter, to[lo:hi], from[lo:mid], from[mid:hi])
		}
		from, to = to, from
	}
	copy(ys, from)
	return exchanges
}

// merge merges the sorted lists a and b into out. It counts the pairs of an element of a and a smaller element of b.
func merge(counter *steps.Counter, out, a, b []uint64) int64 {
	var passed int64
	for i := range out {
		if counter.Add(1) != nil {
			break
		}
		if len(b) == 0 || (len(a) > 0 && a[0] <= b[0]) {
			out[i], a = a[0], a[1:]
		} else {
			out[i], b = b[0], b[1:]
			passed += int64(len(a))
		}
	}
	return passed
}
