package scoring_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/measuretest"
	"assay/shared/computation/measure/scoring"
)

// BenchmarkMillion reads and evaluates a truth and a run of a million examples in the same order. It reports the peak memory of the process
// as a multiple of the bytes of both files.
func BenchmarkMillion(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(25)) // like the program assay
	predicted := map[measure.Kind]struct {
		measures []string
		value    func(i int) any
	}{
		measure.Classification: {[]string{"Accuracy", "F1(average=macro)", "Kappa"}, func(i int) any { return fmt.Sprintf("label-%d", i%7) }},
		measure.Multilabel: {[]string{"F1(average=micro)", "F1(average=samples)", "Jaccard(average=macro)", "HammingLoss"},
			func(i int) any { return []string{fmt.Sprintf("label-%d", i%7), fmt.Sprintf("label-%d", 7+i%11)} }},
		measure.Probabilities: {[]string{"AUC", "AP", "LogLoss", "Brier"}, func(i int) any { return float64(i%9973) / 9973 }},
		measure.Regression:    {[]string{"RMSE", "Pearson", "Spearman", "Kendall"}, func(i int) any { return float64(i%9973) / 9973 }},
		measure.Clustering:    {[]string{"VMeasure", "ARI", "BCubedF"}, func(i int) any { return fmt.Sprintf("cluster-%d", i%5000) }},
	}
	for kind, of := range predicted {
		for _, written := range []string{measure.JSONL, measure.CSV} {
			format := measure.Format{Kind: written, IDField: "id", ValueField: "label"}
			b.Run(string(kind)+"/"+written, func(b *testing.B) {
				truth, size := million(b, format, func(i int) any {
					if kind == measure.Probabilities {
						return []string{"no", "yes"}[i%2]
					}
					return of.value(i * 104729)
				})
				run, runSize := million(b, format, of.value)
				settings := scoring.Settings{Kind: kind, Measures: of.measures, Format: format}
				b.SetBytes(size + runSize)
				peak := measuretest.PeakMemory()
				for b.Loop() {
					t, diagnostics, err := scoring.ReadTruth(b.Context(), settings, []scoring.File{truth})
					if t == nil {
						b.Fatal(diagnostics, err)
					}
					e, err := t.Read(b.Context(), []scoring.File{run})
					if err != nil || len(e.Result.Measures) != len(of.measures) {
						b.Fatal(e, err)
					}
				}
				b.ReportMetric(float64(peak())/float64(size+runSize), "memory/files")
			})
		}
	}
}

// million returns a file of a million examples, and its size.
func million(b *testing.B, format measure.Format, value func(i int) any) (scoring.File, int64) {
	b.Helper()
	const n = 1_000_000
	var text bytes.Buffer
	if format.Kind == measure.CSV {
		text.WriteString("id,label\n")
	}
	for i := range n {
		written := value(i)
		switch v := written.(type) {
		case []string:
			written = strings.Join(v, measure.DefaultSeparator)
			if format.Kind == measure.JSONL {
				labels, _ := json.Marshal(v) // strings cannot fail
				written = string(labels)
			}
		case string:
			if format.Kind == measure.JSONL {
				written = strconv.Quote(v)
			}
		}
		if format.Kind == measure.JSONL {
			fmt.Fprintf(&text, `{"id": "example-%07d", "label": %v}`+"\n", i, written)
		} else {
			fmt.Fprintf(&text, "example-%07d,%v\n", i, written)
		}
	}
	name := filepath.Join(b.TempDir(), "file")
	if err := os.WriteFile(name, text.Bytes(), 0o600); err != nil {
		b.Fatal(err)
	}
	return scoring.File{Name: "file", Open: func() (io.ReadCloser, error) { return os.Open(name) }}, int64(text.Len())
}
