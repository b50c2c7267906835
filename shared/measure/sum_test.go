package measure_test

import (
	"testing"

	"assay/shared/measure"
)

// Precisions of 2/3 and 0 on one topic each, and of 1/3 on both, have the same mean, whatever else is summed.
func TestEqualMeansAreEqual(t *testing.T) {
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
