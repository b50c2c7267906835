package retrieval

import (
	"os"
	"testing"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/measuretest"
)

// usual lists common measures of leaderboards.
var usual = []string{"AP", "nDCG@10", "RR", "P@10", "R@1000"}

func benchmark(b *testing.B, topics int) {
	run, qrels, size := measuretest.Ranked(b, topics)
	truth := readTruth(b, measuretest.Open(b, qrels))
	wanted := measuretest.Parse(b, measure.Retrieval, usual...)
	b.SetBytes(size)
	b.ReportAllocs()
	peak := measuretest.PeakMemory()
	for b.Loop() {
		f, err := os.Open(run)
		if err != nil {
			b.Fatal(err)
		}
		result, diagnostics, err := truth.Evaluate(b.Context(), wanted, measure.File{Name: "run.txt", Content: f})
		if err != nil || result.Measures == nil {
			b.Fatal(diagnostics, err)
		}
		f.Close()
	}
	b.ReportMetric(float64(peak())/(1<<20), "peak-MiB")
}

// BenchmarkEvaluate100k reads and evaluates a run of 100 topics and 100,000 lines with five measures.
func BenchmarkEvaluate100k(b *testing.B) { benchmark(b, 100) }

// BenchmarkEvaluate7M reads and evaluates a run of 7,000 topics and 7,000,000 lines with five measures.
func BenchmarkEvaluate7M(b *testing.B) { benchmark(b, 7000) }
