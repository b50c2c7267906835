package measure_test

import (
	"math"
	"testing"

	"assay/shared/computation/measure"
)

func TestRunsToReveal_OfEachKind(t *testing.T) {
	for _, c := range []struct {
		kind    measure.Kind
		measure string
		shape   measure.Shape
		want    int
	}{
		{measure.Classification, "Accuracy", measure.Shape{Examples: 40, Labels: 2}, 14}, // an experiment with an integer program needed as many
		{measure.Classification, "Accuracy", measure.Shape{Examples: 40, Labels: 1}, 14},
		{measure.Classification, "F1(average=macro)", measure.Shape{Examples: 40, Labels: 10}, 49},
		{measure.Classification, "Accuracy", measure.Shape{Examples: 1000, Labels: 2}, 200},
		{measure.Classification, "Accuracy", measure.Shape{Examples: 2, Labels: 2}, 2},
		{measure.Classification, "Accuracy", measure.Shape{Examples: 1, Labels: 2}, 1},
		{measure.Classification, "Accuracy", measure.Shape{}, 0},
		{measure.Multilabel, "HammingLoss", measure.Shape{Examples: 40, Labels: 10}, 92},
		{measure.Probabilities, "Brier", measure.Shape{Examples: 40, Labels: 2}, 1},
		{measure.Probabilities, "LogLoss", measure.Shape{Examples: 1000, Labels: 2}, 23},
		{measure.Probabilities, "AUC", measure.Shape{Examples: 40, Labels: 2}, 14},
		{measure.Regression, "RMSE", measure.Shape{Examples: 40}, 41},
		{measure.Regression, "Spearman", measure.Shape{Examples: 40}, 0},
		{measure.Clustering, "ARI", measure.Shape{Examples: 40, Labels: 3}, 0},
		{measure.Retrieval, "nDCG@10", measure.Shape{Examples: 40}, 0},
		{"worker", "Score", measure.Shape{Examples: 40, Labels: 2}, 0},
	} {
		if got := measure.RunsToReveal(c.kind, []string{c.measure}, c.shape); got != c.want {
			t.Errorf("%s of %s, %+v: %d, want %d", c.measure, c.kind, c.shape, got, c.want)
		}
	}
}

// TestRunsToReveal_IsAboveTheInformationBound divides the bits of the truth by the bits of a score: no strategy needs fewer runs.
func TestRunsToReveal_IsAboveTheInformationBound(t *testing.T) {
	for n := 1; n <= 5_000_000; n += n/7 + 1 {
		for _, labels := range []int{2, 3, 10, 1000} {
			got := measure.RunsToReveal(measure.Classification, []string{"Accuracy"}, measure.Shape{Examples: n, Labels: labels})
			bound := float64(n) * math.Log2(float64(labels)) / math.Log2(float64(n+1))
			if float64(got) < math.Floor(bound) || float64(got) > 2*bound {
				t.Errorf("%d examples with %d labels: %d runs, and the bound is %g", n, labels, got, bound)
			}
		}
	}
}
