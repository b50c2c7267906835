package evaluator

import (
	"context"
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
			return nil, step.size - keeping, nil
		})
		if err != nil || read != step.read {
			t.Fatalf("%+v: read %v, %v", step, read, err)
		}
		var kept int64
		for _, k := range c.kept {
			kept += k.bytes
		}
		if kept != c.bytes || kept > maxCacheBytes {
			t.Fatalf("%+v: %d bytes kept, %d counted", step, kept, c.bytes)
		}
	}
}
