package significance

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"assay/functions/tools/percentile"
	"assay/shared/measure/steps"
)

// Resampled is the result of the paired bootstrap.
type Resampled struct {
	Rounds   int      `json:"rounds" doc:"samples of examples in which both runs have a value"`
	Interval Interval `json:"interval" doc:"of the difference"`
	P        float64  `json:"p" minimum:"0" maximum:"1" doc:"twice the share of samples in which the run that is worse on most of them is at least as good"`
}

// minSamples is how many samples with values it takes to say something.
const minSamples = 100

// Samples calls do with rounds samples of n examples, by their indices: as many as there are, drawn with replacement. do must not keep
// the sample. The error is that of the counter or of do.
func Samples(counter *steps.Counter, n int, seed uint64, rounds int, do func(sample []int) error) error {
	random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // a seed has to give the same samples again
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

// SampleInterval is the percentile interval at 95 % of a value over samples of examples, of which some may be NaN: the measure is not
// defined for these samples.
func SampleInterval(values []float64) (Interval, error) {
	values, err := defined(values)
	if err != nil {
		return Interval{}, err
	}
	slices.Sort(values)
	return Interval{percentile.Of(values, 0.025), percentile.Of(values, 0.975)}, nil
}

// defined are the values that are numbers, which are enough.
func defined(values []float64) ([]float64, error) {
	values = slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	if len(values) < minSamples {
		return nil, fmt.Errorf("%w: they are defined for too few samples, and %d are needed", ErrUndefined, minSamples)
	}
	return values, nil
}

// sampleDifferences are a[i] - b[i] where both are numbers, exactly 0 where that is rounding.
func sampleDifferences(a, b []float64) ([]float64, error) {
	d := make([]float64, len(a))
	for i := range a {
		if d[i] = a[i] - b[i]; math.Abs(d[i]) <= Rounding([]float64{a[i], b[i]}) {
			d[i] = 0
		}
	}
	return defined(d)
}

// PairedBootstrap compares runs by a measure that need be no mean, from its values a[i] and b[i] over the same samples of examples (B.
// Efron, R. J. Tibshirani, An introduction to the bootstrap, 1993, section 15.4): p is that of the level at which the percentile interval
// of the difference ends at 0, where the values as they are count as one more, as for Randomization.
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

// NormalBootstrap is the p of two runs whose values of a measure are x and y, by the normal distribution with the spread of the difference
// over the samples of PairedBootstrap. It says less of single samples, and is not bounded by their number, of which 150 for 10,000 examples
// would leave no corrected p of two pairs below 0.05.
func NormalBootstrap(x, y float64, a, b []float64) (p float64, err error) {
	d, err := sampleDifferences(a, b)
	if err != nil || math.Abs(x-y) <= Rounding([]float64{x, y}) {
		return 1, err
	}
	return math.Erfc(math.Abs(x-y) / newMoments(d).deviation / math.Sqrt2), nil
}

// levels are those that Level rounds up to. Seven of them are few enough to tell little, and reach down to what corrections for
// 190 pairs need; 0.04 is below 0.05 with room for no more than one pair.
var levels = []float64{0.00001, 0.0001, 0.001, 0.01, 0.04, 0.2, 1}

// Level is p rounded up to one of few levels, so that it tells little of the values, and is still a p.
func Level(p float64) float64 {
	for _, level := range levels {
		if p <= level {
			return level
		}
	}
	return 1
}

// Normal is the interval of the mean at 95 % by the normal distribution, which says no more of the values than their mean and their
// spread. It is rounded, and needs two values.
func Normal(values []float64) (Interval, error) {
	if len(values) < 2 {
		return Interval{}, fmt.Errorf("%w: there is no spread without two values", ErrUndefined)
	}
	m := newMoments(values)
	return normalInterval(m.mean, m.deviation/math.Sqrt(float64(len(values))))
}

// SampleNormal is the interval of a value at 95 % by the normal distribution, with its spread over samples. It is rounded.
func SampleNormal(value float64, samples []float64) (Interval, error) {
	samples, err := defined(samples)
	if err != nil {
		return Interval{}, err
	}
	return normalInterval(value, newMoments(samples).deviation)
}

// normalInterval has ends that lie at most a hundredth of its width further out, so that they have few digits.
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

// decimal is n times a power of ten, as near as a float64 can be.
func decimal(n float64, exponent int) float64 {
	x, _ := strconv.ParseFloat(strconv.FormatFloat(n, 'f', 0, 64)+"e"+strconv.Itoa(exponent), 64) // infinite when it is too large
	return x
}
