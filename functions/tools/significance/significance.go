// Package significance says how sure one can be that two runs differ: tests of paired values, the size of the effect,
// correction for many comparisons, and intervals around a mean.
//
// The values of two runs are paired: a[i] and b[i] are of the same topic, and a test looks at the differences
// a[i] - b[i]. All tests are two-sided. Values are finite; whatever makes a result undefined is an error that says so,
// never NaN or an infinity.
//
// Values are rounded, so that 0.3 - 0.2 and 0.2 - 0.1 are different float64s. Every test therefore counts differences as
// zero when they are within Rounding of the values of both runs, their sizes as tied when they are within that of each
// other, and all of them as constant when they all are: hits by topic and their share of ten give the same p. (scipy and
// R compare float64s, and rank such sizes apart.)
//
// What is random is drawn from PCG with the caller's seed and added up without fused multiplications, so that a seed
// gives the same numbers on every platform.
package significance

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"assay/shared/measure"

	"gonum.org/v1/gonum/mathext"
)

// ErrUndefined is wrapped by errors that are about the values: the statistic has no value for them, although the call
// was right.
var ErrUndefined = errors.New("not defined for these values")

// TTest is the result of Student's t-test of paired values.
type TTest struct {
	Statistic float64 `json:"statistic" doc:"mean difference divided by its standard error"`
	Freedom   int     `json:"freedom" doc:"degrees of freedom: the number of pairs less one"`
	P         float64 `json:"p" minimum:"0" maximum:"1" doc:"chance of a statistic at least as far from 0, were there no difference"`
}

// PairedT is Student's t-test of paired values (Student, The probable error of a mean, Biometrika 6, 1908). It needs two
// pairs, and is undefined when the differences are constant.
func PairedT(a, b []float64) (TTest, error) {
	d, err := spread(a, b)
	if err != nil {
		return TTest{}, err
	}
	n := float64(len(a))
	t := TTest{Statistic: d.mean / (d.deviation / math.Sqrt(n)), Freedom: len(a) - 1}
	t.P = min(1, mathext.RegIncBeta((n-1)/2, 0.5, (n-1)/(n-1+t.Statistic*t.Statistic))) // of Student's t distribution
	return t, nil
}

// CohensD is the size of the effect in paired values: the mean difference divided by the standard deviation of the
// differences, with n - 1 in the divisor of the variance. It is often written d_z (J. Cohen, Statistical power analysis
// for the behavioral sciences, 1988, section 2.3.5). It needs two pairs, and is undefined when the differences are
// constant.
func CohensD(a, b []float64) (float64, error) {
	d, err := spread(a, b)
	if err != nil {
		return 0, err
	}
	return d.mean / d.deviation, nil
}

// moments are the mean of differences and their standard deviation, which is above 0.
type moments struct{ mean, deviation float64 }

func spread(a, b []float64) (moments, error) {
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
	// Differences are divided by the largest, so that no square is too large or too small for a float64.
	scale := 0.0
	for _, x := range d {
		scale = max(scale, math.Abs(x))
	}
	m := mean(d)
	var squares measure.Sum
	for _, x := range d {
		y := (x - m) / scale
		squares.Add(y * y)
	}
	deviation := scale * math.Sqrt(squares.Total()/float64(len(d)-1))
	if deviation == 0 || math.IsInf(deviation, 0) {
		return moments{}, fmt.Errorf("%w: the differences are too small or too large to be squared", ErrUndefined)
	}
	return moments{m, deviation}, nil
}

// Rounding is how far values may lie apart that are the same but for rounding: 1e-12 of the largest size among them. That
// is some thousand times what arithmetic loses, and far below what any measure distinguishes.
func Rounding(values []float64) float64 {
	largest := 0.0
	for _, x := range values {
		largest = max(largest, math.Abs(x))
	}
	return 1e-12 * largest
}

// differences are a[i] - b[i], exactly 0 where that is rounding, and how far apart equal ones may lie.
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
		s.Add(x / n) // divided first: a sum of finite values need not be finite
	}
	return s.Total()
}
