package classification_test

import (
	"testing"

	"assay/shared/measure"
	"assay/shared/measure/classification"
	"assay/shared/measure/measuretest"
	"assay/shared/measure/predictions"
)

func TestEvaluate_AgreesWithScikitLearn(t *testing.T) {
	ours := map[string]string{
		"accuracy": "Accuracy", "balanced_accuracy": "BalancedAccuracy",
		"matthews_correlation": "MCC", "cohen_kappa": "Kappa",
		"precision_macro": "Precision(average=macro)", "precision_micro": "Precision(average=micro)",
		"precision_weighted": "Precision(average=weighted)",
		"recall_macro":       "Recall(average=macro)", "recall_micro": "Recall(average=micro)", "recall_weighted": "Recall(average=weighted)",
		"f1_macro": "F1(average=macro)", "f1_micro": "F1(average=micro)", "f1_weighted": "F1(average=weighted)",
	}
	binary := map[string]string{
		"precision_binary_pos1": "Precision(positive=1)", "recall_binary_pos1": "Recall(positive=1)", "f1_binary_pos1": "F1(positive=1)",
	}
	perLabel := map[string]string{"precision": "Precision", "recall": "Recall", "f1": "F1"}
	measuretest.References(t, 10, func(t *testing.T, truthFile, runFile measure.File, reference map[string]any) {
		var report measure.Report
		format := predictions.Format{Kind: predictions.JSONL, IDField: "id", ValueField: "label"}
		truth, err := predictions.ReadTruth(t.Context(), format, predictions.Labels, []measure.File{truthFile}, &report)
		if err != nil {
			t.Fatal(err)
		}
		run, err := truth.ReadRun(t.Context(), []measure.File{runFile}, &report)
		if err != nil || report.Failed() {
			t.Fatal(err, report.Diagnostics())
		}
		check := func(name string, want any) {
			t.Helper()
			result := classification.Evaluate(measuretest.Parse(t, measure.Classification, name), run.Labels(), truth.Codes(), run.Codes())
			measuretest.CheckValue(t, result, name, want)
		}
		for theirs, name := range ours {
			check(name, reference[theirs])
		}
		for theirs, name := range binary {
			if want, ok := reference[theirs]; ok {
				check(name, want)
			}
		}
		labels, _ := reference["per_class"].(map[string]any)
		for label, scores := range labels {
			for theirs, name := range perLabel {
				if scores := scores.(map[string]any); scores["support"].(float64) > 0 {
					check(name+"(positive="+label+")", scores[theirs])
				}
			}
		}
	})
}
