package inputs_test

import (
	"context"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"assay/functions/tools/inputs"
	"assay/shared/computation/measure/bounds"
	"assay/shared/computation/measure/scoring"
	"assay/shared/edge/api"
	"assay/shared/edge/compute"
	"assay/shared/service/records"
)

// TestGuess_WaitsForMemory guesses the formats of many files with a long first line at the same time.
func TestGuess_WaitsForMemory(t *testing.T) {
	line := "{" + strings.Repeat(" ", bounds.ValueLine/2) + "}\n"
	file := scoring.File{Name: "file", Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(line)), nil }}
	call := &api.Call{Env: new(api.Env)}
	call.Caller.ID = "ann"
	var running, most atomic.Int64
	err := records.Concurrently(20, func(int) error {
		return inputs.NewResolver(call).Guess(context.Background(), file, func() error {
			n := running.Add(1)
			for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
			}
			time.Sleep(10 * time.Millisecond)
			running.Add(-1)
			return nil
		})
	})
	if err != nil {
		t.Error(err)
	}
	if n := most.Load(); n == 0 || n*int64(len(line))*10 > compute.LargeBytes {
		t.Errorf("%d guesses of %d bytes run at the same time", n, len(line))
	}
}
