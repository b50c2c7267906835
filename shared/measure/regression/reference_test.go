package regression_test

import (
	"testing"

	"assay/shared/measure"
	"assay/shared/measure/measuretest"
	"assay/shared/measure/predictions"
	"assay/shared/measure/regression"
)

func TestEvaluate_AgreesWithScikitLearnAndScipy(t *testing.T) {
	ours := map[string]string{
		"mse": "MSE", "rmse": "RMSE", "mae": "MAE", "r2": "R2",
		"pearsonr": "Pearson", "spearmanr": "Spearman", "kendalltau": "Kendall",
	}
	measuretest.References(t, 11, func(t *testing.T, truthFile, runFile measure.File, reference map[string]any) {
		var report measure.Report
		format := predictions.Format{Kind: predictions.JSONL, IDField: "id", ValueField: "value"}
		truth, err := predictions.ReadTruth(t.Context(), format, predictions.Numbers, []measure.File{truthFile}, &report)
		if err != nil {
			t.Fatal(err)
		}
		run, err := truth.ReadRun(t.Context(), []measure.File{runFile}, &report)
		if err != nil || report.Failed() {
			t.Fatal(err, report.Diagnostics())
		}
		for theirs, name := range ours {
			result := regression.Evaluate(measuretest.Parse(t, measure.Regression, name), truth.Numbers(), run.Numbers())
			measuretest.CheckValue(t, result, name, reference[theirs])
		}
	})
}
