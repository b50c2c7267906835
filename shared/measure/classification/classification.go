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
	"math"

	"assay/shared/measure"
	"assay/shared/measure/decisions"
	"assay/shared/measure/predictions"
)

// Version names the semantics of this evaluator. It is recorded with every evaluation and changes whenever a value
// could.
const Version = "classification/2"

// Computation is that of the evaluator of classification.
var Computation = predictions.Computation(Version, predictions.Labels,
	func(asked []measure.Measure, truth *predictions.Truth, run *predictions.Run) measure.Result {
		return Evaluate(asked, run.Labels(), truth.Codes(), run.Codes())
	},
	func(asked []measure.Measure, truth *predictions.Truth, run *predictions.Run, result *measure.Result) {
		result.Classes = newCounts(run.Labels(), truth.Codes(), run.Codes()).Classes(func(add func(actual, predicted int)) {
			for i, actual := range truth.Codes() {
				add(int(actual), int(run.Codes()[i]))
			}
		})
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
	t := newCounts(labels, truth, predicted)
	o := &ordinal{t, truth, predicted}
	return measure.Compute(measures, func(m measure.Measure) (float64, string) {
		switch m.Name {
		case "Accuracy":
			return float64(t.correct) / float64(t.samples), ""
		case "BalancedAccuracy":
			return decisions.Mean(t.Counts, decisions.Counts.Recall, decisions.Counts.IsTrue), ""
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
			return t.Value(m)
		}
	})
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
	for _, m := range t.Counts {
		chance += m.Predicted * m.Actual
		predicted += m.Predicted * m.Predicted
		actual += m.Actual * m.Actual
	}
	return chance, predicted, actual
}

// counts counts what every measure of nominal labels is made of. There is no confusion matrix: with ten thousand
// labels it would have a hundred million cells, and no measure here needs more than its diagonal and margins.
type counts struct {
	decisions.Labels
	samples, correct int64
}

// newCounts counts truth[i] against predicted[i]; all are codes of the labels.
func newCounts(names []string, truth, predicted []int32) *counts {
	t := &counts{decisions.Labels{Names: names, Counts: make([]decisions.Counts, len(names))}, int64(len(truth)), 0}
	for i, actual := range truth {
		t.Counts[actual].Actual++
		t.Counts[predicted[i]].Predicted++
		if actual == predicted[i] {
			t.Counts[actual].Hits++
			t.correct++
		}
	}
	return t
}
