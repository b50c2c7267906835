package regression_test

import (
	"maps"
	"math"
	"slices"
	"testing"

	"assay/shared/measure"
	"assay/shared/measure/measuretest"
	"assay/shared/measure/regression"
)

// TestSpotValues are values by scikit-learn 1.9.1 and scipy 1.17.1 for cases that the reference data do not have.
func TestSpotValues(t *testing.T) {
	cases := []struct {
		name             string
		truth, predicted []float64
		want             map[string]float64
	}{
		{"two examples", []float64{1, 2}, []float64{5, 3}, map[string]float64{
			"MSE": 8.5, "RMSE": 2.9154759474226504, "MAE": 2.5, "R2": -33.0,
			"Pearson": -1.0, "Spearman": -0.9999999999999999, "Kendall": -1.0,
		}},
		{"ties on both sides", []float64{1, 2, 2, 3, 3, 3, 4, 1}, []float64{2, 1, 2, 2, 3, 3, 1, 1}, map[string]float64{
			"MSE": 1.5, "RMSE": 1.224744871391589, "MAE": 0.75, "R2": -0.5238095238095237,
			"Pearson": 0.2219167619785609, "Spearman": 0.23533936216582083, "Kendall": 0.22750787759664504,
		}},
		{"reversed", []float64{1, 2, 3, 4, 5.5}, []float64{9, 7, 5, 3, -1}, map[string]float64{
			"MSE": 27.25, "RMSE": 5.220153254455275, "MAE": 4.5, "R2": -10.168032786885247,
			"Pearson": -0.9972269926097787, "Spearman": -0.9999999999999999, "Kendall": -0.9999999999999999,
		}},
		{"constant truth, wrong", []float64{3, 3, 3}, []float64{3, 4, 2}, map[string]float64{
			"MSE": 0.6666666666666666, "RMSE": 0.816496580927726, "MAE": 0.6666666666666666, "R2": 0.0,
		}},
		{"constant truth, right", []float64{3, 3, 3}, []float64{3, 3, 3}, map[string]float64{
			"MSE": 0.0, "RMSE": 0.0, "MAE": 0.0, "R2": 1.0,
		}},
		{"one outlier", []float64{0.1, 0.2, 0.3, 0.4, 100}, []float64{0.3, 0.1, 0.2, 0.5, -7}, map[string]float64{
			"MSE": 2289.814, "RMSE": 47.85200100309286, "MAE": 21.5, "R2": -0.4383073076971393,
			"Pearson": -0.9989049459198079, "Spearman": -0.3, "Kendall": -0.19999999999999998,
		}},
		{"offset", []float64{1000000001.0, 1000000002.0, 1000000003.0, 1000000005.0}, []float64{1000000001.0, 1000000003.0, 1000000002.0, 1000000006.0}, map[string]float64{
			"MSE": 0.75, "RMSE": 0.8660254037844386, "MAE": 0.75, "R2": 0.6571428571428571,
			"Pearson": 0.9035079029052514, "Spearman": 0.7999999999999999, "Kendall": 0.6666666666666669,
		}},
	}
	for _, c := range cases {
		got := regression.Evaluate(measuretest.Parse(t, measure.Regression, slices.Collect(maps.Keys(c.want))...), c.truth, c.predicted)
		for name, want := range c.want {
			if g := got.Measures[name]; g == nil || !(math.Abs(*g-want) <= 1e-12*max(1, math.Abs(want))) {
				t.Errorf("%s: %s is %v (%s), want %v", c.name, name, g, got.Reasons[name], want)
			}
		}
	}
}
