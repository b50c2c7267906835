// Package probabilities measures scores of labels. An example has one score, for the positive label, or one score for each label.
//
// # Definitions
//
// A measure may name the positive label. If it does not and the truth has two labels, the positive label is the greater one, such as 1,
// true or yes. Labels are compared as numbers if both are numbers, otherwise by their bytes. s is the positive label's score for an
// example.
//
//   - AUC: share of pairs of an example with the positive label and an example without it in which the first has the higher score.
//   - AP: Σ (R_k - R_k-1) P_k over the distinct scores in descending order, where P_k and R_k are the precision and the recall of the
//     examples with this score or a higher one.
//   - LogLoss: mean of -ln p of the true label. Brier: mean of (s - y)², where y is 1 for the positive label and 0 otherwise, or the sum of
//     these squares over the labels.
//   - CAt1: (c + u c / n) / n for n examples. u examples have a score of exactly 0.5 and are unanswered; c are on the right side of 0.5
//     (Peñas and Rodrigo, ACL 2011). With edition=2024, c also counts the unanswered examples without the positive label.
//   - F1: 2 tp / (2 tp + fp + fn). Unanswered examples with the positive label count for fn, except with edition=2021. F05u:
//     1.25 tp / (1.25 tp + 0.25 (fn + u) + fp) without these (Bevendorff et al., NAACL 2019). 0/0 is 0.
//   - PAN: mean of AUC, CAt1, F05u, F1 and 1 - Brier.
//
// The families of package measure state the conventions: averages, bounds of probabilities, and values that are not defined.
//
// # Differences from the references
//
// AUC, AP, LogLoss and Brier follow scikit-learn. scikit-learn warns if probabilities do not sum to 1. Here the run is refused if the sum
// differs from 1 by more than 0.01.
//
// The other measures follow PAN's evaluators for authorship verification (2020 to 2023) and for texts of machines (2024 and 2025), with two
// exceptions. The evaluator of 2020 turns a score of 0.5 into an answer before F05u counts the unanswered examples, so it counts none. Here
// F05u counts them as published. If the truth has only one label, the evaluators return 0 or fail. Here the measure has no value but a
// reason.
package probabilities

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/fields"
	"assay/shared/computation/measure/predictions"
	"assay/shared/computation/measure/steps"
	"assay/shared/language/plural"
)

// Version names the semantics of this evaluator. Each evaluation records it. It changes whenever a value may change.
const Version = "probabilities/2"

// Computation computes the measures of scores.
var Computation = predictions.Evaluator[*Examples]{
	Version: Version,
	Compare: func(_ *steps.Counter, truth *predictions.Gold, run *predictions.Run) *Examples {
		return &Examples{Labels: truth.Labels(), Truth: truth.Codes(), Classes: run.Classes(), Scores: run.Scores}
	},
	Measure: func(counter *steps.Counter, asked []measure.Measure, e *Examples) measure.Result {
		return Evaluate(counter, asked, *e)
	},
	Steps: stepsOf,
	Detail: func(counter *steps.Counter, asked []measure.Measure, truth *predictions.Gold, e *Examples, result *measure.Result) {
		truth.AddValues(counter, asked, result, func(m measure.Measure) func(int) float64 {
			if !isMean(m) {
				return nil
			}
			loss, _ := e.loss(m)
			return loss
		})
	},
}.ScoreComputation(func(m measure.Measure) bool { return m.Name != "AUC" && m.Name != "AP" })

// stepsOf estimates the steps of the measures. Scores are sorted once for each label that measures need.
func stepsOf(asked []measure.Measure, truth *predictions.Gold) int {
	n := truth.Len()
	labels := len(truth.Labels())
	total := 0
	sorted := map[string]bool{}
	for _, m := range asked {
		of, positive := 1, m.Param("positive")
		switch {
		case m.Param("average") != "":
			of, positive = labels, "every"
		case isMean(m) && positive == "":
			total += n * (1 + labels)
			continue
		case isMean(m) || m.Name != "AUC" && m.Name != "AP" && m.Name != "PAN":
			total += 2 * n
			continue
		}
		if !sorted[positive] {
			sorted[positive] = true
			total += of * (3*n + steps.SortSteps(n))
		}
	}
	return total
}

// Examples holds the true labels and the scores of examples.
type Examples struct {
	Labels []string // labels of the truth
	Truth  []int32  // index of the true label of each example
	// Classes holds the label of each score, as an index in Labels, or a greater index for a label that the truth lacks. It is empty if
	// examples have one score.
	Classes    []int32
	Scores     func(i int) []float64 // returns the scores of an example
	counter    *steps.Counter
	last       *binary
	curves     map[int]curves // by label; all measures share them
	needsBrier bool           // curves need the Brier score
	// signatures say which label was positive, for measures that do not name it.
	signatures map[string]string
}

// Evaluate returns the values of measures of probabilities. There must be at least one example.
func Evaluate(counter *steps.Counter, asked []measure.Measure, e Examples) measure.Result {
	e.counter = counter
	e.curves = map[int]curves{}
	e.needsBrier = slices.ContainsFunc(asked, func(m measure.Measure) bool { return m.Name == "PAN" })
	result := measure.Compute(counter, asked, func(m measure.Measure) (float64, string) {
		if average := m.Param("average"); average != "" {
			return e.average(m, average == "weighted")
		}
		if isMean(m) {
			return e.mean(m)
		}
		positive, reason := e.positive(m)
		if reason != "" {
			return 0, reason
		}
		return e.value(positive, m)
	})
	result.Signatures = e.signatures
	return result
}

// positive returns the positive label of a measure, or the reason why there is none. It records a label that the measure does not name as
// the measure's signature.
func (e *Examples) positive(m measure.Measure) (label int, reason string) {
	if name := m.Param("positive"); name != "" {
		label = slices.Index(e.Labels, name)
		if label < 0 {
			return 0, fmt.Sprintf("no example of the truth has the label %q", name)
		}
		return label, ""
	}
	if len(e.Labels) != 2 {
		return 0, fmt.Sprintf("the truth has %s, so the measure has to say which is positive: %s(positive=LABEL)",
			plural.Count(len(e.Labels), "label"), m.Name)
	}
	first, isFirst := fields.ParseScore([]byte(e.Labels[0]))
	second, isSecond := fields.ParseScore([]byte(e.Labels[1]))
	order := strings.Compare(e.Labels[0], e.Labels[1])
	if isFirst && isSecond {
		order = cmp.Or(cmp.Compare(first, second), order)
	}
	if order < 0 {
		label = 1
	}
	if e.signatures == nil {
		e.signatures = map[string]string{}
	}
	e.signatures[m.String()] = "positive:" + e.Labels[label]
	return label, ""
}

// binary returns a copy of the scores for one label. The copy is valid until the next call with another label, which reuses its memory.
func (e *Examples) binary(label int) (b *binary, reason string) {
	if e.last == nil {
		e.last = &binary{label: -1}
	}
	b = e.last
	if b.label == label {
		return b, ""
	}
	column, reason := e.column(label)
	if reason != "" {
		return nil, reason
	}
	b.label = label
	b.with = b.with[:0]
	b.without = b.without[:0]
	for i, l := range e.Truth {
		if e.counter.Add(1) != nil {
			break
		}
		s := e.Scores(i)[column]
		if l == int32(label) {
			b.with = append(b.with, s)
		} else {
			b.without = append(b.without, s)
		}
	}
	return b, ""
}

// average returns the mean of a measure over the labels of the truth.
func (e *Examples) average(m measure.Measure, weighted bool) (float64, string) {
	if len(e.Classes) == 0 {
		return 0, "the run has one score for each example, and an average needs one for each label"
	}
	var sum, weights measure.Sum
	for label := range e.Labels {
		value, reason := e.value(label, m)
		if reason != "" || e.counter.Err() != nil {
			return 0, reason
		}
		weight := 1.0
		if weighted {
			weight = e.curves[label].positives
		}
		sum.Add(weight * value)
		weights.Add(weight)
	}
	return sum.Total() / weights.Total(), ""
}

// column returns the index of a label's score among the scores of an example.
func (e *Examples) column(label int) (column int, reason string) {
	if len(e.Classes) == 0 {
		return 0, ""
	}
	column = slices.Index(e.Classes, int32(label))
	if column < 0 {
		return 0, fmt.Sprintf("the run has no scores for the label %q", e.Labels[label])
	}
	return column, ""
}

// isMean reports whether the measure is the mean of a loss over the examples.
func isMean(m measure.Measure) bool { return m.Name == "LogLoss" || m.Name == "Brier" }

func (e *Examples) mean(m measure.Measure) (float64, string) {
	loss, reason := e.loss(m)
	if reason != "" {
		return 0, reason
	}
	var sum measure.Sum
	for i := range e.Truth {
		if e.counter.Add(1+len(e.Classes)) != nil {
			break
		}
		sum.Add(loss(i))
	}
	return sum.Total() / float64(len(e.Truth)), ""
}

// loss returns a function that computes LogLoss or Brier for an example.
func (e *Examples) loss(m measure.Measure) (of func(i int) float64, reason string) {
	if len(e.Classes) > 0 && m.Param("positive") == "" {
		return e.lossOverLabels(m)
	}
	positive, reason := e.positive(m)
	switch {
	case reason != "" && len(e.Labels) > 2 && len(e.Classes) == 0:
		return nil, fmt.Sprintf("the run has one score for each example, and needs one for each of %s", plural.Count(len(e.Labels), "label"))
	case reason != "":
		return nil, reason
	}
	column, reason := e.column(positive)
	if reason != "" {
		return nil, reason
	}
	return func(i int) float64 {
		p := e.Scores(i)[column]
		if e.Truth[i] != int32(positive) {
			p = 1 - p
		}
		if m.Name == "LogLoss" {
			return logLoss(p)
		}
		return (1 - p) * (1 - p)
	}, ""
}

func (e *Examples) lossOverLabels(m measure.Measure) (of func(i int) float64, reason string) {
	columns := make([]int, len(e.Labels))
	for label := range e.Labels {
		columns[label], reason = e.column(label)
		if reason != "" {
			return nil, reason
		}
	}
	return func(i int) float64 {
		row := e.Scores(i)
		p := row[columns[e.Truth[i]]]
		if m.Name == "LogLoss" {
			return logLoss(p)
		}
		squares := (1-p)*(1-p) - p*p
		for _, p := range row {
			squares += p * p
		}
		if len(row) < 3 {
			squares /= 2 // as for one score, of which the other is the complement
		}
		return squares
	}, ""
}

// logLoss returns the loss for the probability p of the true label.
func logLoss(p float64) float64 {
	const least = 1.0 / (1 << 52)
	return -math.Log(min(max(p, least), 1-least))
}
