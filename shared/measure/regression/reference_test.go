package regression_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"assay/shared/measure"
	"assay/shared/measure/measuretest"
	"assay/shared/measure/predictions"
	"assay/shared/measure/regression"
)

// open opens a file of testdata until the test ends.
func open(t testing.TB, name string) measure.File {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return measure.File{Name: filepath.Base(name), Content: f}
}

func TestReferenceValues(t *testing.T) {
	ours := map[string]string{
		"mse": "MSE", "rmse": "RMSE", "mae": "MAE", "r2": "R2",
		"pearsonr": "Pearson", "spearmanr": "Spearman", "kendalltau": "Kendall",
	}
	folders, err := filepath.Glob("testdata/*/reference.json")
	if err != nil || len(folders) != 4 {
		t.Fatal(folders, err)
	}
	for _, f := range folders {
		folder := filepath.Dir(f)
		t.Run(filepath.Base(folder), func(t *testing.T) {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			var want map[string]any
			if err := json.Unmarshal(text, &want); err != nil {
				t.Fatal(err)
			}
			var report measure.Report
			format := predictions.Format{Kind: predictions.JSONL, IDField: "id", ValueField: "value"}
			truth, err := predictions.ReadTruth(t.Context(), format, predictions.Numbers, []measure.File{open(t, filepath.Join(folder, "truth.jsonl"))}, &report)
			if err != nil {
				t.Fatal(err)
			}
			run, err := truth.ReadRun(t.Context(), []measure.File{open(t, filepath.Join(folder, "predictions.jsonl"))}, &report)
			if err != nil || report.Failed() {
				t.Fatal(err, report.Diagnostics())
			}
			for theirs, name := range ours {
				result := regression.Evaluate(measuretest.Parse(t, measure.Regression, name), truth.Numbers(), run.Numbers())
				got, there := result.Measures[name]
				switch value := want[theirs].(type) {
				case float64:
					if got == nil || !(math.Abs(*got-value) <= 1e-9*max(1, math.Abs(value))) {
						t.Errorf("%s is %v (%s), want %v", name, got, result.Reasons[name], value)
					}
				case string: // "nan"
					if !there || got != nil || result.Reasons[name] == "" {
						t.Errorf("%s is %v with the reason %q, want nil and a reason", name, got, result.Reasons[name])
					}
				default:
					t.Errorf("the reference has no %s", theirs)
				}
			}
		})
	}
}
