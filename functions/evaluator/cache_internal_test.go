package evaluator

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"assay/shared/measure/evaluator"
)

func TestCache_KeepsWithinItsBound(t *testing.T) {
	var c cache[*evaluator.Truth]
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
		_, err := c.get(t.Context(), step.dataset, fmt.Sprint(step.number), func(context.Context) (*evaluator.Truth, int64, error) {
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
		_, err := c.get(ctx, "a", "1", func(ctx context.Context) (string, int64, error) {
			close(began)
			<-slow
			return "", 0, ctx.Err()
		})
		first <- err
	}()
	<-began
	quick := func(context.Context) (string, int64, error) { return "value", 0, nil }
	if got, err := c.get(t.Context(), "b", "1", quick); got != "value" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	second := make(chan string)
	go func() {
		got, err := c.get(t.Context(), "a", "1", quick)
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
