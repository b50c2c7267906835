package fusion_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"assay/functions/tools/fusion"
	"assay/shared/computation/measure"
)

// run returns a run with 1,000 documents for each topic, about 50 bytes a line. All runs draw their documents from the same
// 3,000.
func run(seed uint64, topics int) []byte {
	random := rand.New(rand.NewPCG(seed, 0))
	var b bytes.Buffer
	for topic := range topics {
		for rank, doc := range random.Perm(3000)[:1000] {
			fmt.Fprintf(&b, "%d Q0 document-%08d %d %.6f system-%d\n", 1000000+topic, topic*3000+doc, rank+1,
				30-float64(rank)/50-random.Float64()/100, seed)
		}
	}
	return b.Bytes()
}

func benchmark(b *testing.B, settings fusion.Options, runs, topics int) {
	var contents [][]byte
	for i := range runs {
		contents = append(contents, run(uint64(i), topics))
	}
	settings.Tag = "fused"
	b.SetBytes(int64(runs * len(contents[0])))
	b.ReportAllocs()
	for b.Loop() {
		var all []fusion.Run
		for _, c := range contents {
			all = append(all, fusion.Run{{Name: "r", Content: bytes.NewReader(c)}})
		}
		if diagnostics, err := fusion.Fuse(b.Context(), io.Discard, settings, all); err != nil || measure.HasErrors(diagnostics) {
			b.Fatal(diagnostics, err)
		}
	}
}

// The name of a benchmark has the size of each run.
func BenchmarkReciprocalRank2x1MB(b *testing.B) {
	benchmark(b, fusion.Options{Method: fusion.ReciprocalRank}, 2, 18)
}

func BenchmarkReciprocalRank2x50MB(b *testing.B) {
	benchmark(b, fusion.Options{Method: fusion.ReciprocalRank}, 2, 900)
}

func BenchmarkCombMNZ10x50MB(b *testing.B) {
	benchmark(b, fusion.Options{Method: fusion.CombMNZ, Normalization: fusion.MinMax}, 10, 900)
}
