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

// exponent is the smallest e with |x| < 2^e for all xs; 0 for zeros.
func exponent(xs []float64) int {
	largest := 0.0
	for _, x := range xs {
		largest = max(largest, math.Abs(x))
	}
	_, e := math.Frexp(largest)
	return e
}

// scaled returns x and y in units of 2^e, and the exponent of the unit. Values whose squares are safe anyway come
// back as they are, with the unit 2^0, which is nearly always.
func scaled(x, y []float64, e int) ([]float64, []float64, int) {
	const safe = 400
	if -safe < e && e < safe {
		return x, y, 0
	}
	return shifted(x, -e), shifted(y, -e), e
}

func shifted(xs []float64, by int) []float64 {
	out := make([]float64, len(xs))
	for i, x := range xs {
		out[i] = math.Ldexp(x, by)
	}
	return out
}
