package storetest

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"assay/shared/storage/store"

	"github.com/anishathalye/porcupine"
)

// SlowWrites returns s with delayed writes, so that other calls come between the writes and the reads that they depend on.
func SlowWrites(s store.Store) *Hooked {
	return &Hooked{Store: s, Before: func(c Call) error {
		if len(c.Writes) > 0 {
			time.Sleep(rand.N(2 * time.Millisecond)) //nolint:gosec // nothing is secret
		}
		return nil
	}}
}

// History records the calls of concurrent clients and their answers.
type History struct {
	begun time.Time
	mu    sync.Mutex
	calls []porcupine.Operation
}

// NewHistory begins a history.
func NewHistory() *History { return &History{begun: time.Now()} }

// Call records the input and output of a client's call, unless counts is false because the call changed nothing and reveals nothing. It
// returns the output.
func (h *History) Call(client int, input any, do func() (output any, counts bool)) any {
	call := time.Since(h.begun)
	output, counts := do()
	returned := time.Since(h.begun)
	if counts {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.calls = append(h.calls, porcupine.Operation{ClientId: client, Input: input, Call: int64(call), Output: output, Return: int64(returned)})
	}
	return output
}

// checkTime is longer than a check takes on a busy machine.
const checkTime = 3 * time.Minute

// CheckLinearizable fails the test unless some sequential order of the calls explains the answers, according to the model.
func (h *History) CheckLinearizable(t testing.TB, model porcupine.Model) {
	t.Helper()
	if result := porcupine.CheckOperationsTimeout(model, h.calls, checkTime); result != porcupine.Ok {
		for _, op := range h.calls {
			t.Logf("%v to %v, client %d: %s", time.Duration(op.Call), time.Duration(op.Return), op.ClientId,
				model.DescribeOperation(op.Input, op.Output))
		}
		t.Fatalf("the history is not linearizable: %v", result)
	}
}
