package evaluator_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"assay/shared/record"
	"assay/shared/record/recordtest"
)

// The tag is kept from the reading that evaluates the run, which a blinded run has twice: each opening is a request.
func TestRunTag_CostsNoReading(t *testing.T) {
	f := newFixture(t)
	var opened atomic.Int64
	f.Files = hookedFiles{f.Files, func(key string) {
		if strings.HasPrefix(key, string(record.HolderRuns)+"/") {
			opened.Add(1)
		}
	}}
	f.start()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = io.WriteString(z, "# a comment\n\n"+strings.ReplaceAll(ranked, "tag", "packed"))
	_ = z.Close()
	for _, tt := range []struct {
		content, tag string
		blinded      bool
		opened       int64
	}{
		{ranked, "tag", false, 1},
		{ranked, "tag", true, 2},
		{packed.String(), "packed", false, 1},
		{strings.ReplaceAll(ranked, "tag", strings.Repeat("long", 100)), "", false, 2},
	} {
		opened.Store(0)
		r := f.until(f.add(tt.content, func(r *recordtest.Run) { r.Access.Blinded = tt.blinded }).ID, record.Completed)
		e := get[record.EvaluationItem](f, record.EvaluationKey(r.EvaluationID))
		if n := opened.Load(); e.RunTag != tt.tag || n != tt.opened {
			t.Errorf("the tag of %.40q, blinded %v, is %q after %d openings; want %q after %d", tt.content, tt.blinded, e.RunTag, n,
				tt.tag, tt.opened)
		}
	}
}
