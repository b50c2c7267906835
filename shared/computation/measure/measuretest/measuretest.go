// Package measuretest holds helpers for tests of evaluators: lists of measures, files, and diagnostics as lines.
package measuretest

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"assay/shared/computation/measure"
)

// Parse returns the measures with the names.
func Parse(t testing.TB, kind measure.Kind, names ...string) []measure.Measure {
	t.Helper()
	var list []measure.Measure
	for _, name := range names {
		m, err := measure.Parse(kind, name)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, m)
	}
	return list
}

// Lines writes each diagnostic as "file:line severity: message", followed by all lines in parentheses if several have the fault.
func Lines(diagnostics []measure.Diagnostic) []string {
	var list []string
	for _, d := range diagnostics {
		at := d.File
		if d.Line > 0 {
			at += fmt.Sprint(":", d.Line)
		}
		extent := d.Extent()
		if extent != "" {
			extent = " (" + extent + ")"
		}
		list = append(list, fmt.Sprintf("%s %s: %s%s", at, d.Severity, d.Message, extent))
	}
	return list
}

// Expect compares diagnostics, as Lines writes them, with the wanted lines. A wanted line that ends with … matches any line that begins
// with the text before it.
func Expect(t testing.TB, got []measure.Diagnostic, want ...string) {
	t.Helper()
	same := func(line, want string) bool {
		if start, cut := strings.CutSuffix(want, "…"); cut {
			return strings.HasPrefix(line, start)
		}
		return line == want
	}
	if lines := Lines(got); !slices.EqualFunc(lines, want, same) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
}

// CheckDiagnostics checks the properties that all diagnostics of a file have.
func CheckDiagnostics(t testing.TB, file string, content []byte, list []measure.Diagnostic) {
	t.Helper()
	if len(list) > measure.MaxDiagnostics {
		t.Errorf("%d diagnostics", len(list))
	}
	for _, d := range list {
		if d.Message == "" || d.File != file || d.Line < 0 || d.Line > bytes.Count(content, []byte("\n"))+1 &&
			!bytes.HasPrefix(content, []byte("\x1f\x8b")) {
			t.Errorf("%+v", d)
		}
	}
}

// File returns a file with the text.
func File(name, text string) measure.File {
	return measure.File{Name: name, Content: strings.NewReader(text)}
}

// Open opens a file of testdata. It closes the file when the test ends.
func Open(t testing.TB, path string) measure.File {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return measure.File{Name: filepath.Base(path), Content: f}
}

// Gzip packs a text with gzip.
func Gzip(t testing.TB, text string) string {
	t.Helper()
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.String()
}

// Endless is a file without an end. Append appends its parts, with n from 1.
type Endless struct {
	Append func(text []byte, n int) []byte
	Bytes  int // read so far
	n      int
	rest   []byte
}

// Read implements io.Reader.
func (e *Endless) Read(p []byte) (int, error) {
	for len(e.rest) < len(p) {
		e.n++
		e.rest = e.Append(e.rest, e.n)
	}
	n := copy(p, e.rest)
	e.rest = append(e.rest[:0], e.rest[n:]...)
	e.Bytes += n
	return n, nil
}

// Repeat returns a file that repeats a text without an end.
func Repeat(text string) *Endless {
	return &Endless{Append: func(b []byte, _ int) []byte { return append(b, text...) }}
}

// Numbered returns a file of lines without an end. Each line has its number between before and after.
func Numbered(before, after string) *Endless {
	return &Endless{Append: func(b []byte, n int) []byte {
		return append(strconv.AppendInt(append(b, before...), int64(n), 10), after...)
	}}
}

// Allocated returns the number of bytes that do allocates, including memory that it frees.
func Allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// PeakMemory starts sampling the memory that the process holds. peak stops sampling and returns the greatest sample in bytes.
func PeakMemory() (peak func() uint64) {
	debug.FreeOSMemory()
	sample := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	done, most := make(chan struct{}), make(chan uint64)
	go func() {
		highest := uint64(0)
		for {
			metrics.Read(sample)
			highest = max(highest, sample[0].Value.Uint64()-sample[1].Value.Uint64())
			select {
			case <-done:
				most <- highest
				return
			case <-time.After(2 * time.Millisecond):
			}
		}
	}()
	return func() uint64 { close(done); return <-most }
}

// References runs test for each folder of testdata, whose number must be count: with its truth, its predictions, and the values of
// another library.
func References(t *testing.T, count int, test func(t *testing.T, truth, run measure.File, values map[string]any)) {
	files, err := filepath.Glob("testdata/*/reference.json")
	if err != nil || len(files) != count {
		t.Fatalf("found %v, %v", files, err)
	}
	for _, file := range files {
		folder := filepath.Dir(file)
		t.Run(filepath.Base(folder), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var values map[string]any
			if err := json.Unmarshal(text, &values); err != nil {
				t.Fatal(err)
			}
			test(t, Open(t, filepath.Join(folder, "truth.jsonl")), Open(t, filepath.Join(folder, "predictions.jsonl")), values)
		})
	}
}

// CheckValue compares a measure with the value of another library. The value is "nan" if the measure is not defined.
func CheckValue(t testing.TB, result measure.Result, name string, want any) {
	t.Helper()
	got, there := result.Measures[name]
	switch want := want.(type) {
	case float64:
		if got == nil || !(math.Abs(*got-want) <= 1e-12*max(1, math.Abs(want))) {
			t.Errorf("%s is %v (%s), want %v", name, got, result.Reasons[name], want)
		}
	case string:
		if !there || got != nil || result.Reasons[name] == "" {
			t.Errorf("%s is %v with the reason %q, want none and a reason", name, got, result.Reasons[name])
		}
	default:
		t.Errorf("the reference has no value of %s", name)
	}
}
