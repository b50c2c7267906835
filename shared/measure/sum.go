package measure

import "math"

// Sum is Neumaier's compensated sum: its error does not grow with the number of terms, so that means that are equal come
// out equal in whatever order and parts their terms come. (A. Neumaier, Rundungsfehleranalyse einiger Verfahren zur
// Summation endlicher Summen, ZAMM 54, 1974.)
type Sum struct{ value, lost float64 }

// Add adds x.
func (s *Sum) Add(x float64) {
	t := s.value + x
	if math.Abs(s.value) >= math.Abs(x) {
		s.lost += (s.value - t) + x
	} else {
		s.lost += (x - t) + s.value
	}
	s.value = t
}

// Total is the sum so far.
func (s *Sum) Total() float64 { return s.value + s.lost }
