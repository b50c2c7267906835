package tools_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"assay/shared/computation/measure/measuretest"
	"assay/shared/domain/record"
)

// addLargeRun makes a run of alice's of about the given size, with 1,000 documents for each topic.
func (s *toolServer) addLargeRun(size int, seed uint64) *record.RunItem {
	s.t.Helper()
	var b strings.Builder
	random := rand.New(rand.NewPCG(seed, 0))
	for topic := 1; b.Len() < size; topic++ {
		first := random.IntN(1000)
		for rank := range 1000 {
			fmt.Fprintf(&b, "%d Q0 clueweb-en%07d %d %.4f system%d\n", topic, (first+rank*(7+int(seed)))%100_000, rank+1,
				1000-float64(rank)+random.Float64(), seed)
		}
	}
	return s.addRun(runSpec{public: true, content: b.String()})
}

// largeQrels returns judgments of 20 documents for each topic of large runs.
func largeQrels(topics int) object {
	var b strings.Builder
	random := rand.New(rand.NewPCG(9, 0))
	for topic := range topics {
		for part := range 20 { // parts of the collection, so that no document has two judgments
			fmt.Fprintf(&b, "%d %d clueweb-en%07d %d\n", topic+1, topic, part*5000+random.IntN(5000), random.IntN(3))
		}
	}
	return inlineFiles("qrels.txt", b.String())
}

// BenchmarkStoredRuns measures tools on runs of 1 and of 50 MB, from the request to the answer. peak-MiB is the largest memory of
// the process.
func BenchmarkStoredRuns(b *testing.B) {
	for _, size := range []int{1 << 20, 50 << 20} {
		s := newToolServer(b, record.Public)
		one, other := s.addLargeRun(size, 1), s.addLargeRun(size, 2)
		truth := largeQrels(size / 40_000)
		for _, c := range []struct {
			tool  string
			input object
		}{
			{"evaluator", object{"runs": runRefs(one), "truth": truth, "measures": []string{"nDCG@10", "AP", "RR"}, "perTopic": false}},
			{"diffir", object{"runs": runRefs(one, other), "truth": truth}},
			{"serp", object{"run": runRef(one), "truth": truth}},
			{"fusion", object{"runs": runRefs(one, other)}},
			{"converter", object{"run": runRef(one), "to": "jsonl"}},
			{"validator", object{"run": runRef(one)}},
		} {
			b.Run(fmt.Sprintf("%s/%dMiB", c.tool, size>>20), func(b *testing.B) {
				peak := measuretest.PeakMemory()
				for b.Loop() {
					s.Want(http.StatusOK, nil, "alice", http.MethodPost, "/v1/tools/"+c.tool, c.input)
				}
				b.ReportMetric(float64(peak())/(1<<20), "peak-MiB")
			})
		}
	}
}
