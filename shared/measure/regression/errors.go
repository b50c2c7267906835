package regression

import (
	"math"

	"assay/shared/measure"
)

// deviations says how far predictions are from the truth, in the unit 2^exponent.
type deviations struct {
	squares, absolutes float64 // sums
	n                  int
	exponent           int
}

func newDeviations(truth, predicted []float64) deviations {
	farthest := 0.0
	for i, t := range truth {
		farthest = max(farthest, math.Abs(t-predicted[i]))
	}
	e := exponent(farthest)
	truth, predicted = scaled(truth, e), scaled(predicted, e)
	var squares, absolutes measure.Sum
	for i, t := range truth {
		d := t - predicted[i]
		squares.Add(d * d)
		absolutes.Add(math.Abs(d))
	}
	return deviations{squares.Total(), absolutes.Total(), len(truth), e}
}

func meanSquaredError(truth, predicted []float64) (float64, string) {
	d := newDeviations(truth, predicted)
	return representable(math.Ldexp(d.squares/float64(d.n), 2*d.exponent))
}

func rootMeanSquaredError(truth, predicted []float64) (float64, string) {
	d := newDeviations(truth, predicted)
	return representable(math.Ldexp(math.Sqrt(d.squares/float64(d.n)), d.exponent))
}

func meanAbsoluteError(truth, predicted []float64) (float64, string) {
	d := newDeviations(truth, predicted)
	return representable(math.Ldexp(d.absolutes/float64(d.n), d.exponent))
}

// rSquared is R2 = 1 - SSE/SST. A constant truth has SST = 0, and then R2 is 1 for perfect predictions and 0
// for all others, as in scikit-learn.
func rSquared(truth, predicted []float64) (float64, string) {
	if len(truth) < 2 {
		return 0, tooFew
	}
	d := newDeviations(truth, predicted)
	if constant(truth) {
		if d.squares == 0 {
			return 1, ""
		}
		return 0, ""
	}
	e := exponent(largest(truth))
	truth = scaled(truth, e)
	spread := newMoments(truth, truth).xx
	return representable(1 - math.Ldexp(d.squares/spread, 2*(d.exponent-e)))
}

const (
	tooFew   = "it needs at least two examples"
	tooLarge = "its value is too large for a double-precision number"
)

// representable refuses what overflowed: JSON has no infinity, and no order on a leaderboard follows from one.
func representable(v float64) (float64, string) {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return 0, tooLarge
	}
	return v, ""
}
