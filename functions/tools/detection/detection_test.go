package detection_test

import (
	"fmt"
	"io"
	"runtime"
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

// TestOf_AllocatesLittle guesses the formats of objects with many lists and objects in their members, which the guess need not decode.
func TestOf_AllocatesLittle(t *testing.T) {
	const n = 100_000
	for name, member := range map[string]string{
		"lists":         `"label":[` + strings.Repeat("[],", n) + `[]]`,
		"objects":       `"label":[` + strings.Repeat("{},", n) + `{}]`,
		"spans":         `"spans":[` + strings.Repeat(`{"start":1,"end":2},`, n) + `{}]`,
		"a long span":   `"spans":[[` + strings.Repeat("[],", n) + `[]]]`,
		"other members": `"label":"a","more":{"x":[` + strings.Repeat("[],", n) + `[]]}`,
	} {
		text := `{"id":"1",` + member + "}\n"
		for _, kind := range []measure.Kind{"", measure.Multilabel, measure.Spans} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if _, err := detection.Of(kind, file(text)); err != nil {
				t.Error(err)
			}
			runtime.ReadMemStats(&after)
			if of := (after.TotalAlloc - before.TotalAlloc) / uint64(len(text)); of > detection.MemoryPerByte {
				t.Errorf("the guess of %s for the kind %q allocates %d bytes for each byte of the file", name, kind, of)
			}
		}
	}
}
