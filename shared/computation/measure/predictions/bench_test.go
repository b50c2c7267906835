package predictions

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"assay/shared/computation/measure"
)

// benchmarkFile returns a file of n examples with usual ids, in a shuffled order.
func benchmarkFile(format measure.Format, n int, shuffled bool) []byte {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	if shuffled {
		rand.New(rand.NewPCG(1, 2)).Shuffle(n, func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
	var b bytes.Buffer
	if format.Kind == measure.CSV {
		b.WriteString("id,label\n")
	}
	for _, i := range order {
		if format.Kind == measure.CSV {
			fmt.Fprintf(&b, "example-%07d,%d\n", i, i*7919%100)
		} else {
			fmt.Fprintf(&b, "{\"id\": \"example-%07d\", \"label\": %d}\n", i, i*7919%100)
		}
	}
	return b.Bytes()
}

func BenchmarkReadRun(b *testing.B) {
	const n = 1_000_000
	for _, format := range []measure.Format{jsonLabels, csvLabels} {
		for _, values := range []Values{Labels, Numbers} {
			truth := soundTruth(b, format, values, measure.File{Name: "truth", Content: bytes.NewReader(benchmarkFile(format, n, false))})
			name := map[Values]string{Labels: "labels", Numbers: "numbers"}[values]
			for _, shuffled := range []bool{false, true} {
				content := benchmarkFile(format, n, shuffled)
				order := map[bool]string{false: "same order", true: "shuffled"}[shuffled]
				b.Run(format.Kind+"/"+name+"/"+order, func(b *testing.B) {
					b.SetBytes(int64(len(content)))
					b.ReportAllocs()
					for b.Loop() {
						readRun(b, truth, measure.File{Name: "run", Content: bytes.NewReader(content)})
					}
				})
			}
		}
	}
}

func BenchmarkReadTruth(b *testing.B) {
	const n = 1_000_000
	for _, format := range []measure.Format{jsonLabels, csvLabels} {
		content := benchmarkFile(format, n, false)
		b.Run(format.Kind, func(b *testing.B) {
			b.SetBytes(int64(len(content)))
			b.ReportAllocs()
			for b.Loop() {
				readTruth(b, format, Labels, measure.File{Name: "truth", Content: bytes.NewReader(content)})
			}
		})
	}
}
