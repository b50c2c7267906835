package tools_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"assay/shared/record"
)

// large writes a run of the shape of MS MARCO's: topics of 1000 documents, of which two runs have most in common, in
// another order.
func large(topics int, seed uint64) string {
	var b strings.Builder
	random := rand.New(rand.NewPCG(seed, 1))
	for topic := range topics {
		for rank := range 1000 {
			fmt.Fprintf(&b, "%d Q0 %d %d %.6f bm25\n", 1000000+topic, 1000000+topic+rank*8839, rank+1, 30-float64(rank)/50-random.Float64())
		}
	}
	return b.String()
}

// peak samples the memory that the process holds until stop is called, which returns the most of it in bytes.
func peak() (stop func() uint64) {
	sample := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	done, most := make(chan struct{}), make(chan uint64)
	go func() {
		highest := uint64(0)
		for {
			metrics.Read(sample)
			highest = max(highest, sample[0].Value.Uint64()-sample[1].Value.Uint64())
			select {
			case <-done:
				most <- highest
				return
			case <-time.After(2 * time.Millisecond):
			}
		}
	}()
	return func() uint64 { close(done); return <-most }
}

// benchmarkDiffir asks for two stored runs side by side, from the request to the page.
func benchmarkDiffir(b *testing.B, topics int) {
	s := newShowcase(b, record.Public)
	size := 0
	var runs []m
	for seed := range 2 {
		content := large(topics, uint64(seed))
		size += len(content)
		runs = append(runs, s.run(published, content, 0))
	}
	debug.FreeOSMemory()
	b.SetBytes(int64(size))
	stop := peak()
	for b.Loop() {
		s.Want(http.StatusOK, nil, "", http.MethodPost, "/v1/tools/diffir", m{"runs": runs}, "Accept", "text/html")
	}
	b.ReportMetric(float64(stop())/(1<<20), "peak-MiB")
}

// BenchmarkDiffir1MB compares two runs of 26 topics and 1 MB.
func BenchmarkDiffir1MB(b *testing.B) { benchmarkDiffir(b, 26) }

// BenchmarkDiffir50MB compares two runs of 1,300 topics and 50 MB.
func BenchmarkDiffir50MB(b *testing.B) { benchmarkDiffir(b, 1300) }
