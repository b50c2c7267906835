// Package regression measures how well predicted numbers agree with true ones.
//
// # Definitions
//
//   - MSE: mean of the squared differences; RMSE: its square root; MAE: mean of the absolute differences.
//   - R2: 1 - SSE/SST, where SST is about the mean of the truth. When all values of the truth are equal it is 1 for
//     perfect predictions and 0 for others.
//   - Pearson: product-moment correlation; Spearman: that of the ranks, ties sharing their mean rank; Kendall: tau-b.
//
// They are those of scikit-learn and scipy. R2 and the correlations need two examples, and the correlations are not
// defined when either side is constant: then they have no value and a reason, never NaN.
//
// Sums are compensated and taken about the mean in a second pass, in a unit in which nothing overflows, so that large
// offsets and extreme magnitudes cost no digits. This is why no general library does it.
package regression

import "assay/shared/measure"

// Version names the semantics of this evaluator. It is recorded with every evaluation and changes whenever a value
// could.
const Version = "regression/1"

// measures has the families of regression. Each returns a value, or the reason why it has none.
var measures = map[string]func(truth, predicted []float64) (value float64, reason string){
	"MSE":      meanSquaredError,
	"RMSE":     rootMeanSquaredError,
	"MAE":      meanAbsoluteError,
	"R2":       rSquared,
	"Pearson":  pearson,
	"Spearman": spearman,
	"Kendall":  Kendall,
}

// Evaluate compares predicted with true numbers, of the same examples in the same order. There is at least one, all
// are finite, and every measure is one of regression.
func Evaluate(asked []measure.Measure, truth, predicted []float64) measure.Result {
	return measure.Compute(asked, func(m measure.Measure) (float64, string) { return measures[m.Name](truth, predicted) })
}
