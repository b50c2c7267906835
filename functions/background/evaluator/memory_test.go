package evaluator_test

import (
	"bufio"
	"fmt"
	"io"
	"runtime/debug"
	"testing"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/bounds"
	"assay/shared/computation/measure/measuretest"
	"assay/shared/computation/measure/scoring"
	"assay/shared/edge/compute"
	"assay/shared/testing/nightlytest"
)

// The memory of the function background on AWS, and the limit from which its garbage collector runs more often: MemoryMB of package
// functions, and GOMEMLIMIT of package infra.
const (
	functionMemory = 3008 << 20
	collectFrom    = 2556 << 20
)

// processMemory is memory for everything except evaluations.
const processMemory = 32 << 20

// generated returns a file whose lines are made while it is read.
func generated(name string, count int, line func(w io.Writer, i int)) scoring.File {
	return scoring.File{Name: name, Open: func() (io.ReadCloser, error) {
		r, w := io.Pipe()
		go func() {
			buffered := bufio.NewWriter(w)
			for i := range count {
				line(buffered, i)
			}
			_ = w.CloseWithError(buffered.Flush())
		}()
		return r, nil
	}}
}

// The evaluation that takes the most memory fits the function: a run and a truth with as many lines as the limits allow, both in an order
// that keeps no lines of a topic together. It is tried at night, and a hundredth of it with each change.
func TestEvaluation_FitsTheFunction(t *testing.T) {
	part := nightlytest.Count(100, 1)
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(int64(processMemory + (collectFrom-processMemory)/part)))
	usual := compute.Frugal()
	defer usual()
	topics := 10_000 / part
	truth := generated("qrels", bounds.Judgments/part, func(w io.Writer, i int) {
		_, _ = fmt.Fprintf(w, "%d 0 document-number-%09d %d\n", i%topics, i, i%3)
	})
	run := generated("run", bounds.RunLines/part, func(w io.Writer, i int) {
		_, _ = fmt.Fprintf(w, "%d 0 %d 1 %d r\n", i%topics, i/topics, 5000-i/topics)
	})
	peak := measuretest.PeakMemory()
	settings := scoring.Settings{Kind: measure.Retrieval, Measures: []string{"nDCG@10", "AP", "RR"},
		Format: measure.Format{Kind: measure.TRECRun}}
	against, diagnostics, err := scoring.ReadTruth(t.Context(), settings, []scoring.File{truth})
	if against == nil {
		t.Fatal(diagnostics, err)
	}
	evaluated, err := against.Read(t.Context(), []scoring.File{run})
	if err != nil || len(evaluated.Result.Measures) != 3 {
		t.Fatal(evaluated, err)
	}
	most := uint64(processMemory + (functionMemory-processMemory)/part)
	got := peak()
	t.Logf("the evaluation takes %d MiB, and the function has %d MiB", got>>20, most>>20)
	if got > most {
		t.Error("the function would be killed")
	}
}
