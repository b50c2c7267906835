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
	"slices"

	"assay/shared/measure"
	"assay/shared/measure/decisions"
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

// addValues adds values by label, and by example of what is a mean over examples.
func addValues(asked []measure.Measure, truth *predictions.Truth, run *predictions.Run, result *measure.Result) {
	e := newExamples(run.Labels(), truth.Len(), truth.Set, run.Set)
	result.Classes = e.Classes(func(add func(actual, predicted int)) {
		for i := range e.n {
			for _, actual := range e.truth(i) {
				for _, predicted := range e.predicted(i) {
					add(int(actual), int(predicted))
				}
			}
		}
	})
	truth.AddValues(asked, result, func(m measure.Measure) func(int) float64 {
		score := decisions.Score(m)
		switch {
		case m.Name == "ExactMatch":
			score = func(t decisions.Counts) float64 {
				if t.Predicted+t.Actual == 2*t.Hits {
					return 1
				}
				return 0
			}
		case m.Name == "HammingLoss":
			labels := e.trueLabels()
			score = func(t decisions.Counts) float64 { return float64(t.Predicted+t.Actual-2*t.Hits) / float64(labels) }
		case m.Param("average") != "samples":
			return nil
		}
		labels, _ := e.Chosen(m)
		of := e.ofExample(labels)
		return func(i int) float64 { return score(of(i)) }
	})
}

// Evaluate compares predicted with true labels. truth and predicted return, for each of n examples, the indices of its labels in labels, in
// ascending order and none twice. There is at least one example, and every measure is one of several labels.
func Evaluate(measures []measure.Measure, labels []string, n int, truth, predicted func(i int) []int16) measure.Result {
	e := newExamples(labels, n, truth, predicted)
	return measure.Compute(measures, func(m measure.Measure) (float64, string) {
		switch m.Name {
		case "ExactMatch":
			return float64(e.exact) / float64(n), ""
		case "HammingLoss":
			return e.hammingLoss()
		default:
			return e.average(m)
		}
	})
}

// examples are the labels of both sides, and what is counted of them.
type examples struct {
	decisions.Labels
	n                int
	truth, predicted func(i int) []int16
	exact            int
}

// newExamples counts n examples.
func newExamples(names []string, n int, truth, predicted func(i int) []int16) *examples {
	e := &examples{
		Labels:    decisions.Labels{Names: names, Counts: make([]decisions.Counts, len(names))},
		n:         n,
		truth:     truth,
		predicted: predicted,
	}
	for i := range e.n {
		truth, predicted := e.truth(i), e.predicted(i)
		if slices.Equal(truth, predicted) {
			e.exact++
		}
		for _, l := range truth {
			e.Counts[l].Actual++
			if has(predicted, l) {
				e.Counts[l].Hits++
			}
		}
		for _, l := range predicted {
			e.Counts[l].Predicted++
		}
	}
	return e
}

func has(ascending []int16, label int16) bool {
	_, there := slices.BinarySearch(ascending, label)
	return there
}

// average is a score of one label, or its average over labels or examples.
func (e *examples) average(m measure.Measure) (float64, string) {
	if m.Param("average") != "samples" {
		return e.Value(m)
	}
	labels, reason := e.Chosen(m)
	if reason != "" {
		return 0, reason
	}
	var sum measure.Sum
	of, score := e.ofExample(labels), decisions.Score(m)
	for i := range e.n {
		sum.Add(score(of(i)))
	}
	return sum.Total() / float64(e.n), ""
}

// ofExample returns what counts an example over the labels.
func (e *examples) ofExample(labels []int32) func(i int) decisions.Counts {
	among := make([]int64, len(e.Names))
	for _, l := range labels {
		among[l] = 1
	}
	return func(i int) (t decisions.Counts) {
		truth, predicted := e.truth(i), e.predicted(i)
		for _, l := range truth {
			t.Actual += among[l]
			if has(predicted, l) {
				t.Hits += among[l]
			}
		}
		for _, l := range predicted {
			t.Predicted += among[l]
		}
		return t
	}
}

// trueLabels is how many labels the truth has.
func (e *examples) trueLabels() (n int) {
	for _, t := range e.Counts {
		if t.Actual > 0 {
			n++
		}
	}
	return n
}

func (e *examples) hammingLoss() (float64, string) {
	var all decisions.Counts
	for _, t := range e.Counts {
		all.Add(t)
	}
	labels := e.trueLabels()
	if labels == 0 {
		return 0, "no example of the truth has a label"
	}
	return float64(all.Predicted+all.Actual-2*all.Hits) / (float64(e.n) * float64(labels)), ""
}
