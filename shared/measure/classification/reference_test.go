package classification_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"assay/shared/measure"
	"assay/shared/measure/classification"
	"assay/shared/measure/measuretest"
	"assay/shared/measure/predictions"
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

// evaluate reads two files and evaluates one measure of them.
func evaluate(t *testing.T, truthFile, runFile string, names ...string) measure.Result {
	t.Helper()
	var report measure.Report
	format := predictions.Format{Kind: predictions.JSONL, IDField: "id", ValueField: "label"}
	truth, err := predictions.ReadTruth(t.Context(), format, predictions.Labels, []measure.File{open(t, truthFile)}, &report)
	if err != nil {
		t.Fatal(err)
	}
	run, err := truth.ReadRun(t.Context(), []measure.File{open(t, runFile)}, &report)
	if err != nil || report.Failed() {
		t.Fatal(err, report.Diagnostics())
	}
	return classification.Evaluate(measuretest.Parse(t, measure.Classification, names...), run.Labels(), truth.Codes(), run.Codes())
}

// reference is what scikit-learn says of one folder of testdata.
type reference struct {
	values   map[string]float64
	perClass map[string]map[string]float64
}

func readReference(t *testing.T, folder string) reference {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, "reference.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	r := reference{values: map[string]float64{}}
	for name, raw := range all {
		if name == "per_class" {
			if err := json.Unmarshal(raw, &r.perClass); err != nil {
				t.Fatal(err)
			}
		} else if value, err := strconv.ParseFloat(string(raw), 64); err == nil {
			r.values[name] = value
		}
	}
	return r
}

func TestReferenceValues(t *testing.T) {
	ours := map[string]string{
		"accuracy": "Accuracy", "balanced_accuracy": "BalancedAccuracy",
		"matthews_correlation": "MCC", "cohen_kappa": "Kappa",
		"precision_macro": "Precision(average=macro)", "precision_micro": "Precision(average=micro)", "precision_weighted": "Precision(average=weighted)",
		"recall_macro": "Recall(average=macro)", "recall_micro": "Recall(average=micro)", "recall_weighted": "Recall(average=weighted)",
		"f1_macro": "F1(average=macro)", "f1_micro": "F1(average=micro)", "f1_weighted": "F1(average=weighted)",
	}
	binary := map[string]string{
		"precision_binary_pos1": "Precision(positive=1)", "recall_binary_pos1": "Recall(positive=1)", "f1_binary_pos1": "F1(positive=1)",
	}
	perLabel := map[string]string{"precision": "Precision", "recall": "Recall", "f1": "F1"}

	folders, err := filepath.Glob("testdata/*/reference.json")
	if err != nil || len(folders) != 5 {
		t.Fatal(folders, err)
	}
	for _, f := range folders {
		folder := filepath.Dir(f)
		t.Run(filepath.Base(folder), func(t *testing.T) {
			check := func(name string, want float64) {
				t.Helper()
				result := evaluate(t, filepath.Join(folder, "truth.jsonl"), filepath.Join(folder, "predictions.jsonl"), name)
				if got := result.Measures[name]; got == nil || !(math.Abs(*got-want) <= 1e-9) {
					t.Errorf("%s is %v (%s), want %v", name, got, result.Reasons[name], want)
				}
			}
			want := readReference(t, folder)
			for theirs, name := range ours {
				value, ok := want.values[theirs]
				if !ok {
					t.Errorf("the reference has no %s", theirs)
				}
				check(name, value)
			}
			for theirs, name := range binary {
				if value, ok := want.values[theirs]; ok {
					check(name, value)
				}
			}
			for label, scores := range want.perClass {
				for theirs, name := range perLabel {
					if scores["support"] > 0 {
						check(name+"(positive="+label+")", scores[theirs])
					}
				}
			}
		})
	}
}
