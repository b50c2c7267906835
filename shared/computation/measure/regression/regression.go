// Package regression compares predicted numbers with true numbers.
//
// # Definitions
//
//   - MSE: mean of the squared differences. RMSE: its square root. MAE: mean of the absolute differences.
//   - R2: 1 - SSE/SST, where SST is about the mean of the truth.
//   - Pearson: product-moment correlation. Spearman: Pearson correlation of the ranks. Kendall: tau-b.
//   - CCC: 2 cov / (var + var + squared difference of the means) (Lin, Biometrics 45, 1989).
//
// The families of package measure state the conventions, such as values that are not defined. Values equal the values of scikit-learn and
// scipy. A measure that is not defined has no value but a reason, never NaN.
//
// Sums are compensated, and deviations are taken from the mean in a second pass, in a unit in which nothing overflows. So large offsets and
// extreme magnitudes lose no digits. General libraries do not do this, so the package computes the measures itself.
package regression

import (
	"math"
	"slices"
	"sync"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/predictions"
	"assay/shared/computation/measure/steps"
)

// Version names the semantics of this evaluator. Each evaluation records it. It changes whenever a value may change.
const Version = "regression/1"

// pairs holds the numbers of both sides, and intermediate results that measures share.
type pairs struct {
	truth, predicted []float64
	counter          *steps.Counter
	deviations       func() deviations
	ranks            func() *pairs
}

func newPairs(counter *steps.Counter, truth, predicted []float64) *pairs {
	p := &pairs{truth: truth, predicted: predicted, counter: counter}
	p.deviations = sync.OnceValue(p.newDeviations)
	p.ranks = sync.OnceValue(func() *pairs {
		x, y := ranks(counter, truth, predicted)
		return newPairs(counter, x, y)
	})
	return p
}

// measures maps families to their functions. A function returns a value, or the reason why there is none.
var measures = map[string]func(*pairs) (value float64, reason string){
	"MSE":      ofDeviations(func(d deviations) float64 { return math.Ldexp(d.squares/float64(d.n), 2*d.exponent) }),
	"RMSE":     ofDeviations(func(d deviations) float64 { return math.Ldexp(math.Sqrt(d.squares/float64(d.n)), d.exponent) }),
	"MAE":      ofDeviations(func(d deviations) float64 { return math.Ldexp(d.absolutes/float64(d.n), d.exponent) }),
	"R2":       (*pairs).rSquared,
	"Pearson":  (*pairs).pearson,
	"CCC":      (*pairs).concordance,
	"MedianAE": (*pairs).medianAbsoluteError,
	"MAPE":     (*pairs).meanPercentageError,
	"Spearman": func(p *pairs) (float64, string) { return p.ranks().pearson() },
	"Kendall":  func(p *pairs) (float64, string) { return p.ranks().kendall() },
}

// Computation computes the measures of regression.
var Computation = predictions.Evaluator[*pairs]{
	Version: Version,
	Compare: func(counter *steps.Counter, truth *predictions.Gold, run *predictions.Run) *pairs {
		return newPairs(counter, truth.Numbers(), run.Numbers())
	},
	Measure: evaluate,
	Steps:   stepsOf,
	Doubt:   scaled,
	Detail: func(counter *steps.Counter, asked []measure.Measure, truth *predictions.Gold, p *pairs, result *measure.Result) {
		truth.AddValues(counter, asked, result, func(m measure.Measure) func(int) float64 {
			of := errorOf[m.Name]
			if of == nil {
				return nil
			}
			return func(i int) float64 { return of(p.truth[i], p.predicted[i]) }
		})
	},
}.Computation(predictions.Numbers)

// stepsOf estimates the steps of the measures: passes over the data, and sorting for ranks and medians.
func stepsOf(asked []measure.Measure, truth *predictions.Gold) int {
	const passes = 6
	n, sorted := truth.Len(), steps.SortSteps(truth.Len())
	total := n // of scaled
	for _, m := range asked {
		total += passes * n
		switch m.Name {
		case "MedianAE", "Spearman":
			total += 2 * sorted
		case "Kendall":
			total += 4 * sorted
		}
	}
	return total
}

// errorOf maps measures that are means over examples to the error of an example.
var errorOf = map[string]func(truth, predicted float64) float64{
	"MSE":  func(t, p float64) float64 { return (t - p) * (t - p) },
	"MAE":  func(t, p float64) float64 { return math.Abs(t - p) },
	"MAPE": shareError,
}

func evaluate(counter *steps.Counter, asked []measure.Measure, p *pairs) measure.Result {
	return measure.Compute(counter, asked, func(m measure.Measure) (float64, string) { return measures[m.Name](p) })
}

// deviations holds sums of differences between predictions and truth, in the unit 2^exponent.
type deviations struct {
	squares, absolutes float64 // sums
	n                  int
	exponent           int
}

func (p *pairs) newDeviations() deviations {
	farthest := 0.0
	for i, t := range p.truth {
		if p.counter.Add(1) != nil {
			break
		}
		farthest = max(farthest, math.Abs(t-p.predicted[i]))
	}
	e := exponent(farthest)
	truth, predicted := p.scaled(p.truth, e), p.scaled(p.predicted, e)
	var squares, absolutes measure.Sum
	for i, t := range truth {
		if p.counter.Add(1) != nil {
			break
		}
		d := t - predicted[i]
		squares.Add(d * d)
		absolutes.Add(math.Abs(d))
	}
	return deviations{squares: squares.Total(), absolutes: absolutes.Total(), n: len(truth), exponent: e}
}

// ofDeviations returns a measure that is a function of the deviations.
func ofDeviations(of func(deviations) float64) func(*pairs) (float64, string) {
	return func(p *pairs) (float64, string) { return of(p.deviations()), "" }
}

func (p *pairs) medianAbsoluteError() (float64, string) {
	halves := make([]float64, len(p.truth)) // half of each error: no error overflows, and the sum of the middle two is the median
	for i, t := range p.truth {
		if p.counter.Add(1) != nil {
			break
		}
		halves[i] = math.Abs(t/2 - p.predicted[i]/2)
	}
	steps.Sort(p.counter, halves)
	middle := len(halves) / 2
	return halves[middle] + halves[len(halves)-1-middle], ""
}

func (p *pairs) meanPercentageError() (float64, string) {
	var sum measure.Sum
	for i, t := range p.truth {
		if p.counter.Add(1) != nil {
			break
		}
		if t == 0 {
			return 0, "a value of the truth is 0, of which no error is a share"
		}
		sum.Add(shareError(t, p.predicted[i]) / float64(len(p.truth)))
	}
	return sum.Total(), ""
}

// shareError returns the absolute error divided by the true value.
func shareError(t, p float64) float64 {
	if math.IsInf(t-p, 0) {
		return math.Abs((t/2 - p/2) / t * 2)
	}
	return math.Abs((t - p) / t)
}

// rSquared returns R2 = 1 - SSE/SST. For a constant truth, SST is 0; then R2 is 1 for perfect predictions and 0 for others, as in
// scikit-learn.
func (p *pairs) rSquared() (float64, string) {
	truth := p.truth
	if len(truth) < 2 {
		return 0, tooFew
	}
	d := p.deviations()
	if p.constant(truth) {
		if d.squares == 0 {
			return 1, ""
		}
		return 0, ""
	}
	e := exponent(p.largest(truth))
	truth = p.scaled(truth, e)
	spread := p.newMoments(truth, truth).xx
	return 1 - math.Ldexp(d.squares/spread, 2*(d.exponent-e)), ""
}

const tooFew = "it needs at least two examples"

// moments are sums of products of deviations from the means.
type moments struct{ xx, yy, xy float64 }

// newMoments makes two passes over the data, and corrects for the rounding of the means (Chan, Golub and LeVeque, Algorithms for computing
// the sample variance, 1983). So values of 1e15 and more that differ little keep their digits.
func (p *pairs) newMoments(x, y []float64) moments {
	n := float64(len(x))
	meanX, meanY := p.mean(x), p.mean(y)
	var xx, yy, xy, restX, restY measure.Sum
	for i := range x {
		if p.counter.Add(1) != nil {
			break
		}
		dx, dy := x[i]-meanX, y[i]-meanY
		xx.Add(dx * dx)
		yy.Add(dy * dy)
		xy.Add(dx * dy)
		restX.Add(dx)
		restY.Add(dy)
	}
	rx, ry := restX.Total(), restY.Total()
	return moments{
		xx: xx.Total() - rx*rx/n,
		yy: yy.Total() - ry*ry/n,
		xy: xy.Total() - rx*ry/n,
	}
}

func (p *pairs) mean(xs []float64) float64 {
	var s measure.Sum
	for _, x := range xs {
		if p.counter.Add(1) != nil {
			break
		}
		s.Add(x)
	}
	return s.Total() / float64(len(xs))
}

func (p *pairs) constant(xs []float64) bool {
	return !slices.ContainsFunc(xs, func(x float64) bool { return x != xs[0] || p.counter.Add(1) != nil })
}

// largest returns the greatest magnitude of xs.
func (p *pairs) largest(xs []float64) float64 {
	m := 0.0
	for _, x := range xs {
		if p.counter.Add(1) != nil {
			break
		}
		m = max(m, math.Abs(x))
	}
	return m
}

// exponent returns the exponent e of a unit 2^e in which values of the magnitude can be squared, summed and multiplied again without
// overflow or loss. It is 0 except for extreme magnitudes; 0 leaves values unchanged.
func exponent(magnitude float64) int {
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
func (p *pairs) scaled(xs []float64, e int) []float64 {
	if e == 0 {
		return xs
	}
	out := make([]float64, len(xs))
	for i, x := range xs {
		if p.counter.Add(1) != nil {
			break
		}
		out[i] = math.Ldexp(x, -e)
	}
	return out
}
