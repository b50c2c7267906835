package significance

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"assay/functions/tools/percentile"
	"assay/shared/computation/measure/steps"
)

// Resampled is the result of the paired bootstrap.
type Resampled struct {
	Rounds   int      `json:"rounds" doc:"number of samples of examples in which both runs have a value"`
	Interval Interval `json:"interval" doc:"interval of the difference"`
	P        float64  `json:"p" minimum:"0" maximum:"1" doc:"twice the share of samples in which the run that is worse on most of them is at least as good"`
}

// minSamples is the least number of samples with values that gives a result.
const minSamples = 100

// Samples calls do with rounds samples. A sample has the indices of n examples, drawn from n examples with replacement. do must
// not keep the sample. The error comes from the counter or from do.
func Samples(counter *steps.Counter, n int, seed uint64, rounds int, do func(sample []int) error) error {
	random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // a seed must give the same samples each time
	sample := make([]int, n)
	for range rounds {
		if err := counter.Add(n); err != nil {
			return err
		}
		for i := range sample {
			sample[i] = random.IntN(n)
		}
		if err := do(sample); err != nil {
			return err
		}
	}
	return nil
}

// SampleInterval returns the 95 % percentile interval of a value over samples of examples. The value is NaN for samples for which
// the measure is not defined.
func SampleInterval(values []float64) (Interval, error) {
	values, err := defined(values)
	if err != nil {
		return Interval{}, err
	}
	slices.Sort(values)
	return Interval{percentile.Of(values, 0.025), percentile.Of(values, 0.975)}, nil
}

// defined returns the values that are not NaN. It returns an error if there are fewer than minSamples.
func defined(values []float64) ([]float64, error) {
	values = slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	if len(values) < minSamples {
		return nil, fmt.Errorf("%w: they are defined for too few samples, and %d are needed", ErrUndefined, minSamples)
	}
	return values, nil
}

// sampleDifferences returns a[i] - b[i] where both are defined. Differences that are only rounding are exactly 0.
func sampleDifferences(a, b []float64) ([]float64, error) {
	d := make([]float64, len(a))
	for i := range a {
		d[i] = a[i] - b[i]
		if math.Abs(d[i]) <= Rounding([]float64{a[i], b[i]}) {
			d[i] = 0
		}
	}
	return defined(d)
}

// PairedBootstrap compares two runs by a measure that need not be a mean. a[i] and b[i] are the values of the runs on the same
// sample of examples. p belongs to the level at which the percentile interval of the difference ends at 0 (B. Efron, R. J.
// Tibshirani, An introduction to the bootstrap, 1993, section 15.4). The observed values count as one more sample, as for
// Randomization.
func PairedBootstrap(a, b []float64) (Resampled, error) {
	d, err := sampleDifferences(a, b)
	if err != nil {
		return Resampled{}, err
	}
	var notAbove, notBelow int
	for _, x := range d {
		if x <= 0 {
			notAbove++
		}
		if x >= 0 {
			notBelow++
		}
	}
	interval, err := SampleInterval(d)
	p := 2 * float64(min(notAbove, notBelow)+1) / float64(len(d)+1)
	return Resampled{len(d), interval, min(1, p)}, err
}

// NormalBootstrap returns the p of two runs whose values of a measure are x and y. It uses the normal distribution with the standard
// deviation of the difference over the samples of PairedBootstrap. This p reveals less of single samples than PairedBootstrap, and can be
// lower for few samples. For 10,000 examples there is time for only 150 samples: the p of PairedBootstrap is then at least 2/151, and no p
// corrected for six pairs could be below 0.05.
func NormalBootstrap(x, y float64, a, b []float64) (p float64, err error) {
	d, err := sampleDifferences(a, b)
	if err != nil || math.Abs(x-y) <= Rounding([]float64{x, y}) {
		return 1, err
	}
	return math.Erfc(math.Abs(x-y) / newMoments(d).deviation / math.Sqrt2), nil
}

// levels are the values to which Level rounds up. Seven levels are few enough to reveal little, and reach low enough for
// corrections for 190 pairs. 0.04 is below 0.05 for a single pair only.
var levels = []float64{0.00001, 0.0001, 0.001, 0.01, 0.04, 0.2, 1}

// Level rounds p up to one of a few levels. The result reveals little of the values and still is a valid p.
func Level(p float64) float64 {
	for _, level := range levels {
		if p <= level {
			return level
		}
	}
	return 1
}

// Normal returns the 95 % interval of the mean by the normal distribution. It reveals no more of the values than their mean and
// standard deviation. It is rounded, and needs at least two values.
func Normal(values []float64) (Interval, error) {
	if len(values) < 2 {
		return Interval{}, fmt.Errorf("%w: there is no spread without two values", ErrUndefined)
	}
	m := newMoments(values)
	return normalInterval(m.mean, m.deviation/math.Sqrt(float64(len(values))))
}

// SampleNormal returns the 95 % interval of a value by the normal distribution, with the standard deviation over samples. It is
// rounded.
func SampleNormal(value float64, samples []float64) (Interval, error) {
	samples, err := defined(samples)
	if err != nil {
		return Interval{}, err
	}
	return normalInterval(value, newMoments(samples).deviation)
}

// normalInterval returns an interval whose ends have few digits. Each end lies at most a hundredth of the width further out than
// the exact end.
func normalInterval(m, deviation float64) (Interval, error) {
	if deviation == 0 {
		return Interval{m, m}, nil
	}
	const normal975 = 1.959963984540054
	half := normal975 * deviation
	exponent := int(math.Floor(math.Log10(2*half))) - 2
	step := math.Pow10(exponent)
	i := Interval{decimal(math.Floor((m-half)/step), exponent), decimal(math.Ceil((m+half)/step), exponent)}
	if !(i.Low <= m && m <= i.High) || math.IsInf(i.Low, 0) || math.IsInf(i.High, 0) {
		return Interval{}, fmt.Errorf("%w: they are too small or too large to be squared", ErrUndefined)
	}
	return i, nil
}

// decimal returns n times a power of ten as the nearest float64.
func decimal(n float64, exponent int) float64 {
	x, _ := strconv.ParseFloat(strconv.FormatFloat(n, 'f', 0, 64)+"e"+strconv.Itoa(exponent), 64) // infinite if too large
	return x
}
