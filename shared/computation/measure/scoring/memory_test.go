package scoring_test

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/lines"
	"assay/shared/computation/measure/measuretest"
	"assay/shared/computation/measure/scoring"
)

// TestTruth_BytesAreItsMemory compares Bytes of packed truths with their memory in the heap.
func TestTruth_BytesAreItsMemory(t *testing.T) {
	retrieval := scoring.Settings{Kind: measure.Retrieval, Measures: []string{"AP"}, Format: measure.Format{Kind: measure.TRECRun}}
	numbers := classificationSettings
	numbers.Kind, numbers.Measures = measure.Regression, []string{"RMSE"}
	clusters := classificationSettings
	clusters.Kind, clusters.Measures = measure.Clustering, []string{"ARI"}
	const many = 100_000
	for name, tt := range map[string]struct {
		settings scoring.Settings
		header   string
		line     func(i int) string
	}{
		"few topics":  {retrieval, "", func(i int) string { return fmt.Sprintf("%d 0 document-%08d 1\n", i%50, i) }},
		"many topics": {retrieval, "", func(i int) string { return fmt.Sprintf("topic-%08d 0 document-%08d 1\n", i, i) }},
		"few labels":  {classificationSettings, "id,label\n", func(i int) string { return fmt.Sprintf("example-%08d,%d\n", i, i%3) }},
		"many labels": {classificationSettings, "id,label\n", func(i int) string { return fmt.Sprintf("example-%08d,label-%08d\n", i, i%9999) }},
		"clusters":    {clusters, "id,label\n", func(i int) string { return fmt.Sprintf("example-%08d,cluster-%08d\n", i, i) }},
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
			truth, diagnostics, err := scoring.ReadTruth(t.Context(), tt.settings, []scoring.File{file("truth.gz", packed)})
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

// TestMemory_IsWhatReadingTakes compares Memory with the peak memory of the process, for the shortest lines of each format and for long
// lines.
func TestMemory_IsWhatReadingTakes(t *testing.T) {
	rankings := scoring.Settings{Kind: measure.Retrieval, Format: measure.Format{Kind: measure.TRECRun}}
	judged := scoring.Settings{Kind: measure.Retrieval, Measures: []string{"AP"}, Format: rankings.Format}
	spans := scoring.Settings{Kind: measure.Spans, Format: measure.Format{Kind: measure.CoNLL}}
	as := func(kind measure.Kind, format string) scoring.Settings {
		return scoring.Settings{Kind: kind, Format: measure.Format{Kind: format, IDField: "id", ValueField: "x"}}
	}
	const textBytes = 6 << 20
	diversity := scoring.Settings{Kind: measure.Diversity, Measures: []string{"StRecall@20"}, Format: rankings.Format}
	for name, tt := range map[string]struct {
		settings scoring.Settings
		header   string
		line     func(i int) string
	}{
		"short judgments": {judged, "", func(i int) string { return fmt.Sprintf("%d 0 %d 1\n", i/1000, i%1000) }},
		"long judgments":  {judged, "", func(i int) string { return fmt.Sprintf("%d 0 %0100d 1\n", i/1000, i%1000) }},
		"subtopics":       {diversity, "", func(i int) string { return fmt.Sprintf("%d %d %d 1\n", i/1000, i%10, i%1000) }},
		"short rankings":  {rankings, "", func(i int) string { return fmt.Sprintf("%d 0 %d 1 1 a\n", i/1000, i%1000) }},
		"long rankings": {rankings, "", func(i int) string {
			return fmt.Sprintf("%d Q0 document-%08d 1 1.2345 system\n", i/1000, i%1000)
		}},
		"clusters":      {as(measure.Clustering, measure.CSV), "id,x\n", func(i int) string { return fmt.Sprintf("%d,%d\n", i, i) }},
		"labels":        {as(measure.Classification, measure.CSV), "id,x\n", func(i int) string { return fmt.Sprintf("%d,a\n", i) }},
		"sets":          {as(measure.Multilabel, measure.CSV), "id,x\n", func(i int) string { return fmt.Sprintf("%d,a|b\n", i) }},
		"numbers":       {as(measure.Regression, measure.CSV), "id,x\n", func(i int) string { return fmt.Sprintf("%d,1\n", i) }},
		"probabilities": {as(measure.Probabilities, measure.CSV), "id,x\n", func(i int) string { return fmt.Sprintf("%d,1\n", i) }},
		"texts":         {as(measure.Text, measure.JSONL), "", func(i int) string { return fmt.Sprintf(`{"id":%d,"x":""}`+"\n", i) }},
		"spans":         {as(measure.Spans, measure.JSONL), "", func(i int) string { return fmt.Sprintf(`{"id":%d,"x":[]}`+"\n", i) }},
		"tokens":        {spans, "", func(int) string { return "a B\n\n" }},
	} {
		t.Run(name, func(t *testing.T) {
			var text bytes.Buffer
			text.WriteString(tt.header)
			for i := 0; text.Len() < textBytes; i++ {
				text.WriteString(tt.line(i))
			}
			size, err := lines.Count(t.Context(), bytes.NewReader(text.Bytes()), textBytes)
			if err != nil {
				t.Fatal(err)
			}
			before := measuretest.PeakMemory()()
			peak := measuretest.PeakMemory()
			read, counted := scoring.ValidateRun, tt.settings.Memory(size)
			if len(tt.settings.Measures) > 0 { // it is a truth
				counted = tt.settings.MemoryOfTruth(size)
				read = func(ctx context.Context, s scoring.Settings, files []scoring.File, _ ...*scoring.KnownIDs) ([]measure.Diagnostic, error) {
					_, found, err := scoring.ReadTruth(ctx, s, files)
					return found, err
				}
			}
			found, err := read(t.Context(), tt.settings, []scoring.File{file("file", text.String())})
			if err != nil || measure.HasErrors(found) {
				t.Fatal(found, err)
			}
			took := int64(peak() - before)
			if took > counted+textBytes { // file copies the text
				t.Errorf("reading takes %d MiB, and %d are counted", took>>20, counted>>20)
			}
		})
	}
}

// heap returns the bytes in use after a garbage collection.
func heap() int64 {
	runtime.GC()
	runtime.GC() // the second collection empties pools
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
