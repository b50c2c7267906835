package scoring

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/steps"
)

// TestPortray_TellsThatATruthIsTooLarge scores a truth against itself with too few steps.
func TestPortray_TellsThatATruthIsTooLarge(t *testing.T) {
	s := Settings{Kind: measure.Classification, Measures: []string{"Accuracy"},
		Format: measure.Format{Kind: measure.CSV, IDField: "id", ValueField: "label"}}
	text := []byte("id,label\n" + strings.Repeat("a", 100) + ",x\nb,x\nc,y\n")
	files := []File{{Name: "truth", Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }}}
	truth, diagnostics, err := ReadTruth(t.Context(), s, files)
	if err != nil || truth == nil {
		t.Fatal(err, diagnostics)
	}
	c := truth.truth.Contents(steps.Of(t.Context()))
	for most, want := range map[int64]string{1: "; not scored against itself, because it is too large for that", maxOwnSteps: ""} {
		var p Portrait
		if err := p.scoreItself(t.Context(), truth, &c, files, most); err != nil || p.Contents != want || len(p.Warnings) > 0 {
			t.Errorf("at most %d steps: %v, %+v", most, err, p)
		}
	}
}
