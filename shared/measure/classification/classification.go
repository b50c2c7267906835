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
//     With labels: over these alone. With positive=LABEL: of that label. Not defined when the truth does not have a label that is named.
//   - F: (1 + beta²) hits / (beta² examples + predictions) in the place of F1.
//   - MCC: Matthews' coefficient, for more than two labels Gorodkin's R_K; 0 when truth or predictions have one label only.
//   - Kappa: Cohen's; not defined when truth and predictions have one and the same label throughout. With weights, disagreements count by
//     how many labels lie between, which are in the order of numbers where all of them are numbers, and else of their bytes.
//   - MacroMAE: mean over the true labels of the mean absolute error of their examples (Baccianella, Esuli and Sebastiani, ISDA 2009); not
//     defined when a label is no number.
//
// They are those of scikit-learn, but for what is not defined: that has no value and a reason, never NaN.
package classification

import (
	"fmt"
	"math"
	"slices"

	"assay/shared/measure"
	"assay/shared/measure/predictions"
)

// Version names the semantics of this evaluator. It is recorded with every evaluation and changes whenever a value
// could.
const Version = "classification/1"

// Computation is that of the evaluator of classification.
var Computation = predictions.Computation(Version, predictions.Labels,
	func(asked []measure.Measure, truth *predictions.Truth, run *predictions.Run) measure.Result {
		return Evaluate(asked, run.Labels(), truth.Codes(), run.Codes())
	},
	func(asked []measure.Measure, truth *predictions.Truth, run *predictions.Run, result *measure.Result) {
		result.Classes = classes(run.Labels(), truth.Codes(), run.Codes())
		truth.AddValues(asked, result, func(m measure.Measure) func(int) float64 {
			if m.Name != "Accuracy" {
				return nil
			}
			return func(i int) float64 {
				if truth.Codes()[i] == run.Codes()[i] {
					return 1
				}
				return 0
			}
		})
	})

// Evaluate compares predicted with true labels. truth and predicted hold, for the same examples in the same order, the
// index of a label in labels. There is at least one example, and every measure is one of classification.
func Evaluate(measures []measure.Measure, labels []string, truth, predicted []int32) measure.Result {
	t := newCounts(len(labels), truth, predicted)
	o := &ordinal{counts: t, names: labels, truth: truth, predicted: predicted}
	return measure.Compute(measures, func(m measure.Measure) (float64, string) {
		switch m.Name {
		case "Accuracy":
			return ratio(t.correct, t.samples), ""
		case "BalancedAccuracy":
			return mean(t.labels, labelCounts.recall, labelCounts.isTrue), ""
		case "MCC":
			return t.matthews(), ""
		case "Kappa":
			if weights := m.Param("weights"); weights != "" {
				return o.kappa(weights == "quadratic")
			}
			return t.kappa()
		case "MacroMAE":
			return o.macroError()
		default:
			return t.ofLabels(m, labels, scoreOf(m))
		}
	})
}

// scoreOf is what a measure computes of single labels.
func scoreOf(m measure.Measure) func(labelCounts) float64 {
	switch m.Name {
	case "Precision":
		return labelCounts.precision
	case "Recall":
		return labelCounts.recall
	case "F1":
		return labelCounts.f1
	default:
		square := m.Number("beta") * m.Number("beta")
		return func(l labelCounts) float64 { return l.f(square) }
	}
}

// ofLabels is a score of one label, or its average over the labels.
func (t *counts) ofLabels(m measure.Measure, labels []string, score func(labelCounts) float64) (float64, string) {
	chosen := t.labels
	if names := m.Labels(); names != nil {
		chosen = nil
		for _, name := range names {
			code := slices.Index(labels, name)
			if code < 0 || t.labels[code].actual == 0 {
				return 0, fmt.Sprintf("no example of the truth has the label %q", name)
			}
			chosen = append(chosen, t.labels[code])
		}
	}
	switch m.Param("average") {
	case "macro":
		return mean(chosen, score, labelCounts.occurs), ""
	case "weighted":
		return mean(chosen, score, labelCounts.support), ""
	default: // micro, or one label alone: hits, predictions and examples summed over the labels
		var all labelCounts
		for _, l := range chosen {
			all.hits, all.predicted, all.actual = all.hits+l.hits, all.predicted+l.predicted, all.actual+l.actual
		}
		return score(all), ""
	}
}

// mean is the mean of a score over the labels, each with a weight.
func mean(labels []labelCounts, score func(labelCounts) float64, weight func(labelCounts) int64) float64 {
	var sum float64
	var weights int64
	for _, m := range labels {
		w := weight(m)
		sum += float64(w) * score(m)
		weights += w
	}
	return sum / float64(weights)
}

// matthews is Gorodkin's R_K, which for two labels is Matthews' coefficient: (c s - Σ p t) / sqrt((s² - Σ p²)(s² - Σ t²))
// with c correct of s samples, and each label p times predicted and t times true. It is 0 when either side has only one label.
func (t *counts) matthews() float64 {
	chance, predicted, actual := t.products()
	all := t.samples * t.samples
	if all == predicted || all == actual {
		return 0
	}
	return float64(t.correct*t.samples-chance) / math.Sqrt(float64(all-predicted)*float64(all-actual))
}

// kappa is Cohen's (po - pe) / (1 - pe): agreement beyond what the two label frequencies give by chance. It is not
// defined when chance alone explains everything, that is when both sides have one and the same label throughout.
func (t *counts) kappa() (float64, string) {
	chance, _, _ := t.products()
	all := t.samples * t.samples
	if all == chance {
		return 0, "truth and predictions have one and the same label throughout, so chance alone explains the agreement"
	}
	return float64(t.correct*t.samples-chance) / float64(all-chance), ""
}

// products are Σ p t, Σ p² and Σ t² over the labels: exact, since a sample count is far below 2^31.
func (t *counts) products() (chance, predicted, actual int64) {
	for _, m := range t.labels {
		chance += m.predicted * m.actual
		predicted += m.predicted * m.predicted
		actual += m.actual * m.actual
	}
	return chance, predicted, actual
}

// counts counts what every measure of nominal labels is made of. There is no confusion matrix: with ten thousand
// labels it would have a hundred million cells, and no measure here needs more than its diagonal and margins.
type counts struct {
	samples, correct int64
	labels           []labelCounts // by label code
}

// labelCounts counts the predictions of one label.
type labelCounts struct {
	hits      int64 // predicted and true
	predicted int64
	actual    int64 // in the truth: the label's support
}

// newCounts counts truth[i] against predicted[i]; all are codes below labels.
func newCounts(labels int, truth, predicted []int32) *counts {
	t := &counts{samples: int64(len(truth)), labels: make([]labelCounts, labels)}
	for i, actual := range truth {
		t.labels[actual].actual++
		t.labels[predicted[i]].predicted++
		if actual == predicted[i] {
			t.labels[actual].hits++
		}
	}
	for _, m := range t.labels {
		t.correct += m.hits
	}
	return t
}

// ratio is a/b, with 0/0 = 0.
func ratio(a, b int64) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

func (m labelCounts) precision() float64 { return ratio(m.hits, m.predicted) }
func (m labelCounts) recall() float64    { return ratio(m.hits, m.actual) }
func (m labelCounts) f1() float64        { return ratio(2*m.hits, m.predicted+m.actual) }

// f is F with the square of beta; 0/0 is 0.
func (m labelCounts) f(square float64) float64 {
	all := square*float64(m.actual) + float64(m.predicted)
	if all == 0 {
		return 0
	}
	return (1 + square) * float64(m.hits) / all
}

// Weights of the label in means: support is how many examples truly have it, isTrue is 1 when any has, and occurs is 1 when it is in
// the truth or among the predictions.
func (m labelCounts) support() int64 { return m.actual }
func (m labelCounts) isTrue() int64  { return min(m.actual, 1) }
func (m labelCounts) occurs() int64  { return min(m.actual+m.predicted, 1) }
