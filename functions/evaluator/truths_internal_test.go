package evaluator

import (
	"context"
	"testing"

	"assay/shared/measure/evaluator"
	"assay/shared/record"
)

func TestTruthsAreKeptWithinTheirBound(t *testing.T) {
	var c truths
	for _, step := range []struct {
		dataset string
		number  int64
		size    int64
		read    bool
	}{
		{"a", 1, maxTruthBytes / 2, true},
		{"b", 1, maxTruthBytes / 2, true},
		{"a", 1, maxTruthBytes / 2, false},
		{"c", 1, maxTruthBytes / 2, true}, // b was used longest ago
		{"a", 1, maxTruthBytes / 2, false},
		{"b", 1, maxTruthBytes / 2, true},
		{"b", 2, maxTruthBytes / 4, true}, // replaces the other
		{"d", 1, 2 * maxTruthBytes, true},
		{"d", 1, 2 * maxTruthBytes, true}, // too large to be kept
	} {
		truth := &record.Truth{Number: step.number}
		truth.ID = step.dataset
		read := false
		_, err := c.get(t.Context(), truth, func(context.Context, *record.Truth) (*evaluator.Truth, int64, error) {
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
		if kept != c.bytes || kept > maxTruthBytes {
			t.Fatalf("%+v: %d bytes kept, %d counted", step, kept, c.bytes)
		}
	}
}
