// Package decisions computes scores of labels, such as precision and recall, from the numbers of predicted and true decisions, and averages
// them. Classification and multilabel share it, so that a measure's name has the same meaning in both.
package decisions

import (
	"fmt"
	"slices"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/steps"
	"assay/shared/language/lists"
)

// Counts counts decisions: of a label over the examples, of an example over the labels, or sums of these.
type Counts struct {
	Hits      int64 // predicted and true
	Predicted int64
	Actual    int64 // true; for a label, its support
}

// Add adds other counts.
func (c *Counts) Add(o Counts) {
	c.Hits += o.Hits
	c.Predicted += o.Predicted
	c.Actual += o.Actual
}

// Precision returns the share of predicted decisions that are true. 0/0 is 0.
func (c Counts) Precision() float64 { return measure.Ratio(float64(c.Hits), float64(c.Predicted)) }

// Recall returns the share of true decisions that are predicted. 0/0 is 0.
func (c Counts) Recall() float64 { return measure.Ratio(float64(c.Hits), float64(c.Actual)) }

// F returns the F-measure with the square of beta. 0/0 is 0.
func (c Counts) F(square float64) float64 {
	return measure.Ratio((1+square)*float64(c.Hits), square*float64(c.Actual)+float64(c.Predicted))
}

// Support returns the number of examples that truly have the label. It is a weight for Mean.
func (c Counts) Support() float64 { return float64(c.Actual) }

// IsTrue returns 1 if an example truly has the label, otherwise 0. It is a weight for Mean.
func (c Counts) IsTrue() float64 { return float64(min(c.Actual, 1)) }

// Occurs returns 1 if the label is in the truth or among the predictions, otherwise 0. It is a weight for Mean.
func (c Counts) Occurs() float64 { return float64(min(c.Actual+c.Predicted, 1)) }

// Score returns the function that computes Precision, Recall, Jaccard, F1 or F from counts.
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

// Mean returns the weighted mean of a score.
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

// Chosen returns the codes of the labels that count for a measure: the labels that it names or, if it names none, all labels that occur. It
// returns a reason instead if the truth lacks a label that the measure names.
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

// ValueSteps estimates the steps of Value for the measures and the number of labels.
func ValueSteps(measures []measure.Measure, labels int) (n int) {
	for _, m := range measures {
		n += labels * (1 + max(1, len(m.Labels())))
	}
	return n
}

// Value returns the value of a measure that has a Score: the score of one label, or the average over the labels.
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
	default: // micro, or only one label
		return score(all), ""
	}
}
