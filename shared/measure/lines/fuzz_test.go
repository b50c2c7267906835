package lines

import (
	"bytes"
	"slices"
	"testing"
	"unicode/utf8"

	"assay/shared/measure"
	"assay/shared/measure/measuretest"
)

// FuzzScan reads each file in large and in tiny chunks: lines and diagnostics have to be the same, and sound.
func FuzzScan(f *testing.F) {
	for _, seed := range []string{"a\nb\r\n\nc", "\xef\xbb\xbfa\n", "a\x00\n\xff\nb\n", "0123456789012345678901234567890\nb", "PK\x03\x04",
		"\x1f\x8b\x08", "\n\n"} {
		f.Add([]byte(seed))
	}
	packed := measuretest.Gzip(f, "a\nb\n\x00\n0123456789012345678901234567890\nc")
	f.Add([]byte(packed))
	f.Add([]byte(packed[:len(packed)-9]))
	f.Fuzz(func(t *testing.T, data []byte) {
		scan := func(chunk int) (texts []string, numbers []int, found []measure.Diagnostic) {
			var report measure.Report
			in := NewReader(t.Context(), "f", bytes.NewReader(data), &report)
			in.limits.line, in.limits.chunk = 20, chunk
			for in.Scan() {
				texts, numbers = append(texts, string(in.Text())), append(numbers, in.Number())
			}
			if in.Err() != nil {
				t.Fatal(in.Err())
			}
			return texts, numbers, report.Diagnostics()
		}
		texts, numbers, found := scan(64 << 10)
		for i, text := range texts {
			if len(text) > 20 || !utf8.ValidString(text) || bytes.ContainsAny([]byte(text), "\x00\n") || i > 0 && numbers[i] <= numbers[i-1] {
				t.Errorf("line %d is %q", numbers[i], text)
			}
		}
		again, numbered, foundAgain := scan(24)
		// A line that damage to the file cuts short may have been found overlong before.
		damaged := slices.ContainsFunc(found, func(d measure.Diagnostic) bool { return d.Line == 0 })
		if !slices.Equal(texts, again) || !slices.Equal(numbers, numbered) || !damaged && !slices.Equal(found, foundAgain) {
			t.Errorf("chunks change the file:\n%q %v %v\n%q %v %v", texts, numbers, found, again, numbered, foundAgain)
		}
	})
}
