package measuretest

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// Ranked writes a run like those of MS MARCO: each topic has 1000 documents by descending score. It also writes qrels with a few judgments
// for each topic. It returns the paths of both files and the size of the run in bytes.
func Ranked(b *testing.B, topics int) (run, qrels string, size int64) {
	b.Helper()
	const step = 8839                     // documents 1000000, 1008839, ...: distinct within a topic
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same files each time
	var ranked, judged bytes.Buffer
	for topic := range topics {
		first := 1000000 + topic
		for rank := range 1000 {
			fmt.Fprintf(&ranked, "%d Q0 %d %d %.6f bm25\n", first, first+rank*step, rank+1, 30-float64(rank)/50-random.Float64()/100)
		}
		for i := range 10 {
			fmt.Fprintf(&judged, "%d 0 %d %d\n", first, first+(i*100+random.IntN(100))*step, random.IntN(4))
		}
	}
	run = filepath.Join(b.TempDir(), "run.txt")
	qrels = filepath.Join(b.TempDir(), "qrels.txt")
	if err := cmp.Or(os.WriteFile(run, ranked.Bytes(), 0o600), os.WriteFile(qrels, judged.Bytes(), 0o600)); err != nil {
		b.Fatal(err)
	}
	return run, qrels, int64(ranked.Len())
}
