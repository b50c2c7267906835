// Package classification measures how well predicted labels agree with true ones.
//
// # Definitions
//
// The labels are those that occur in the truth or among the predictions. For each label, precision is the share of its
// predictions that are right, recall the share of its examples that are found, F1 = 2 hits / (predictions + examples);
// 0/0 is 0.
//
//   - Accuracy: share of examples whose predicted label is the true one.
//   - BalancedAccuracy: mean recall of the labels that occur in the truth.
//   - Precision, Recall, F1 with average=macro: mean over all labels; weighted: mean weighted by the number of examples
//     that truly have the label; micro: over all decisions together, which with one label for each example is Accuracy.
//     With positive=LABEL: of that label, and not defined when the truth does not have it.
//   - MCC: Matthews' coefficient, for more than two labels Gorodkin's R_K; 0 when truth or predictions have one label only.
//   - Kappa: Cohen's; not defined when truth and predictions have one and the same label throughout.
//
// They are those of scikit-learn, but for what is not defined: that has no value and a reason, never NaN.
package classification

import (
	"fmt"
	"slices"

	"assay/shared/measure"
)

// Version names the semantics of this evaluator. It is recorded with every evaluation and changes whenever a value
// could.
const Version = "classification/1"

// Evaluate compares predicted with true labels. truth and predicted hold, for the same examples in the same order, the
// index of a label in labels. There is at least one example, and every measure is one of classification.
func Evaluate(measures []measure.Measure, labels []string, truth, predicted []int32) measure.Result {
	t := newCounts(len(labels), truth, predicted)
	return measure.Compute(measures, func(m measure.Measure) (float64, string) { return t.measure(m, labels) })
}

// measure is the value of m, or the reason why it has none.
func (t *counts) measure(m measure.Measure, labels []string) (value float64, reason string) {
	switch m.Name {
	case "Accuracy":
		return ratio(t.correct, t.samples), ""
	case "BalancedAccuracy":
		return t.mean(labelCounts.recall, labelCounts.isTrue), ""
	case "MCC":
		return t.matthews(), ""
	case "Kappa":
		return t.kappa()
	case "Precision":
		return t.ofLabels(m, labels, labelCounts.precision)
	case "Recall":
		return t.ofLabels(m, labels, labelCounts.recall)
	case "F1":
		return t.ofLabels(m, labels, labelCounts.f1)
	}
	panic("classification: no such measure: " + m.String())
}

// ofLabels is a score of one label, or its average over the labels.
func (t *counts) ofLabels(m measure.Measure, labels []string, score func(labelCounts) float64) (float64, string) {
	if positive := m.Param("positive"); positive != "" {
		code := slices.Index(labels, positive)
		if code < 0 || t.labels[code].actual == 0 {
			return 0, fmt.Sprintf("no example of the truth has the label %q", positive)
		}
		return score(t.labels[code]), ""
	}
	switch m.Param("average") {
	case "macro":
		return t.mean(score, labelCounts.occurs), ""
	case "weighted":
		return t.mean(score, labelCounts.support), ""
	default: // micro: hits, predictions and examples summed over the labels
		n := t.samples
		return score(labelCounts{hits: t.correct, predicted: n, actual: n}), ""
	}
}

// mean is the mean of a score over the labels, each with a weight.
func (t *counts) mean(score func(labelCounts) float64, weight func(labelCounts) int64) float64 {
	var sum float64
	var weights int64
	for _, m := range t.labels {
		w := weight(m)
		sum += float64(w) * score(m)
		weights += w
	}
	return sum / float64(weights)
}
