package regression

import "math"

// sum is Neumaier's compensated sum: its error does not grow with the number of terms.
// (A. Neumaier, Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen, ZAMM 54, 1974.)
type sum struct{ value, lost float64 }

func (s *sum) add(x float64) {
	t := s.value + x
	if math.Abs(s.value) >= math.Abs(x) {
		s.lost += (s.value - t) + x
	} else {
		s.lost += (x - t) + s.value
	}
	s.value = t
}

func (s *sum) total() float64 { return s.value + s.lost }

// moments are sums of products of deviations from the means.
type moments struct{ xx, yy, xy float64 }

// newMoments goes over the data twice, and corrects for the rounding of the means (Chan, Golub and LeVeque,
// Algorithms for computing the sample variance, 1983): values of 1e15 and more that differ by little keep their
// digits.
func newMoments(x, y []float64) moments {
	n := float64(len(x))
	meanX, meanY := mean(x), mean(y)
	var xx, yy, xy, restX, restY sum
	for i := range x {
		dx, dy := x[i]-meanX, y[i]-meanY
		xx.add(dx * dx)
		yy.add(dy * dy)
		xy.add(dx * dy)
		restX.add(dx)
		restY.add(dy)
	}
	rx, ry := restX.total(), restY.total()
	return moments{
		xx: xx.total() - rx*rx/n,
		yy: yy.total() - ry*ry/n,
		xy: xy.total() - rx*ry/n,
	}
}

func mean(xs []float64) float64 {
	var s sum
	for _, x := range xs {
		s.add(x)
	}
	return s.total() / float64(len(xs))
}

func constant(xs []float64) bool {
	for _, x := range xs {
		if x != xs[0] {
			return false
		}
	}
	return true
}

// largest is the greatest magnitude of xs.
func largest(xs []float64) float64 {
	m := 0.0
	for _, x := range xs {
		m = max(m, math.Abs(x))
	}
	return m
}

// unit is the exponent e of the unit 2^e in which values of that magnitude can be squared, summed and multiplied again
// without overflow or loss. It is 0, which leaves values as they are, for all but extreme magnitudes.
func unit(magnitude float64) int {
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
	out := make([]float64, len(xs))
	for i, x := range xs {
		out[i] = math.Ldexp(x, -e)
	}
	return out
}
