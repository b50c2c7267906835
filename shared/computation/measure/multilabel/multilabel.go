// Package multilabel compares predicted sets of labels with true sets. An example has any number of labels.
//
// # Definitions
//
// Decisions are pairs of an example and a label; hits are decisions that are predicted and true. For a label or an example:
//
//   - Precision: hits / predicted. Recall: hits / true.
//   - F1: 2 hits / (predicted + true). F: (1 + beta²) hits / (beta² true + predicted).
//   - Jaccard: hits / (predicted + true - hits).
//   - HammingLoss: labels that are predicted or true but not both, over all examples, divided by (examples · labels of the truth).
//
// The families of package measure state the conventions: averages, 0/0, and values that are not defined. Some evaluators count an example
// without true and predicted labels as right, as in SemEval-2018 task 1; zero_division=1 does.
//
// Values equal the values of scikit-learn, with two exceptions. A measure has no value but a reason if there are no labels to measure, or
// if the truth lacks a label that is named. HammingLoss divides by the labels of the truth only. scikit-learn divides by the labels of both
// sides, so a run there lowers its loss by predicting labels that do not exist.
package multilabel

import (
	"slices"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/decisions"
	"assay/shared/computation/measure/predictions"
	"assay/shared/computation/measure/steps"
)

// Version names the semantics of this evaluator. Each evaluation records it. It changes whenever a value may change.
const Version = "multilabel/1"

// Computation computes the measures of sets of labels.
var Computation = predictions.Evaluator[*examples]{
	Version: Version,
	Compare: func(counter *steps.Counter, truth *predictions.Gold, run *predictions.Run) *examples {
		return newExamples(counter, run.Labels(), truth.Len(), truth.Set, run.Set)
	},
	Measure: evaluate,
	Steps:   stepsOf,
	Detail:  addDetails,
}.Computation(predictions.Sets)

// stepsOf estimates the steps of newExamples, addMeans, the averages over labels and the confusion matrix for a run with as many labels as
// the truth.
func stepsOf(asked []measure.Measure, truth *predictions.Gold) int {
	pass := truth.Len() + 2*truth.Assigned()
	n := pass + decisions.ValueSteps(asked, len(truth.Labels()))
	if len(truth.Labels()) <= measure.MaxClasses {
		n += truth.Assigned() * (1 + truth.Assigned()/truth.Len())
	}
	over := map[string]bool{}
	for _, m := range asked {
		if m.Param("average") == "samples" {
			n += truth.Len()
			if labels := m.Param("labels"); !over[labels] {
				over[labels] = true
				n += pass
			}
		}
	}
	return n
}

// addDetails adds the values by label, and the values by example of measures that are means over examples.
func addDetails(counter *steps.Counter, asked []measure.Measure, truth *predictions.Gold, e *examples, result *measure.Result) {
	result.Classes = e.Classes(func(add func(actual, predicted int)) {
		for i := range e.n {
			predicted := e.predicted(i)
			for _, actual := range e.truth(i) {
				if counter.Add(1+len(predicted)) != nil {
					return
				}
				for _, predicted := range predicted {
					add(int(actual), int(predicted))
				}
			}
		}
	})
	truth.AddValues(counter, asked, result, func(m measure.Measure) func(int) float64 {
		of := e.means[m.String()]
		if of == nil {
			return nil
		}
		return func(i int) float64 { return of.values[i] }
	})
}

func evaluate(counter *steps.Counter, measures []measure.Measure, e *examples) measure.Result {
	e.addMeans(counter, measures)
	return measure.Compute(counter, measures, func(m measure.Measure) (float64, string) {
		switch m.Name {
		case "ExactMatch":
			return float64(e.exact) / float64(e.n), ""
		case "HammingLoss":
			return e.hammingLoss()
		}
		if of := e.means[m.String()]; of != nil {
			return of.sum.Total() / float64(e.n), of.reason
		}
		return e.Value(counter, m)
	})
}

// examples holds the labels of both sides, and their counts.
type examples struct {
	decisions.Labels
	n                int
	truth, predicted func(i int) []int16
	exact            int
	means            map[string]*mean // by measure
}

// newExamples counts n examples. truth and predicted return the labels of an example as indices in names, in ascending order and without
// duplicates.
func newExamples(counter *steps.Counter, names []string, n int, truth, predicted func(i int) []int16) *examples {
	e := &examples{
		Labels:    decisions.Labels{Names: names, Counts: make([]decisions.Counts, len(names))},
		n:         n,
		truth:     truth,
		predicted: predicted,
		means:     map[string]*mean{},
	}
	for i := range e.n {
		truth, predicted := e.truth(i), e.predicted(i)
		if counter.Add(1+len(truth)+len(predicted)) != nil {
			break
		}
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

// mean is a measure that is a mean over the examples.
type mean struct {
	score  func(decisions.Counts) float64
	reason string // why the measure has no value
	sum    measure.Sum
	values []float64 // by example, of up to MaxExamples
}

// addMeans computes the means over the examples. Measures over the same labels share the counts of each example.
func (e *examples) addMeans(counter *steps.Counter, measures []measure.Measure) {
	kept := e.n <= measure.MaxExamples
	over := map[string][]measure.Measure{} // by the labels that they name
	for _, m := range measures {
		if score := e.scoreOf(m); score != nil {
			e.means[m.String()] = &mean{score: score}
			if kept || m.Param("average") != "" { // values of other measures follow from counts of labels
				over[m.Param("labels")] = append(over[m.Param("labels")], m)
			}
		}
	}
	for _, same := range over {
		labels, reason := e.Chosen(counter, same[0])
		var list []*mean
		for _, m := range same {
			of := e.means[m.String()]
			of.reason = reason
			if kept {
				of.values = make([]float64, e.n)
			}
			list = append(list, of)
		}
		if reason == "" {
			e.addExamples(counter, labels, list)
		}
	}
}

// addExamples adds each example to the means. Only the given labels count.
func (e *examples) addExamples(counter *steps.Counter, labels []int32, means []*mean) {
	count := e.ofExample(labels)
	for i := range e.n {
		if counter.Add(1+len(e.truth(i))+len(e.predicted(i))+len(means)) != nil {
			break
		}
		counts := count(i)
		for _, of := range means {
			x := of.score(counts)
			of.sum.Add(x)
			if of.values != nil {
				of.values[i] = x
			}
		}
	}
}

// scoreOf returns the function that computes the value of an example, for a measure that is a mean over examples. It returns nil for other
// measures.
func (e *examples) scoreOf(m measure.Measure) func(decisions.Counts) float64 {
	switch {
	case m.Name == "ExactMatch":
		return func(t decisions.Counts) float64 {
			if t.Predicted+t.Actual == 2*t.Hits {
				return 1
			}
			return 0
		}
	case m.Name == "HammingLoss":
		labels := e.trueLabels()
		return func(t decisions.Counts) float64 { return float64(t.Predicted+t.Actual-2*t.Hits) / float64(labels) }
	case m.Param("average") == "samples":
		return decisions.Score(m)
	}
	return nil
}

// ofExample returns a function that counts the decisions of an example over the labels.
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

// trueLabels returns the number of labels of the truth.
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
