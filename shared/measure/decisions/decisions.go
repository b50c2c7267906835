// Package decisions computes the scores of labels, such as precision and recall, from how often each is predicted and true, and averages
// them. Evaluators of one and of several labels for each example share it, so that a name means the same in both.
package decisions

import (
	"fmt"
	"slices"

	"assay/shared/lists"
	"assay/shared/measure"
	"assay/shared/measure/steps"
)

// Counts counts decisions: those of a label over the examples, those of an example over the labels, or sums of such.
type Counts struct {
	Hits      int64 // predicted and true
	Predicted int64
	Actual    int64 // in the truth: the support of a label
}

// Add adds others.
func (c *Counts) Add(o Counts) {
	c.Hits += o.Hits
	c.Predicted += o.Predicted
	c.Actual += o.Actual
}

// Precision is the share of what is predicted that is true; 0/0 is 0.
func (c Counts) Precision() float64 { return measure.Ratio(float64(c.Hits), float64(c.Predicted)) }

// Recall is the share of what is true that is predicted; 0/0 is 0.
func (c Counts) Recall() float64 { return measure.Ratio(float64(c.Hits), float64(c.Actual)) }

// F is the F-measure with the square of beta; 0/0 is 0.
func (c Counts) F(square float64) float64 {
	return measure.Ratio((1+square)*float64(c.Hits), square*float64(c.Actual)+float64(c.Predicted))
}

// Support is a weight of a label in means: how many examples truly have it.
func (c Counts) Support() float64 { return float64(c.Actual) }

// IsTrue is 1 when an example truly has the label.
func (c Counts) IsTrue() float64 { return float64(min(c.Actual, 1)) }

// Occurs is 1 when the label is in the truth or among the predictions.
func (c Counts) Occurs() float64 { return float64(min(c.Actual+c.Predicted, 1)) }

// Score returns what Precision, Recall, Jaccard, F1 or F is of counts.
func Score(m measure.Measure) func(Counts) float64 {
	empty := m.Number("zero_division")
	square := 1.0
	jaccard := m.Name == "Jaccard"
	switch m.Name {
	case "Precision":
		return Counts.Precision
	case "Recall":
		return Counts.Recall
	case "F":
		square = m.Number("beta") * m.Number("beta")
	}
	return func(c Counts) float64 {
		switch {
		case c.Occurs() == 0:
			return empty
		case jaccard:
			return float64(c.Hits) / float64(c.Predicted+c.Actual-c.Hits)
		default:
			return c.F(square)
		}
	}
}

// Mean is the mean of a score, each with a weight.
func Mean(counter *steps.Counter, of []Counts, score, weight func(Counts) float64) float64 {
	var sum, weights measure.Sum
	for _, c := range of {
		if counter.Add(1) != nil {
			break
		}
		sum.Add(weight(c) * score(c))
		weights.Add(weight(c))
	}
	return sum.Total() / weights.Total()
}

// Labels are the labels of examples, by their codes.
type Labels struct {
	Names  []string
	Counts []Counts
}

// Chosen returns the codes of the labels that a measure is about: those that it names, each of which the truth must have, or else all that
// occur.
func (l Labels) Chosen(counter *steps.Counter, m measure.Measure) (codes []int32, reason string) {
	if names := m.Labels(); names != nil {
		for _, name := range names {
			if counter.Add(len(l.Names)) != nil {
				break
			}
			code := slices.Index(l.Names, name)
			if code < 0 || l.Counts[code].Actual == 0 {
				return nil, fmt.Sprintf("no example of the truth has the label %q", name)
			}
			codes = append(codes, int32(code))
		}
		return codes, ""
	}
	for code, c := range l.Counts {
		if counter.Add(1) != nil {
			break
		}
		if c.Occurs() > 0 {
			codes = append(codes, int32(code))
		}
	}
	return codes, ""
}

// ValueSteps returns how many steps the values of measures take that have a Score, of so many labels.
func ValueSteps(measures []measure.Measure, labels int) (n int) {
	for _, m := range measures {
		n += labels * (1 + max(1, len(m.Labels())))
	}
	return n
}

// Value is that of a measure which has a Score: of one label, or its average over the labels.
func (l Labels) Value(counter *steps.Counter, m measure.Measure) (value float64, reason string) {
	codes, reason := l.Chosen(counter, m)
	switch {
	case reason != "":
		return 0, reason
	case len(codes) == 0:
		return 0, "no example has a label"
	}
	chosen := lists.Map(codes, func(code int32) Counts { return l.Counts[code] })
	score := Score(m)
	var all Counts
	for _, c := range chosen {
		all.Add(c)
	}
	switch m.Param("average") {
	case "macro":
		return Mean(counter, chosen, score, Counts.Occurs), ""
	case "weighted":
		if all.Actual == 0 {
			return 0, "no example of the truth has a label"
		}
		return Mean(counter, chosen, score, Counts.Support), ""
	default: // micro, or one label alone
		return score(all), ""
	}
}
