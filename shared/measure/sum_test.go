package measure_test

import (
	"testing"

	"assay/shared/measure"
)

func TestSum_KeepsWhatLargeTermsHide(t *testing.T) {
	var s measure.Sum
	for _, x := range []float64{1, 1e100, 1, -1e100} {
		s.Add(x)
	}
	if got := s.Total(); got != 2 {
		t.Errorf("the sum is %v, want 2", got)
	}
}

// Precisions of 2/3 and 0 on one topic each, and of 1/3 on both, have the same mean, whatever else is summed.
func TestSum_OfEqualMeansIsEqual(t *testing.T) {
	mean := func(a, b float64) float64 {
		var s measure.Sum
		for range 79 {
			s.Add(a)
			s.Add(b)
		}
		return s.Total() / 158
	}
	if x, y := mean(2.0/3, 0), mean(1.0/3, 1.0/3); x != y {
		t.Errorf("%v and %v", x, y)
	}
	if x, y := mean(1, 1.0/3), mean(2.0/3, 2.0/3); x != y {
		t.Errorf("%v and %v", x, y)
	}
}
