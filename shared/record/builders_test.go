package record_test

import (
	"slices"
	"testing"
	"time"

	"assay/shared/record"
)

func TestBuildersAreForgotten(t *testing.T) {
	var b record.Builders
	now := time.Now()
	if b.Note(now, nil) || !b.Note(now, []string{"b", "a"}) || b.Note(now.Add(time.Minute), []string{"a"}) || !b.Note(now.Add(11*time.Minute), []string{"a"}) {
		t.Error("a pool is noted when a worker asks, and again after ten minutes")
	}
	if got := b.Pools(now.Add(30 * time.Minute)); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("pools %q", got)
	}
	if got := b.Pools(now.Add(65 * time.Minute)); !slices.Equal(got, []string{"a"}) {
		t.Errorf("pools after an hour without a worker of b: %q", got)
	}
	if b.Note(now.Add(5*time.Hour), []string{"c"}); len(b.Asked) != 1 {
		t.Errorf("kept %v", b.Asked)
	}
}
