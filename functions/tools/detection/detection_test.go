package detection_test

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"assay/functions/tools/detection"
	"assay/shared/computation/measure"
	"assay/shared/computation/measure/scoring"
)

// TestOf_TakesLinearTime guesses the formats of files with many fields. An algorithm that compares each name with each other one takes at
// least ten times the limit.
func TestOf_TakesLinearTime(t *testing.T) {
	const limit = 5 * time.Second
	var members strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&members, `,"%07d":1`, i)
	}
	object := file("{" + members.String()[1:] + "}\n")
	for _, others := range [][]scoring.File{nil, {object}} {
		start := time.Now()
		if _, err := detection.Of(measure.Classification, object, others...); err != nil {
			t.Error(err)
		}
		if took := time.Since(start); took > limit {
			t.Errorf("the guess with %d other files took %v, more than %v", len(others), took, limit)
		}
	}
}

func file(text string) scoring.File {
	return scoring.File{Name: "file", Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}
}
