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
// distance. All sums are over places or of whole numbers, so the bits of the value do not depend on the order of examples.
func (o *ordinal) kappa(m measure.Measure) (float64, string) {
	places, n, reason := o.places(m.Scale())
	if reason != "" {
		return 0, reason
	}
	quadratic := m.Param("weights") == "quadratic"
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
	actual, predicted := make([]float64, n), make([]float64, n)
	for code, l := range o.Counts {
		actual[places[code]] += float64(l.Actual)
		predicted[places[code]] += float64(l.Predicted)
	}
	samples := float64(o.samples)
	expected := linear(actual, predicted, samples)
	if quadratic {
		expected = squared(actual, predicted, samples)
	}
	if expected == 0 {
		return 0, "truth and predictions have one and the same label throughout, so chance alone explains the agreement"
	}
	return 1 - observed*samples/expected, ""
}

// places returns the place of each label, by code, and the number of places. Labels that do not occur may have any place. It returns a
// reason instead if a label that occurs is not on the scale. An empty scale consists of the labels that occur.
func (o *ordinal) places(scale []string) (places []int64, n int, reason string) {
	if len(scale) == 0 {
		return o.Places(), len(o.Names), ""
	}
	on := make(map[string]int64, len(scale))
	for place, label := range scale {
		on[label] = int64(place)
	}
	places = make([]int64, len(o.Names))
	for code, label := range o.Names {
		place, ok := on[label]
		if !ok && o.Counts[code].Occurs() > 0 {
			return nil, 0, fmt.Sprintf("the label %q is not on the scale from %q to %q", label, scale[0], scale[len(scale)-1])
		}
		places[code] = place
	}
	return places, len(scale), ""
}

// linear returns the sum of distances over all pairs of a true and a predicted label of n examples, from the numbers of labels by place. It
// adds, for each two adjacent places, the number of pairs with one label on each side.
func linear(actual, predicted []float64, n float64) float64 {
	var sum, below, guessed float64
	for place := range actual {
		below, guessed = below+actual[place], guessed+predicted[place]
		sum += below*(n-guessed) + guessed*(n-below)
	}
	return sum
}

// squared returns the sum of squared distances over all pairs of a true and a predicted label of n examples, from the numbers of labels by
// place. It measures places from the mean of the true ones, so that no large numbers cancel out.
func squared(actual, predicted []float64, n float64) float64 {
	centre := 0.0
	for place, count := range actual {
		centre += float64(place) * count / n
	}
	var trueSquares, squares, trueSum, sum float64
	for place := range actual {
		x := float64(place) - centre
		trueSum += x * actual[place]
		sum += x * predicted[place]
		trueSquares += x * x * actual[place]
		squares += x * x * predicted[place]
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
