package api

import (
	"context"
	"sync/atomic"
	"testing"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/storage/store"
	"assay/shared/storage/store/embedded"
)

// TestCountRuns_ReadsABoundedNumber counts runs until the preview has read as many records as it may.
func TestCountRuns_ReadsABoundedNumber(t *testing.T) {
	s := &queries{Store: recordtest.OpenStore(t, embedded.Options{})}
	d := recordtest.New(t, s).Task().Dataset(recordtest.Labels("Accuracy"))
	for range 5 {
		d.Run("ann")
	}
	c := &Call{preview: &preview{}}
	c.Store = s
	want := func(read int, noun, want string) {
		t.Helper()
		c.preview.read = read
		got, err := c.CountRuns(t.Context(), d.ID, noun, func(*record.RunItem) bool { return noun == "run" })
		if got != want || err != nil {
			t.Errorf("after %d records, the number is %q, %v, want %q", read, got, err, want)
		}
	}
	want(0, "run", "5 runs")
	want(0, "other run", "")
	want(maxRead-3, "run", "3 runs or more")
	want(maxRead-3, "other run", "other runs")
	s.read.Store(0)
	want(maxRead, "run", "runs")
	if n := s.read.Load(); n > 0 {
		t.Errorf("after %d records, it reads %d pages", maxRead, n)
	}
}

// TestEffectsOfWithholding_ReadsEachRunOnce counts published and unpublished runs in one reading.
func TestEffectsOfWithholding_ReadsEachRunOnce(t *testing.T) {
	s := recordtest.OpenStore(t, embedded.Options{})
	d := recordtest.New(t, s).Task().Dataset(recordtest.Labels("Accuracy"))
	d.Run("ann", recordtest.Published)
	d.Run("ann")
	d.Run("ben", recordtest.Blinded)
	c := &Call{preview: &preview{}}
	c.Store = s
	if err := c.effectsOfWithholding(t.Context(), d.DatasetItem, true); err != nil || len(c.effects) != 2 || c.preview.read != 3 {
		t.Errorf("%+v after reading %d runs (%v), want 2 effects after 3", c.effects, c.preview.read, err)
	}
}

// queries is a store that counts queries.
type queries struct {
	store.Store
	read atomic.Int32
}

func (q *queries) Query(ctx context.Context, of store.Query) ([]store.Item, error) {
	q.read.Add(1)
	return q.Store.Query(ctx, of)
}
