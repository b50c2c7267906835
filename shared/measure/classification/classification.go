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
	"assay/shared/measure/steps"
)

// Version names the semantics of this evaluator. It is recorded with every evaluation and changes whenever a value
// could.
const Version = "classification/2"

// Computation is that of the evaluator of classification.
var Computation = predictions.Evaluator[*counts]{
	Version: Version,
	Compare: func(counter *steps.Counter, truth *predictions.Truth, run *predictions.Run) *counts {
		return newCounts(counter, run.Labels(), truth.Codes(), run.Codes())
	},
	Measure: evaluate,
	Steps: func(asked []measure.Measure, truth *predictions.Truth) int {
		passes := 1
		for _, m := range asked {
			if m.Name == "MacroMAE" || m.Param("weights") != "" {
				passes++
			}
		}
		return passes*truth.Len() + decisions.ValueSteps(asked, len(truth.Labels()))
	},
	Detail: func(counter *steps.Counter, asked []measure.Measure, truth *predictions.Truth, t *counts, result *measure.Result) {
		result.Classes = t.Classes(func(add func(actual, predicted int)) {
			for i, actual := range t.truth {
				if counter.Add(1) != nil {
					return
				}
				add(int(actual), int(t.predicted[i]))
			}
		})
		truth.AddValues(counter, asked, result, func(m measure.Measure) func(int) float64 {
			if m.Name != "Accuracy" {
				return nil
			}
			return func(i int) float64 {
				if t.truth[i] == t.predicted[i] {
					return 1
				}
				return 0
			}
		})
	},
}.Computation(predictions.Labels)

func evaluate(counter *steps.Counter, measures []measure.Measure, t *counts) measure.Result {
	o := &ordinal{t, counter}
	return measure.Compute(counter, measures, func(m measure.Measure) (float64, string) {
		switch m.Name {
		case "Accuracy":
			return float64(t.correct) / float64(t.samples), ""
		case "BalancedAccuracy":
			return decisions.Mean(counter, t.Counts, decisions.Counts.Recall, decisions.Counts.IsTrue), ""
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
			return t.Value(counter, m)
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
	truth, predicted []int32 // codes, by example
}

// newCounts counts truth[i] against predicted[i]; all are codes of the labels.
func newCounts(counter *steps.Counter, names []string, truth, predicted []int32) *counts {
	t := &counts{
		Labels:    decisions.Labels{Names: names, Counts: make([]decisions.Counts, len(names))},
		samples:   int64(len(truth)),
		truth:     truth,
		predicted: predicted,
	}
	for i, actual := range truth {
		if counter.Add(1) != nil {
			break
		}
		t.Counts[actual].Actual++
		t.Counts[predicted[i]].Predicted++
		if actual == predicted[i] {
			t.Counts[actual].Hits++
			t.correct++
		}
	}
	return t
}
