package significance

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"assay/functions/tools/percentile"
)

// Interval is a range in which a mean lies with a confidence of 95 %.
type Interval struct {
	Low  float64 `json:"low" doc:"lower end of the 95 % interval"`
	High float64 `json:"high" doc:"upper end of the 95 % interval"`
}

// Bootstrap is the percentile interval of the mean at 95 % (B. Efron, R. J. Tibshirani, An introduction to the
// bootstrap, 1993, section 13.3): as many values as there are, drawn with replacement, have a mean; of the means of that
// many rounds the 2.5th and the 97.5th percentiles are the ends, interpolated between neighbours as
// numpy and R (type 7) do. It needs one value.
//
// The interval of a difference of two runs is that of their differences.
func Bootstrap(values []float64, seed uint64, rounds int) (Interval, error) {
	if len(values) == 0 || uint64(len(values)) > math.MaxUint32 {
		return Interval{}, fmt.Errorf("%w: there are %d values", ErrUndefined, len(values))
	}
	size := 0.0
	for i, x := range values {
		if size += math.Abs(x); math.IsNaN(size) || math.IsInf(size, 0) {
			return Interval{}, fmt.Errorf("%w: value %d is %v, and a sum up to it is not finite", ErrUndefined, i+1, x)
		}
	}
	random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // a seed has to give the same interval again
	n := uint32(len(values))
	means := make([]float64, rounds)
	for i := range means {
		sum := 0.0
		for range n {
			sum += values[random.Uint32N(n)]
		}
		means[i] = sum / float64(n)
	}
	slices.Sort(means)
	return Interval{percentile.Of(means, 0.025), percentile.Of(means, 0.975)}, nil
}
