package evaluator

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"assay/shared/computation/measure/scoring"
	"assay/shared/domain/record"
)

var (
	fastLane = lane{subqueue: record.BuiltinSubqueue(), budget: stepBudget}
	slowLane = lane{subqueue: record.SlowSubqueue(), budget: slowBudget}
)

func TestCache_KeepsWithinItsBound(t *testing.T) {
	var c cache[*scoring.Evaluator]
	for _, step := range []struct {
		dataset string
		number  int64
		size    int64
		read    bool
	}{
		{"a", 1, maxCacheBytes / 2, true},
		{"b", 1, maxCacheBytes / 2, true},
		{"a", 1, maxCacheBytes / 2, false},
		{"c", 1, maxCacheBytes / 2, true}, // b was used longest ago
		{"a", 1, maxCacheBytes / 2, false},
		{"b", 1, maxCacheBytes / 2, true},
		{"b", 2, maxCacheBytes / 4, true}, // replaces the other
		{"d", 1, 2 * maxCacheBytes, true},
		{"d", 1, 2 * maxCacheBytes, true},  // too large to be kept
		{"b", 2, maxCacheBytes / 4, false}, // and no reason to drop others
	} {
		read := false
		_, err := c.get(t.Context(), slowLane, step.dataset, fmt.Sprint(step.number), func(context.Context) (*scoring.Evaluator, int64, error) {
			read = true
			return nil, step.size - minEntryBytes, nil
		})
		if err != nil || read != step.read {
			t.Fatalf("%+v: read %v, %v", step, read, err)
		}
		var kept int64
		for _, k := range c.kept.Values() {
			kept += k.bytes
		}
		if kept != c.bytes || kept > maxCacheBytes {
			t.Fatalf("%+v: %d bytes kept, %d counted", step, kept, c.bytes)
		}
	}
}

// A slow read blocks only callers that need the same value, and its cancellation ends only the caller whose context it is.
func TestCache_ReadsTogetherWhatIsTheSame(t *testing.T) {
	var c cache[string]
	began, slow := make(chan struct{}), make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	first := make(chan error)
	go func() {
		_, err := c.get(ctx, fastLane, "a", "1", func(ctx context.Context) (string, int64, error) {
			close(began)
			<-slow
			return "", 0, ctx.Err()
		})
		first <- err
	}()
	<-began
	quick := func(context.Context) (string, int64, error) { return "value", 0, nil }
	if got, err := c.get(t.Context(), fastLane, "b", "1", quick); got != "value" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	second := make(chan string)
	go func() {
		got, err := c.get(t.Context(), fastLane, "a", "1", quick)
		if err != nil {
			t.Error(err)
		}
		second <- got
	}()
	cancel()
	close(slow)
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if got := <-second; got != "value" {
		t.Errorf("%q", got)
	}
}

// While the slow lane reads a long value, the fast lanes do not wait for it. Once one of them has used up its budget for it, no other one
// begins. After that the value serves all lanes, if it can be kept.
func TestCache_LongValuesKeepOnlyTheSlowLaneWaiting(t *testing.T) {
	for name, bytes := range map[string]int64{"kept": 1, "too large to be kept": 2 * maxCacheBytes} {
		t.Run(name, func(t *testing.T) {
			var c cache[string]
			began, slow := make(chan struct{}), make(chan struct{})
			read := make(chan error)
			go func() {
				_, err := c.get(t.Context(), slowLane, "a", "1", func(context.Context) (string, int64, error) {
					close(began)
					<-slow
					return "value", bytes, nil
				})
				read <- err
			}()
			<-began
			reads := 0
			overBudget := func(context.Context) (string, int64, error) {
				reads++
				return "", 0, errOverBudget
			}
			for range 2 {
				if _, err := c.get(t.Context(), fastLane, "a", "1", overBudget); !errors.Is(err, errOverBudget) {
					t.Errorf("%v, want that the budget is used up", err)
				}
			}
			if reads != 1 {
				t.Errorf("the fast lane began to read the value %d times", reads)
			}
			close(slow)
			if err := <-read; err != nil {
				t.Error(err)
			}
			got, err := c.get(t.Context(), fastLane, "a", "1", overBudget)
			if kept := bytes <= maxCacheBytes; kept != (got == "value") || kept != (err == nil) || reads != 1 {
				t.Errorf("%q, %v after %d reads", got, err, reads)
			}
		})
	}
}
