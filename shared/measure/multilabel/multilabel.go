// Package multilabel measures how well predicted sets of labels agree with true ones, where an example has any number of labels.
//
// # Definitions
//
// The labels are those that occur in the truth or among the predictions. Of a label, or of an example, hits are the decisions that are
// predicted and true: precision is hits / predicted, recall hits / true, F1 2 hits / (predicted + true), F with the weight beta of recall
// (1 + beta²) hits / (beta² true + predicted), Jaccard hits / (predicted + true - hits).
//
//   - average=samples: mean of the values of the examples; macro: mean of those of the labels; weighted: mean of these by how many
//     examples truly have the label; micro: over all decisions together. With labels: over these alone. With positive=LABEL: of
//     that label.
//   - 0/0 is 0. An example for which neither truth nor prediction has a label has the value zero_division in F1, F and Jaccard: 0 unless
//     given, and 1 in evaluators that count it as right, as that of SemEval-2018 task 1 does.
//   - ExactMatch: share of the examples whose predicted labels are the true ones.
//   - HammingLoss: labels that are predicted or true but not both, over all examples, / (examples · labels of the truth).
//
// They are those of scikit-learn, with two exceptions. A measure of labels has no value but a reason where there are none to measure, or
// where the truth lacks one that is named. HammingLoss divides by the labels of the truth alone, where scikit-learn has those of both sides
// in its matrices: there a run makes its errors smaller by predicting labels that do not exist.
package multilabel

import (
	"fmt"
	"slices"

	"assay/shared/measure"
	"assay/shared/measure/predictions"
)

// Version names the semantics of this evaluator. It is recorded with every evaluation and changes whenever a value
// could.
const Version = "multilabel/1"

// Computation is that of the evaluator of several labels for each example.
var Computation = predictions.Computation(Version, predictions.Sets, evaluate, addValues)

func evaluate(asked []measure.Measure, truth *predictions.Truth, run *predictions.Run) measure.Result {
	return Evaluate(asked, run.Labels(), truth.Len(), truth.Set, run.Set)
}

// addValues adds values by example of what is a mean over examples.
func addValues(asked []measure.Measure, truth *predictions.Truth, run *predictions.Run, result *measure.Result) {
	e := &examples{names: run.Labels(), n: truth.Len(), truth: truth.Set, predicted: run.Set}
	e.count()
	truth.AddValues(asked, result, func(m measure.Measure) func(int) float64 {
		score := scoreOf(m)
		switch {
		case m.Name == "ExactMatch":
			score = func(t tally) float64 {
				if t.predicted+t.actual == 2*t.hits {
					return 1
				}
				return 0
			}
		case m.Name == "HammingLoss":
			labels := e.trueLabels()
			score = func(t tally) float64 { return float64(t.predicted+t.actual-2*t.hits) / float64(labels) }
		case m.Param("average") != "samples":
			return nil
		}
		labels, _ := e.chosen(m)
		of := e.ofExample(labels)
		return func(i int) float64 { return score(of(i)) }
	})
}

// Evaluate compares predicted with true labels. truth and predicted return, for each of n examples, the indices of its labels in labels, in
// ascending order and none twice. There is at least one example, and every measure is one of several labels.
func Evaluate(measures []measure.Measure, labels []string, n int, truth, predicted func(i int) []int32) measure.Result {
	e := &examples{names: labels, n: n, truth: truth, predicted: predicted}
	e.count()
	return measure.Compute(measures, func(m measure.Measure) (float64, string) {
		switch m.Name {
		case "ExactMatch":
			return float64(e.exact) / float64(n), ""
		case "HammingLoss":
			return e.hammingLoss()
		default:
			return e.average(m, scoreOf(m))
		}
	})
}

// tally counts decisions: those of a label over the examples, those of an example over the labels, or sums of such.
type tally struct{ hits, predicted, actual int64 }

func (t *tally) add(o tally) {
	t.hits, t.predicted, t.actual = t.hits+o.hits, t.predicted+o.predicted, t.actual+o.actual
}

// scoreOf is what a measure computes of a tally.
func scoreOf(m measure.Measure) func(tally) float64 {
	empty, square := m.Number("zero_division"), 1.0
	switch m.Name {
	case "Precision":
		return func(t tally) float64 { return ratio(float64(t.hits), float64(t.predicted), 0) }
	case "Recall":
		return func(t tally) float64 { return ratio(float64(t.hits), float64(t.actual), 0) }
	case "Jaccard":
		return func(t tally) float64 { return ratio(float64(t.hits), float64(t.predicted+t.actual-t.hits), empty) }
	case "F":
		square = m.Number("beta") * m.Number("beta")
	}
	return func(t tally) float64 {
		if t.predicted+t.actual == 0 {
			return empty
		}
		return ratio((1+square)*float64(t.hits), square*float64(t.actual)+float64(t.predicted), 0)
	}
}

// ratio is a/b, and empty where that is 0/0.
func ratio(a, b, empty float64) float64 {
	if b == 0 {
		return empty
	}
	return a / b
}

// examples are the labels of both sides, and what is counted of them.
type examples struct {
	names            []string
	n                int
	truth, predicted func(i int) []int32
	labels           []tally // by label
	exact            int
}

func (e *examples) count() {
	e.labels = make([]tally, len(e.names))
	for i := range e.n {
		truth, predicted := e.truth(i), e.predicted(i)
		if slices.Equal(truth, predicted) {
			e.exact++
		}
		for _, l := range truth {
			e.labels[l].actual++
		}
		for _, l := range predicted {
			e.labels[l].predicted++
		}
		common(truth, predicted, func(l int32) { e.labels[l].hits++ })
	}
}

// common calls each with what two ascending lists have both.
func common(a, b []int32, each func(int32)) {
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			a = a[1:]
		case a[0] > b[0]:
			b = b[1:]
		default:
			each(a[0])
			a, b = a[1:], b[1:]
		}
	}
}

// chosen are the labels that a measure is about: those that it names, or else all that occur.
func (e *examples) chosen(m measure.Measure) (labels []int32, reason string) {
	if names := m.Labels(); names != nil {
		for _, name := range names {
			l := slices.Index(e.names, name)
			if l < 0 || e.labels[l].actual == 0 {
				return nil, fmt.Sprintf("no example of the truth has the label %q", name)
			}
			labels = append(labels, int32(l))
		}
		return labels, ""
	}
	for l, t := range e.labels {
		if t.actual+t.predicted > 0 {
			labels = append(labels, int32(l))
		}
	}
	if len(labels) == 0 && m.Param("average") != "samples" {
		return nil, "no example has a label"
	}
	return labels, ""
}

// average is a score of one label, or its average over labels or examples.
func (e *examples) average(m measure.Measure, score func(tally) float64) (float64, string) {
	labels, reason := e.chosen(m)
	if reason != "" {
		return 0, reason
	}
	var sum, weights measure.Sum
	var all tally
	switch m.Param("average") {
	case "samples":
		of := e.ofExample(labels)
		for i := range e.n {
			sum.Add(score(of(i)))
		}
		return sum.Total() / float64(e.n), ""
	case "macro", "weighted":
		for _, l := range labels {
			weight := 1.0
			if m.Param("average") == "weighted" {
				weight = float64(e.labels[l].actual)
			}
			sum.Add(weight * score(e.labels[l]))
			weights.Add(weight)
		}
		if weights.Total() == 0 {
			return 0, "no example of the truth has a label"
		}
		return sum.Total() / weights.Total(), ""
	default: // micro, or one label alone
		for _, l := range labels {
			all.add(e.labels[l])
		}
		return score(all), ""
	}
}

// ofExample returns what counts an example over the labels.
func (e *examples) ofExample(labels []int32) func(i int) tally {
	among := make([]int64, len(e.names))
	for _, l := range labels {
		among[l] = 1
	}
	return func(i int) (t tally) {
		truth, predicted := e.truth(i), e.predicted(i)
		for _, l := range truth {
			t.actual += among[l]
		}
		for _, l := range predicted {
			t.predicted += among[l]
		}
		common(truth, predicted, func(l int32) { t.hits += among[l] })
		return t
	}
}

// trueLabels is how many labels the truth has.
func (e *examples) trueLabels() (n int) {
	for _, t := range e.labels {
		if t.actual > 0 {
			n++
		}
	}
	return n
}

func (e *examples) hammingLoss() (float64, string) {
	var all tally
	for _, t := range e.labels {
		all.add(t)
	}
	labels := e.trueLabels()
	if labels == 0 {
		return 0, "no example of the truth has a label"
	}
	return float64(all.predicted+all.actual-2*all.hits) / (float64(e.n) * float64(labels)), ""
}
