package evaluator_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"assay/shared/measure"
	"assay/shared/measure/evaluator"
	"assay/shared/measure/measuretest"
)

// TestTruth_BytesAreItsMemory reads packed truths, whose files are far smaller, and compares with the heap.
func TestTruth_BytesAreItsMemory(t *testing.T) {
	retrieval := evaluator.Settings{Kind: measure.Retrieval, Measures: []string{"AP"}, Format: measure.Format{Kind: measure.TRECRun}}
	numbers := classificationSettings
	numbers.Kind, numbers.Measures = measure.Regression, []string{"RMSE"}
	const many = 100_000
	for name, tt := range map[string]struct {
		settings evaluator.Settings
		header   string
		line     func(i int) string
	}{
		"few topics":  {retrieval, "", func(i int) string { return fmt.Sprintf("%d 0 document-%08d 1\n", i%50, i) }},
		"many topics": {retrieval, "", func(i int) string { return fmt.Sprintf("topic-%08d 0 document-%08d 1\n", i, i) }},
		"few labels":  {classificationSettings, "id,label\n", func(i int) string { return fmt.Sprintf("example-%08d,%d\n", i, i%3) }},
		"many labels": {classificationSettings, "id,label\n", func(i int) string { return fmt.Sprintf("example-%08d,label-%08d\n", i, i%9999) }},
		"sets":        {multilabelSettings, "id,label\n", func(i int) string { return fmt.Sprintf("example-%08d,a%d b%d\n", i, i%3, i%5) }},
		"numbers":     {numbers, "id,label\n", func(i int) string { return fmt.Sprintf("example-%08d,%d\n", i, i) }},
	} {
		t.Run(name, func(t *testing.T) {
			var text strings.Builder
			text.WriteString(tt.header)
			for i := range many {
				text.WriteString(tt.line(i))
			}
			packed := measuretest.Gzip(t, text.String())
			before := heap()
			truth, diagnostics, err := evaluator.ReadTruth(t.Context(), tt.settings, []evaluator.File{file("truth.gz", packed)})
			if err != nil || truth == nil {
				t.Fatal(diagnostics, err)
			}
			took := heap() - before
			if got := truth.Bytes(); got < took*2/3 || got > took*3/2 || got < 2*int64(len(packed)) {
				t.Errorf("Bytes returns %d, %d are taken, and the file has %d", got, took, len(packed))
			}
			runtime.KeepAlive(truth)
		})
	}
}

// heap returns the bytes in use after a garbage collection.
func heap() int64 {
	runtime.GC()
	runtime.GC() // what pools hold goes with the second
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
