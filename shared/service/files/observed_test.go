package files_test

import (
	"context"
	"errors"
	"io"
	"iter"
	"maps"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"assay/shared/language/metrics"
	"assay/shared/service/files"
	"assay/shared/storage/blob"
)

// failing is an object store that returns its error for everything.
type failing struct {
	blob.Store
	err error
}

func (f failing) Put(_ context.Context, _ blob.Object, r io.Reader) error {
	if _, err := io.Copy(io.Discard, r); err != nil {
		return err
	}
	return f.err
}

func (f failing) Open(context.Context, string) (io.ReadCloser, error) { return nil, f.err }

func (f failing) Stat(context.Context, string) (blob.Object, error) { return blob.Object{}, f.err }

func (f failing) Delete(context.Context, ...string) error { return f.err }

func (f failing) List(context.Context, string, string, time.Time) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) { yield("", f.err) }
}

// Only failures of the object store are counted, and not those of callers.
func TestObserved_CountsFailures(t *testing.T) {
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx   context.Context
		err   error
		count float64
	}{
		"no failure":            {t.Context(), nil, 0},
		"a failure":             {t.Context(), errors.New("connection refused"), 1},
		"a missing file":        {t.Context(), blob.ErrNotFound, 0},
		"other bytes":           {t.Context(), blob.ErrMismatch, 0},
		"a caller that is gone": {gone, context.Canceled, 0},
	} {
		counts := map[string]float64{}
		o := files.Observed{Store: failing{err: c.err}, Metrics: func(m *metrics.Metric, value float64, labels ...string) {
			counts[m.Name+" "+labels[0]] += value
		}}
		_ = o.Put(c.ctx, blob.Object{}, strings.NewReader("text"))
		_ = o.Put(c.ctx, blob.Object{}, iotest.ErrReader(errors.New("the client hung up")))
		if c.err != nil {
			_, _ = o.Open(c.ctx, "key")
		}
		_, _ = o.Stat(c.ctx, "key")
		_ = o.Delete(c.ctx, "key")
		for _, err := range o.List(c.ctx, "", "", time.Time{}) {
			if !errors.Is(err, c.err) {
				t.Errorf("%s: a list ends with %v", name, err)
			}
		}
		want := map[string]float64{}
		for _, operation := range []string{"put", "open", "stat", "delete", "list"} {
			if c.count > 0 {
				want["files_failures_total "+operation] = c.count
			}
		}
		if !maps.Equal(counts, want) {
			t.Errorf("%s: %v, want %v", name, counts, want)
		}
	}
}
