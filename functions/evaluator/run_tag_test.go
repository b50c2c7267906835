package evaluator_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"assay/shared/blob"
	"assay/shared/record"
)

// opened counts the files of runs that are opened.
type opened struct {
	blob.Store
	runs atomic.Int64
}

func (o *opened) Open(ctx context.Context, key string) (io.ReadCloser, error) {
	if strings.HasPrefix(key, string(record.HolderRuns)+"/") {
		o.runs.Add(1)
	}
	return o.Store.Open(ctx, key)
}

// The tag is kept from the reading that evaluates the run, which a blinded run has twice: each opening is a request.
func TestRunTag_CostsNoReading(t *testing.T) {
	s := newScene(t)
	files := &opened{Store: s.Files}
	s.Files = files
	s.start()
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
		files.runs.Store(0)
		r := s.until(s.add(tt.content, func(r *record.RunItem) { r.Access.Blinded = tt.blinded }).ID, record.Completed)
		e := get[record.EvaluationItem](s, record.EvaluationKey(r.EvaluationID))
		if n := files.runs.Load(); e.RunTag != tt.tag || n != tt.opened {
			t.Errorf("the tag of %.40q, blinded %v, is %q after %d openings; want %q after %d", tt.content, tt.blinded, e.RunTag, n, tt.tag, tt.opened)
		}
	}
}
