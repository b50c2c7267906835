package regression

import (
	"cmp"
	"math"
	"slices"

	"assay/shared/lists"
)

// Kendall is tau-b: (C - D) / sqrt((n0 - n1)(n0 - n2)) with C concordant and D discordant pairs, n0 pairs in all, n1
// tied in x and n2 tied in y. Knight's method (W. R. Knight, A computer method for calculating Kendall's tau with
// ungrouped data, JASA 61, 1966) finds D in O(n log n): it is the number of exchanges that sort y once the
// examples stand in the order of x. x and y are as long as each other; the reason says why there is no value, and is
// empty when there is one.
func Kendall(x, y []float64) (value float64, reason string) {
	if reason := undefinedCorrelation(x, y); reason != "" {
		return 0, reason
	}
	type point struct{ x, y float64 }
	points := make([]point, len(x))
	for i := range x {
		points[i] = point{x[i], y[i]}
	}
	slices.SortFunc(points, func(a, b point) int {
		if c := cmp.Compare(a.x, b.x); c != 0 {
			return c
		}
		return cmp.Compare(a.y, b.y)
	})
	tiedX := tiedPairs(len(points), func(i, j int) bool { return points[i].x == points[j].x })
	tiedBoth := tiedPairs(len(points), func(i, j int) bool { return points[i] == points[j] })

	ys := lists.Map(points, func(p point) float64 { return p.y })
	discordant := sortCounting(ys)
	tiedY := tiedPairs(len(ys), func(i, j int) bool { return ys[i] == ys[j] })

	all := pairs(len(x))
	concordant := all - tiedX - tiedY + tiedBoth - discordant
	return float64(concordant-discordant) / math.Sqrt(float64(all-tiedX)*float64(all-tiedY)), ""
}

func pairs(n int) int64 { return int64(n) * int64(n-1) / 2 }

// tiedPairs counts the pairs of equal elements of a sorted sequence of n.
func tiedPairs(n int, equal func(i, j int) bool) int64 {
	var tied int64
	for from := 0; from < n; {
		to := from + 1
		for to < n && equal(from, to) {
			to++
		}
		tied += pairs(to - from)
		from = to
	}
	return tied
}

// sortCounting sorts ys by merging, and returns how many pairs stood in the wrong order.
func sortCounting(ys []float64) int64 {
	var exchanges int64
	from, to := ys, make([]float64, len(ys))
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
func merge(out, a, b []float64) int64 {
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
