package ops

import (
	"context"
	"testing"

	"assay/shared/language/metrics"
)

// BenchmarkRecord measures what metrics add to the time of a request.
func BenchmarkRecord(b *testing.B) {
	e := New(func(context.Context, metrics.Recorder) error { return nil })
	b.ReportAllocs()
	for b.Loop() {
		e.Record(metrics.RequestSeconds, .001, "getTask", "2xx")
	}
}
