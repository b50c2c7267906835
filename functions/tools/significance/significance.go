// Package significance tests whether two runs differ. It has tests of paired values, the size of the effect, corrections for many
// comparisons, and intervals of a mean.
//
// The values of two runs are paired: a[i] and b[i] belong to the same topic, and a test looks at the differences a[i] - b[i]. All
// tests are two-sided. Values are finite. If a result is undefined, the function returns an error that says why, never NaN or an
// infinity.
//
// Values are rounded, so 0.3 - 0.2 and 0.2 - 0.1 are different float64s. The tests allow for that, by the tolerance Rounding of
// the values of both runs. Differences within it count as zero. Sizes of differences within it of each other count as tied, and
// differences count as constant if all are within it of each other. Numbers of hits and their tenths therefore give the same p.
// (scipy and R compare float64s, and rank such sizes differently.)
//
// Random numbers come from PCG with the caller's seed, and sums use no fused multiplications. A seed therefore gives the same
// results on every platform.
package significance

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"assay/functions/tools/percentile"
	"assay/shared/computation/measure"
	"assay/shared/computation/measure/steps"

	"gonum.org/v1/gonum/mathext"
)

// ErrUndefined is wrapped by errors about the values: the arguments are valid, but the statistic is not defined for them.
var ErrUndefined = errors.New("not defined for these values")

// TTest is the result of Student's t-test of paired values.
type TTest struct {
	Statistic float64 `json:"statistic" doc:"mean difference divided by its standard error"`
	Freedom   int     `json:"freedom" doc:"degrees of freedom: the number of pairs minus one"`
	P         float64 `json:"p" minimum:"0" maximum:"1" doc:"probability of a statistic at least as far from 0 if the runs do not differ"`
}

// PairedT is Student's t-test of paired values (Student, The probable error of a mean, Biometrika 6, 1908). It needs at least two
// pairs, and is undefined if the differences are constant.
func PairedT(a, b []float64) (TTest, error) {
	d, err := momentsOf(a, b)
	if err != nil {
		return TTest{}, err
	}
	n := float64(len(a))
	t := TTest{Statistic: d.mean / (d.deviation / math.Sqrt(n)), Freedom: len(a) - 1}
	t.P = min(1, mathext.RegIncBeta((n-1)/2, 0.5, (n-1)/(n-1+t.Statistic*t.Statistic))) // by Student's t distribution
	return t, nil
}

// Shifted reports whether at least two pairs have one and the same difference, and it is not 0. Student's statistic is infinite there: it
// has no bound while the spread of the differences goes to 0.
func Shifted(a, b []float64) bool {
	d, rounding, err := differences(a, b)
	return err == nil && len(d) > 1 && d[0] != 0 && slices.Max(d)-slices.Min(d) <= rounding
}

// CohensD is the size of the effect in paired values: the mean difference divided by the standard deviation of the differences,
// with n - 1 in the divisor of the variance. It is often written d_z (J. Cohen, Statistical power analysis for the behavioral
// sciences, 1988, section 2.3.5). It needs at least two pairs, and is undefined if the differences are constant.
func CohensD(a, b []float64) (float64, error) {
	d, err := momentsOf(a, b)
	if err != nil {
		return 0, err
	}
	return d.mean / d.deviation, nil
}

// moments holds the mean of values and their standard deviation, with n - 1 in the divisor of the variance.
type moments struct{ mean, deviation float64 }

func momentsOf(a, b []float64) (moments, error) {
	d, rounding, err := differences(a, b)
	if err != nil {
		return moments{}, err
	}
	if len(d) < 2 {
		return moments{}, fmt.Errorf("%w: there is only one pair, and no spread without two", ErrUndefined)
	}
	if slices.Max(d)-slices.Min(d) <= rounding {
		return moments{}, fmt.Errorf("%w: all differences are %.10g, so they have no spread to compare them with", ErrUndefined, d[0])
	}
	m := newMoments(d)
	if !(m.deviation > 0) || math.IsInf(m.deviation, 0) {
		return moments{}, fmt.Errorf("%w: the differences are too small or too large to be squared", ErrUndefined)
	}
	return m, nil
}

// newMoments returns the moments of at least two values. It divides deviations by the largest, so that no square overflows or
// underflows.
func newMoments(values []float64) moments {
	m, scale := mean(values), 0.0
	for _, x := range values {
		scale = max(scale, math.Abs(x-m))
	}
	if scale == 0 {
		return moments{mean: m}
	}
	var squares measure.Sum
	for _, x := range values {
		y := (x - m) / scale
		squares.Add(y * y)
	}
	return moments{m, scale * math.Sqrt(squares.Total()/float64(len(values)-1))}
}

// Rounding returns the largest distance of values that differ only by rounding: 1e-12 of the largest size among the values. This
// is some thousand times the error of arithmetic, and far less than any difference that a measure can have.
func Rounding(values []float64) float64 {
	largest := 0.0
	for _, x := range values {
		largest = max(largest, math.Abs(x))
	}
	return 1e-12 * largest
}

// differences returns a[i] - b[i], exactly 0 for differences that are only rounding. rounding is the largest distance of equal
// differences.
func differences(a, b []float64) (d []float64, rounding float64, err error) {
	if len(a) != len(b) {
		return nil, 0, fmt.Errorf("%d values cannot be paired with %d; give both runs a value for each topic", len(a), len(b))
	}
	if len(a) == 0 {
		return nil, 0, fmt.Errorf("%w: there are no values", ErrUndefined)
	}
	rounding = max(Rounding(a), Rounding(b))
	d = make([]float64, len(a))
	for i := range a {
		x := a[i] - b[i]
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, 0, fmt.Errorf("the values %v and %v of pair %d have no finite difference", a[i], b[i], i+1)
		}
		if math.Abs(x) > rounding {
			d[i] = x
		}
	}
	return d, rounding, nil
}

func mean(xs []float64) float64 {
	n := float64(len(xs))
	var s measure.Sum
	for _, x := range xs {
		s.Add(x / n) // divides before adding, because the sum of finite values can overflow
	}
	return s.Total()
}

const (
	// Rounds is the default number of random draws.
	Rounds = 10_000
	// ExactRandomization is the largest number of differences for which Randomization tries all combinations of signs, 65,536.
	ExactRandomization = 16
)

// SignFlips is the result of the randomization test.
type SignFlips struct {
	Difference float64 `json:"difference" doc:"mean difference"`
	Rounds     int     `json:"rounds" doc:"number of combinations of signs that were tried"`
	Exact      bool    `json:"exact" doc:"whether all combinations were tried"`
	P          float64 `json:"p" minimum:"0" maximum:"1" doc:"probability of a mean difference at least as far from 0 if the runs do not differ"`
}

// Randomization is Fisher's randomization test of paired values (R. A. Fisher, The design of experiments, 1935, section 21). If
// the runs do not differ, each difference could have the opposite sign with the same probability. p is the share of combinations
// of signs whose mean is at least as far from 0 as the observed mean.
//
// For up to 16 nonzero differences, all combinations are counted and the seed does not matter. For more differences, rounds
// combinations are drawn, and the observed one counts as one more (B. Phipson, G. K. Smyth, Permutation p-values should never be
// zero, SAGMB 9, 2010). p is therefore never below 1 / (rounds + 1).
//
// The error comes from the counter, or says that the test is undefined for the values.
func Randomization(counter *steps.Counter, a, b []float64, seed uint64, rounds int) (SignFlips, error) {
	all, rounding, err := differences(a, b)
	if err != nil {
		return SignFlips{}, err
	}
	// A difference of 0 stays the same with either sign.
	var d []float64
	size, observed := 0.0, 0.0
	for _, x := range all {
		if x != 0 {
			d = append(d, x)
			size += math.Abs(x)
			observed += x
		}
	}
	if math.IsInf(size, 0) {
		return SignFlips{}, fmt.Errorf("%w: the differences are too large to be summed", ErrUndefined)
	}
	// Sums count as equal if they differ only by the rounding of their terms.
	least := math.Abs(observed) - rounding*float64(len(d))
	result := SignFlips{Difference: mean(all), Rounds: rounds}
	extreme := 0
	if len(d) <= ExactRandomization {
		result.Exact, result.Rounds = true, 1<<len(d)
		for signs := range uint64(result.Rounds) {
			if err := counter.Add(len(d)); err != nil {
				return SignFlips{}, err
			}
			if math.Abs(signed(d, signs)) >= least {
				extreme++
			}
		}
		result.P = float64(extreme) / float64(result.Rounds)
		return result, nil
	}
	source := rand.NewPCG(seed, 0)
	for range rounds {
		if err := counter.Add(len(d)); err != nil {
			return SignFlips{}, err
		}
		sum := 0.0
		for from := 0; from < len(d); from += 64 {
			sum += signed(d[from:min(from+64, len(d))], source.Uint64())
		}
		if math.Abs(sum) >= least {
			extreme++
		}
	}
	result.P = float64(extreme+1) / float64(rounds+1)
	return result, nil
}

// signed sums at most 64 values, with the opposite sign for each value whose bit in signs is 1.
func signed(d []float64, signs uint64) float64 {
	sum := 0.0
	for i, x := range d {
		sum += math.Float64frombits(math.Float64bits(x) ^ bits.RotateLeft64(signs>>i&1, 63))
	}
	return sum
}

// Interval is a 95 % confidence interval.
type Interval struct {
	Low  float64 `json:"low" doc:"lower end of the 95 % interval"`
	High float64 `json:"high" doc:"upper end of the 95 % interval"`
}

// Bootstrap returns the 95 % percentile interval of the mean (B. Efron, R. J. Tibshirani, An introduction to the bootstrap, 1993,
// section 13.3). Each round draws as many values as there are, with replacement, and computes their mean. The ends of the
// interval are the 2.5th and 97.5th percentiles of these means, interpolated between neighbours like numpy and R (type 7). It
// needs at least one value.
//
// For the difference of two runs, values are their differences by topic. The error comes from the counter or is about the values.
func Bootstrap(counter *steps.Counter, values []float64, seed uint64, rounds int) (Interval, error) {
	if len(values) == 0 || uint64(len(values)) > math.MaxUint32 {
		return Interval{}, fmt.Errorf("%w: there are %d values", ErrUndefined, len(values))
	}
	size := 0.0
	for i, x := range values {
		size += math.Abs(x)
		if math.IsNaN(size) || math.IsInf(size, 0) {
			return Interval{}, fmt.Errorf("%w: value %d is %v, and a sum up to it is not finite", ErrUndefined, i+1, x)
		}
	}
	random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // a seed must give the same interval each time
	n := uint32(len(values))
	means := make([]float64, rounds)
	for i := range means {
		if err := counter.Add(len(values)); err != nil {
			return Interval{}, err
		}
		sum := 0.0
		for range n {
			sum += values[random.Uint32N(n)]
		}
		means[i] = sum / float64(n)
	}
	slices.Sort(means)
	return Interval{percentile.Of(means, 0.025), percentile.Of(means, 0.975)}, nil
}
