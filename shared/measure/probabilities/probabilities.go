// Package probabilities measures scores: one for each example, of the positive label, or one for each label.
//
// # Definitions
//
// The positive label is the one that a measure names, or else the greater one of the two that the truth has: as numbers where both are, and
// else by their bytes, as 1, true and yes are. s is its score for an example.
//
//   - AUC: share of pairs of an example with the positive label and one without it in which the former has the higher score; equal scores
//     count half. With average=macro: mean over the labels of the truth, each against the rest; weighted: by their examples.
//   - AP: Σ (R_k - R_k-1) P_k over the distinct scores, falling, with precision P_k and recall R_k of the examples down to it.
//   - LogLoss: mean of -ln p of the true label, p being at least 2^-52 and at most 1 - 2^-52.
//   - Brier: mean of (s - y)², y being 1 for the positive label and else 0; with more than two labels in the truth, of that summed over
//     all labels.
//   - CAt1: (c + u c / n) / n of n examples, u of which have a score of exactly 0.5 and are unanswered, and c are on the right side of 0.5
//     (Peñas and Rodrigo, ACL 2011).
//   - F1: 2 tp / (2 tp + fp + fn) over the answered examples, F05u: 1.25 tp / (1.25 tp + 0.25 (fn + u) + fp) (Bevendorff et al., NAACL
//     2019); 0/0 is 0.
//   - PAN: mean of AUC, CAt1, F05u, F1 and 1 - Brier.
//
// AUC, AP, LogLoss and Brier are those of scikit-learn, which warns of probabilities that do not sum to 1, where a run is refused here if
// they miss it by more than 0.01. The others are those of PAN's evaluator for authorship verification, with two exceptions. There, a score
// of 0.5 becomes an answer before F05u counts the unanswered, so that there are none; here they count as published. And what is 0 there
// because the truth has one label alone has no value here, and a reason.
package probabilities

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"assay/shared/measure"
	"assay/shared/measure/fields"
	"assay/shared/measure/predictions"
	"assay/shared/measure/steps"
	"assay/shared/plural"
)

// Version names the semantics of this evaluator. It is recorded with every evaluation and changes whenever a value
// could.
const Version = "probabilities/1"

// Computation is that of the evaluator of scores.
var Computation = predictions.Evaluator[*Examples]{
	Version: Version,
	Compare: func(_ *steps.Counter, truth *predictions.Truth, run *predictions.Run) *Examples {
		return &Examples{Labels: truth.Labels(), Truth: truth.Codes(), Classes: run.Classes(), Scores: run.Scores}
	},
	Measure: func(counter *steps.Counter, asked []measure.Measure, e *Examples) measure.Result {
		return Evaluate(counter, asked, *e)
	},
	Steps: stepsOf,
	Detail: func(counter *steps.Counter, asked []measure.Measure, truth *predictions.Truth, e *Examples, result *measure.Result) {
		truth.AddValues(counter, asked, result, func(m measure.Measure) func(int) float64 {
			if !isMean(m) {
				return nil
			}
			loss, _ := e.loss(m)
			return loss
		})
	},
}.ScoreComputation(func(m measure.Measure) bool { return m.Name != "AUC" && m.Name != "AP" })

// stepsOf returns how many steps the measures take. Scores are sorted once for each label that they are measured for.
func stepsOf(asked []measure.Measure, truth *predictions.Truth) int {
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

// Examples are what is compared.
type Examples struct {
	Labels []string // of the truth
	Truth  []int32  // index of the true label of each example
	// Classes has what each of the Scores is for: an index in Labels, or beyond for what the truth does not have. None for one score.
	Classes    []int32
	Scores     func(i int) []float64 // of an example
	counter    *steps.Counter
	last       *binary
	curves     map[int]curves // by label, which all measures share
	needsBrier bool           // of curves
	// signatures say which label was taken as the positive one, by the measures that do not.
	signatures map[string]string
}

// Evaluate returns the values of measures of probabilities. There is at least one example.
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
		return e.value(positive, m.Name)
	})
	result.Signatures = e.signatures
	return result
}

// positive returns the positive label of a measure.
func (e *Examples) positive(m measure.Measure) (label int, reason string) {
	if name := m.Param("positive"); name != "" {
		if label = slices.Index(e.Labels, name); label < 0 {
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

// binary has the scores of one label, until it is asked for another: they are a copy of all, whose memory is used again.
func (e *Examples) binary(label int) (b *binary, reason string) {
	if e.last == nil {
		e.last = &binary{label: -1}
	}
	if b = e.last; b.label == label {
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

// average is the mean over the labels of the truth.
func (e *Examples) average(m measure.Measure, weighted bool) (float64, string) {
	if len(e.Classes) == 0 {
		return 0, "the run has one score for each example, and an average needs one for each label"
	}
	var sum, weights measure.Sum
	for label := range e.Labels {
		value, reason := e.value(label, m.Name)
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

// column returns where the scores of a label stand.
func (e *Examples) column(label int) (column int, reason string) {
	if len(e.Classes) == 0 {
		return 0, ""
	}
	if column = slices.Index(e.Classes, int32(label)); column < 0 {
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

// loss returns LogLoss or Brier of an example.
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
		if columns[label], reason = e.column(label); reason != "" {
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
		if len(e.Labels) < 3 {
			squares /= 2
		}
		return squares
	}, ""
}

// logLoss is the loss of the probability of what is true.
func logLoss(p float64) float64 {
	const least = 1.0 / (1 << 52)
	return -math.Log(min(max(p, least), 1-least))
}
