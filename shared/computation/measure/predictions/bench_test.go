package predictions

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/steps"
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

// BenchmarkRepeat writes the largest runs that repeat a truth with a score for each label.
func BenchmarkRepeat(b *testing.B) {
	for format, items := range map[measure.Format]int{jsonLabels: 90, csvLabels: 2000} {
		b.Run(format.Kind, func(b *testing.B) {
			var text bytes.Buffer
			if format.Kind == measure.CSV {
				text.WriteString("id,label\n")
			}
			label := strings.Repeat("a", 900)
			for i := range items {
				if format.Kind == measure.CSV {
					fmt.Fprintf(&text, "%d,%s%d\n", i, label, i)
				} else {
					fmt.Fprintf(&text, `{"id": "%d", "label": "%s%d"}`+"\n", i, label, i)
				}
			}
			truth := soundTruth(b, format, Classes, measure.File{Name: "truth", Content: &text})
			c := truth.contents(steps.Of(b.Context()))
			if c.Perfect == nil {
				b.Fatal(c.Unscored)
			}
			for b.Loop() {
				n, err := io.Copy(io.Discard, c.Perfect()[0].Content)
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(n)
			}
		})
	}
}
