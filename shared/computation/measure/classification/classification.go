// Package classification compares predicted labels with true labels.
//
// # Definitions
//
// For each label, precision is the share of its predictions that are right, and recall is the share of its examples that are found. F1 = 2
// hits / (predictions + examples). The families of package measure state the conventions: over which labels averages run, 0/0, and values
// that are not defined.
//
//   - F: (1 + beta²) hits / (beta² examples + predictions) in the place of F1.
//   - MCC: Matthews' coefficient, or Gorodkin's R_K for more than two labels.
//   - MacroMAE: Baccianella, Esuli and Sebastiani, ISDA 2009.
//
// Values equal the values of scikit-learn. A measure that is not defined has no value but a reason, never NaN.
package classification

import (
	"fmt"
	"math"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/decisions"
	"assay/shared/computation/measure/predictions"
	"assay/shared/computation/measure/steps"
)

// Version names the semantics of this evaluator. Each evaluation records it. It changes whenever a value may change.
const Version = "classification/3"

// Computation computes the measures of classification.
var Computation = predictions.Evaluator[*counts]{
	Version: Version,
	Compare: func(counter *steps.Counter, truth *predictions.Gold, run *predictions.Run) *counts {
		return newCounts(counter, run.Labels(), truth.Codes(), run.Codes())
	},
	Measure: evaluate,
	Steps: func(asked []measure.Measure, truth *predictions.Gold) int {
		passes := 1
		for _, m := range asked {
			if m.Name == "MacroMAE" || m.Param("weights") != "" {
				passes++
			}
		}
		return passes*truth.Len() + decisions.ValueSteps(asked, len(truth.Labels()))
	},
	Detail: func(counter *steps.Counter, asked []measure.Measure, truth *predictions.Gold, t *counts, result *measure.Result) {
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
		case "Specificity", "FPR", "FNR":
			return t.rate(counter, m)
		case "MCC":
			return t.matthews(), ""
		case "Kappa":
			if m.Param("weights") != "" {
				return o.kappa(m)
			}
			return t.kappa()
		case "MacroMAE":
			return o.macroError()
		default:
			return t.Value(counter, m)
		}
	})
}

// rate returns Specificity, FPR or FNR of the positive label. The examples with the label, and those without it, must not be none.
func (t *counts) rate(counter *steps.Counter, m measure.Measure) (float64, string) {
	codes, reason := t.Chosen(counter, m)
	if reason != "" || len(codes) == 0 { // the counter has an error if there is no code
		return 0, reason
	}
	of := t.Counts[codes[0]]
	without := t.samples - of.Actual
	wrong := of.Predicted - of.Hits
	switch {
	case m.Name == "FNR":
		return float64(of.Actual-of.Hits) / float64(of.Actual), ""
	case without == 0:
		return 0, fmt.Sprintf("every example of the truth has the label %q", m.Param("positive"))
	case m.Name == "FPR":
		return float64(wrong) / float64(without), ""
	default:
		return float64(without-wrong) / float64(without), ""
	}
}

// matthews returns Gorodkin's R_K, which equals Matthews' coefficient for two labels: (c s - Σ p t) / sqrt((s² - Σ p²)(s² - Σ t²)), where c
// of s samples are correct, and a label is p times predicted and t times true. It returns 0 if either side has only one label.
func (t *counts) matthews() float64 {
	chance, predicted, actual := t.products()
	all := t.samples * t.samples
	if all == predicted || all == actual {
		return 0
	}
	return float64(t.correct*t.samples-chance) / math.Sqrt(float64(all-predicted)*float64(all-actual))
}

// kappa returns Cohen's (po - pe) / (1 - pe): the agreement beyond the agreement by chance, which follows from the frequencies of labels.
// It is not defined if all labels of both sides are the same, because chance explains this agreement completely.
func (t *counts) kappa() (float64, string) {
	chance, _, _ := t.products()
	all := t.samples * t.samples
	if all == chance {
		return 0, "truth and predictions have one and the same label throughout, so chance alone explains the agreement"
	}
	return float64(t.correct*t.samples-chance) / float64(all-chance), ""
}

// products returns Σ p t, Σ p² and Σ t² over the labels. The sums are exact, because the number of samples is far below 2^31.
func (t *counts) products() (chance, predicted, actual int64) {
	for _, m := range t.Counts {
		chance += m.Predicted * m.Actual
		predicted += m.Predicted * m.Predicted
		actual += m.Actual * m.Actual
	}
	return chance, predicted, actual
}

// counts holds the counts that all measures of nominal labels follow from. Measures need only the diagonal and the margins of the confusion
// matrix. The matrix itself would have a hundred million cells for ten thousand labels.
type counts struct {
	decisions.Labels
	samples, correct int64
	truth, predicted []int32 // codes, by example
}

// newCounts compares truth[i] with predicted[i], which are indices in names.
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
