package spans_test

import (
	"testing"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/measuretest"
)

// TestEvaluate_TakesLessMemoryThanTwiceTheFiles evaluates a million tokens, and as many characters.
func TestEvaluate_TakesLessMemoryThanTwiceTheFiles(t *testing.T) {
	for _, format := range []measure.Format{conll, jsonl} {
		text := million(format.Kind)
		peak := measuretest.Allocated(func() {
			evaluate(t, read(t, format, text, "F1(average=micro)"), text)
		})
		if files := uint64(2 * len(text)); peak > 2*files {
			t.Errorf("%s: %d bytes were allocated for files of %d", format.Kind, peak, files)
		}
	}
}
