package evaluator_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"assay/shared/measure"
	"assay/shared/measure/evaluator"
)

// BenchmarkEvaluate goes from the bytes of a run of a million lines to its measures.
func BenchmarkEvaluate(b *testing.B) {
	const n = 1_000_000
	tests := []struct {
		settings evaluator.Settings
		header   string
		line     func(i int) string
	}{
		{evaluator.Settings{Kind: measure.Classification, Measures: []string{"Accuracy", "F1(average=macro)", "MCC", "Kappa"}, Format: classificationSettings.Format},
			"id,label\n", func(i int) string { return fmt.Sprintf("example-%07d,label%d\n", i, rand.IntN(10)) }},
		{evaluator.Settings{Kind: measure.Regression, Measures: []string{"RMSE", "MAE", "R2", "Pearson", "Spearman", "Kendall"}, Format: regressionSettings.Format},
			"", func(i int) string {
				return fmt.Sprintf("{\"id\": \"example-%07d\", \"y\": %.6f}\n", i, rand.NormFloat64())
			}},
	}
	for _, test := range tests {
		b.Run(string(test.settings.Kind), func(b *testing.B) {
			write := func(order []int) evaluator.File {
				var content bytes.Buffer
				content.WriteString(test.header)
				for _, i := range order {
					content.WriteString(test.line(i))
				}
				b.SetBytes(int64(content.Len()))
				return evaluator.File{Name: "file", Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content.Bytes())), nil }}
			}
			truth, diagnostics, err := evaluator.ReadTruth(b.Context(), test.settings, []evaluator.File{write(rand.Perm(n))})
			if err != nil || len(diagnostics) > 0 {
				b.Fatal(err, diagnostics)
			}
			run := []evaluator.File{write(rand.Perm(n))}
			b.ReportAllocs()
			for b.Loop() {
				if _, diagnostics, err := truth.Evaluate(b.Context(), run); err != nil || len(diagnostics) > 0 {
					b.Fatal(err, diagnostics)
				}
			}
		})
	}
}
