package classification_test

import (
	"maps"
	"math"
	"slices"
	"testing"

	"assay/shared/measure"
	"assay/shared/measure/classification"
	"assay/shared/measure/measuretest"
)

// TestSpotValues are values by scikit-learn 1.9.1 for cases that the reference data do not have.
func TestSpotValues(t *testing.T) {
	cases := []struct {
		name             string
		truth, predicted []int32
		want             map[string]float64
	}{
		{"all wrong", []int32{0, 1, 2, 0, 1}, []int32{1, 2, 0, 2, 0}, map[string]float64{
			"Accuracy": 0.0, "BalancedAccuracy": 0.0, "MCC": -0.5,
			"Kappa": -0.47058823529411753, "Precision(average=macro)": 0.0, "Precision(average=micro)": 0.0,
			"Precision(average=weighted)": 0.0, "Recall(average=macro)": 0.0, "Recall(average=micro)": 0.0,
			"Recall(average=weighted)": 0.0, "F1(average=macro)": 0.0, "F1(average=micro)": 0.0,
			"F1(average=weighted)": 0.0,
		}},
		{"one label in the truth", []int32{0, 0, 0, 0}, []int32{0, 1, 2, 0}, map[string]float64{
			"Accuracy": 0.5, "BalancedAccuracy": 0.5, "MCC": 0.0,
			"Kappa": 0.0, "Precision(average=macro)": 0.3333333333333333, "Precision(average=micro)": 0.5,
			"Precision(average=weighted)": 1.0, "Recall(average=macro)": 0.16666666666666666, "Recall(average=micro)": 0.5,
			"Recall(average=weighted)": 0.5, "F1(average=macro)": 0.2222222222222222, "F1(average=micro)": 0.5,
			"F1(average=weighted)": 0.6666666666666666,
		}},
		{"one label in the predictions", []int32{0, 1, 2, 0}, []int32{0, 0, 0, 0}, map[string]float64{
			"Accuracy": 0.5, "BalancedAccuracy": 0.3333333333333333, "MCC": 0.0,
			"Kappa": 0.0, "Precision(average=macro)": 0.16666666666666666, "Precision(average=micro)": 0.5,
			"Precision(average=weighted)": 0.25, "Recall(average=macro)": 0.3333333333333333, "Recall(average=micro)": 0.5,
			"Recall(average=weighted)": 0.5, "F1(average=macro)": 0.2222222222222222, "F1(average=micro)": 0.5,
			"F1(average=weighted)": 0.3333333333333333,
		}},
		{"only other labels predicted", []int32{0, 1, 1, 0}, []int32{2, 3, 2, 3}, map[string]float64{
			"Accuracy": 0.0, "BalancedAccuracy": 0.0, "MCC": 0.0,
			"Kappa": 0.0, "Precision(average=macro)": 0.0, "Precision(average=micro)": 0.0,
			"Precision(average=weighted)": 0.0, "Recall(average=macro)": 0.0, "Recall(average=micro)": 0.0,
			"Recall(average=weighted)": 0.0, "F1(average=macro)": 0.0, "F1(average=micro)": 0.0,
			"F1(average=weighted)": 0.0,
		}},
		{"one example", []int32{0}, []int32{1}, map[string]float64{
			"Accuracy": 0.0, "BalancedAccuracy": 0.0, "MCC": 0.0,
			"Kappa": 0.0, "Precision(average=macro)": 0.0, "Precision(average=micro)": 0.0,
			"Precision(average=weighted)": 0.0, "Recall(average=macro)": 0.0, "Recall(average=micro)": 0.0,
			"Recall(average=weighted)": 0.0, "F1(average=macro)": 0.0, "F1(average=micro)": 0.0,
			"F1(average=weighted)": 0.0,
		}},
		{"same label throughout", []int32{1, 1, 1}, []int32{1, 1, 1}, map[string]float64{
			"Accuracy": 1.0, "BalancedAccuracy": 1.0, "MCC": 0.0,
			"Precision(average=macro)": 1.0, "Precision(average=micro)": 1.0, "Precision(average=weighted)": 1.0,
			"Recall(average=macro)": 1.0, "Recall(average=micro)": 1.0, "Recall(average=weighted)": 1.0,
			"F1(average=macro)": 1.0, "F1(average=micro)": 1.0, "F1(average=weighted)": 1.0,
		}},
		{"uneven labels", []int32{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 3, 3}, []int32{0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 1, 1, 0, 0, 3, 4}, map[string]float64{
			"Accuracy": 0.6666666666666666, "BalancedAccuracy": 0.47916666666666663, "MCC": 0.3962461644163422,
			"Kappa": 0.3932584269662922, "Precision(average=macro)": 0.396969696969697, "Precision(average=micro)": 0.6666666666666666,
			"Precision(average=weighted)": 0.7121212121212122, "Recall(average=macro)": 0.3833333333333333, "Recall(average=micro)": 0.6666666666666666,
			"Recall(average=weighted)": 0.6666666666666666, "F1(average=macro)": 0.3898550724637681, "F1(average=micro)": 0.6666666666666666,
			"F1(average=weighted)": 0.6884057971014493,
		}},
	}
	for _, c := range cases {
		names := slices.Collect(maps.Keys(c.want))
		got := classification.Evaluate(measuretest.Parse(t, measure.Classification, names...), labels, c.truth, c.predicted)
		for name, want := range c.want {
			if g := got.Measures[name]; g == nil || !(math.Abs(*g-want) <= 1e-12) {
				t.Errorf("%s: %s is %v (%s), want %v", c.name, name, g, got.Reasons[name], want)
			}
		}
	}
}
