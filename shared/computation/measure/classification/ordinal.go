package classification

import (
	"fmt"
	"math"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/steps"
)

// ordinal measures labels that have an order.
type ordinal struct {
	*counts
	counter *steps.Counter
}

// kappa returns 1 - observed / expected disagreement. A disagreement counts the distance of its labels or, if quadratic, the square of the
// distance.
func (o *ordinal) kappa(quadratic bool) (float64, string) {
	places := o.Places()
	var observed float64
	for i, t := range o.truth {
		if o.counter.Add(1) != nil {
			break
		}
		apart := math.Abs(float64(places[t] - places[o.predicted[i]]))
		if quadratic {
			apart *= apart
		}
		observed += apart
	}
	n := float64(o.samples)
	expected := o.linear(places)
	if quadratic {
		expected = o.quadratic(places)
	}
	if expected == 0 {
		return 0, "truth and predictions have one and the same label throughout, so chance alone explains the agreement"
	}
	return 1 - observed*n/expected, ""
}

// linear returns the sum of distances over all pairs of a true and a predicted label. It adds, for each two adjacent places, the number of
// pairs with one label on each side.
func (o *ordinal) linear(places []int64) float64 {
	actual, predicted := make([]float64, len(places)), make([]float64, len(places))
	for code, l := range o.Counts {
		actual[places[code]] += float64(l.Actual)
		predicted[places[code]] += float64(l.Predicted)
	}
	var sum, below, guessed float64
	n := float64(o.samples)
	for place := range actual {
		below, guessed = below+actual[place], guessed+predicted[place]
		sum += below*(n-guessed) + guessed*(n-below)
	}
	return sum
}

// quadratic returns the sum of squared distances over all pairs of a true and a predicted label. It measures places from the mean of the
// true ones, so that no large numbers cancel out.
func (o *ordinal) quadratic(places []int64) float64 {
	n, centre := float64(o.samples), 0.0
	for code, l := range o.Counts {
		centre += float64(places[code]) * float64(l.Actual) / n
	}
	var trueSquares, squares, trueSum, sum float64
	for code, l := range o.Counts {
		x := float64(places[code]) - centre
		trueSum, sum = trueSum+x*float64(l.Actual), sum+x*float64(l.Predicted)
		trueSquares += x * x * float64(l.Actual)
		squares += x * x * float64(l.Predicted)
	}
	return n*trueSquares + n*squares - 2*trueSum*sum
}

// macroError returns the mean over the true labels of the mean absolute error of their examples.
func (o *ordinal) macroError() (float64, string) {
	values, other := o.Numbers()
	if other != "" {
		return 0, fmt.Sprintf("the label %q is not a number", other)
	}
	errors := make([]measure.Sum, len(values))
	for i, t := range o.truth {
		if o.counter.Add(1) != nil {
			break
		}
		errors[t].Add(math.Abs(values[t] - values[o.predicted[i]]))
	}
	var total measure.Sum
	labels := 0
	for code, l := range o.Counts {
		if l.Actual > 0 {
			total.Add(errors[code].Total() / float64(l.Actual))
			labels++
		}
	}
	return total.Total() / float64(labels), ""
}
