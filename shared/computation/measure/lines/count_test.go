package lines_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"assay/shared/computation/measure/lines"
	"assay/shared/computation/measure/measuretest"
)

func TestCount_UnpacksWhatAReaderReads(t *testing.T) {
	text := strings.Repeat("1 Q0 d1 1 2.5 a\n", 10_000)
	whole := lines.Size{Bytes: int64(len(text)), Lines: 10_000}
	packed := measuretest.Gzip(t, text)
	lies := packed[:len(packed)-4] + "\x01\x00\x00\x00" // the trailer claims one byte
	for name, tt := range map[string]struct {
		content string
		want    lines.Size
	}{
		"plain": {text, whole}, "packed": {packed, whole}, "a false trailer": {lies, whole}, "two on end": {packed + packed, whole.Plus(whole)},
		"nothing": {"", lines.Size{}}, "an archive": {"PK\x03\x04" + text, lines.Size{}},
	} {
		got, err := lines.Count(t.Context(), strings.NewReader(tt.content), 1<<30)
		if err != nil || got != tt.want {
			t.Errorf("%s: %+v, %v, want %+v", name, got, err, tt.want)
		}
	}
	cut, err := lines.Count(t.Context(), strings.NewReader(packed[:len(packed)/2]), 1<<30)
	if err != nil || cut.Bytes == 0 || cut.Bytes >= whole.Bytes {
		t.Errorf("half of a packed file has %+v, %v", cut, err)
	}
	if some, err := lines.Count(t.Context(), strings.NewReader(packed), 1000); err != nil || some.Bytes <= 1000 || some.Bytes > 80<<10 {
		t.Errorf("of a longer text than wanted %+v are counted, %v", some, err)
	}
	failed := errors.New("no connection")
	if _, err := lines.Count(t.Context(), iotest.ErrReader(failed), 1); !errors.Is(err, failed) {
		t.Errorf("a reader that fails: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := lines.Count(ended, strings.NewReader(text), 1<<30); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that ended: %v", err)
	}
}
