package retrieval

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"assay/shared/measure"
	"assay/shared/measure/measuretest"
)

// usual is what a leaderboard shows.
var usual = []string{"AP", "nDCG@10", "RR", "P@10", "R@1000"}

// generate writes a run of the shape of MS MARCO's, topics of 1000 documents by descending score, and qrels with a few
// judgments for each topic. It returns their paths and the size of the run.
func generate(b *testing.B, topics int) (run, qrels string, size int64) {
	b.Helper()
	folder := b.TempDir()
	run, qrels = filepath.Join(folder, "run.txt"), filepath.Join(folder, "qrels.txt")
	write := func(path string, content func(w *bufio.Writer)) {
		f, err := os.Create(path)
		if err != nil {
			b.Fatal(err)
		}
		w := bufio.NewWriterSize(f, 1<<20)
		content(w)
		if err := w.Flush(); err != nil {
			b.Fatal(err)
		}
		if err := f.Close(); err != nil {
			b.Fatal(err)
		}
	}
	const step = 8839 // documents 1000000, 1008839, ...: distinct within a topic
	random := rand.New(rand.NewPCG(1, 2))
	write(run, func(w *bufio.Writer) {
		for topic := range topics {
			for rank := range 1000 {
				fmt.Fprintf(w, "%d Q0 %d %d %.6f bm25\n", 1000000+topic, 1000000+topic+rank*step, rank+1, 30-float64(rank)/50-random.Float64()/100)
			}
		}
	})
	write(qrels, func(w *bufio.Writer) {
		for topic := range topics {
			for i := range 10 {
				fmt.Fprintf(w, "%d 0 %d %d\n", 1000000+topic, 1000000+topic+(i*100+random.IntN(100))*step, random.IntN(4))
			}
		}
	})
	info, err := os.Stat(run)
	if err != nil {
		b.Fatal(err)
	}
	return run, qrels, info.Size()
}

func benchmark(b *testing.B, topics int) {
	run, qrels, size := generate(b, topics)
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

// BenchmarkEvaluate100k takes a run of 100 topics and 100,000 lines from its bytes to five measures.
func BenchmarkEvaluate100k(b *testing.B) { benchmark(b, 100) }

// BenchmarkEvaluate7M takes a run of 7,000 topics and 7,000,000 lines from its bytes to five measures.
func BenchmarkEvaluate7M(b *testing.B) { benchmark(b, 7000) }
