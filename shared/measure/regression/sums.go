package regression

import (
	"math"
	"slices"

	"assay/shared/lists"
	"assay/shared/measure"
)

// moments are sums of products of deviations from the means.
type moments struct{ xx, yy, xy float64 }

// newMoments goes over the data twice, and corrects for the rounding of the means (Chan, Golub and LeVeque,
// Algorithms for computing the sample variance, 1983): values of 1e15 and more that differ by little keep their
// digits.
func newMoments(x, y []float64) moments {
	n := float64(len(x))
	meanX, meanY := mean(x), mean(y)
	var xx, yy, xy, restX, restY measure.Sum
	for i := range x {
		dx, dy := x[i]-meanX, y[i]-meanY
		xx.Add(dx * dx)
		yy.Add(dy * dy)
		xy.Add(dx * dy)
		restX.Add(dx)
		restY.Add(dy)
	}
	rx, ry := restX.Total(), restY.Total()
	return moments{
		xx: xx.Total() - rx*rx/n,
		yy: yy.Total() - ry*ry/n,
		xy: xy.Total() - rx*ry/n,
	}
}

func mean(xs []float64) float64 {
	var s measure.Sum
	for _, x := range xs {
		s.Add(x)
	}
	return s.Total() / float64(len(xs))
}

func constant(xs []float64) bool {
	return !slices.ContainsFunc(xs, func(x float64) bool { return x != xs[0] })
}

// largest is the greatest magnitude of xs.
func largest(xs []float64) float64 {
	m := 0.0
	for _, x := range xs {
		m = max(m, math.Abs(x))
	}
	return m
}

// exponent is the exponent e of the unit 2^e in which values of that magnitude can be squared, summed and multiplied again
// without overflow or loss. It is 0, which leaves values as they are, for all but extreme magnitudes.
func exponent(magnitude float64) int {
	const safe = 200
	if math.IsInf(magnitude, 0) {
		return 1025 // a difference of two values is below 2^1025
	}
	if _, e := math.Frexp(magnitude); e <= -safe || e >= safe {
		return e
	}
	return 0
}

// scaled returns xs in the unit 2^e.
func scaled(xs []float64, e int) []float64 {
	if e == 0 {
		return xs
	}
	return lists.Map(xs, func(x float64) float64 { return math.Ldexp(x, -e) })
}
