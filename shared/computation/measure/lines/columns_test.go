package lines

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"assay/shared/computation/measure"
	"assay/shared/testing/nightlytest"

	"pgregory.net/rapid"
)

// readRows reads a text as rows of six columns. If use is true, it reads lines with Columns where possible, and counts them.
func readRows(text string, use bool, change func(*limits)) (rows []string, taken int) {
	var report measure.Report
	in := NewReader(context.Background(), "f", strings.NewReader(text), &report)
	change(&in.limits)
	separates := func(r rune) bool { return strings.ContainsRune(" \t\v\f\r", r) }
	for chunk, ok := in.Next(nil); ok; chunk, ok = in.Next(nil) {
		for {
			var columns [6]Column
			at, ok := 0, false
			if use {
				at, ok = chunk.Columns(columns[:])
			}
			if ok {
				taken++
				var texts []string
				for _, c := range columns {
					texts = append(texts, string(chunk.Text(c)))
				}
				rows = append(rows, fmt.Sprintf("%d %q", at, texts))
				continue
			}
			at, line, fault, ok := chunk.Line()
			if !ok {
				break
			}
			rows = append(rows, fmt.Sprintf("%d %q%s", at, bytes.FieldsFunc(line, separates), fault))
		}
	}
	return append(rows, fmt.Sprint(report.Diagnostics(), in.Err())), taken
}

// TestColumns_AreThoseOfLines reads lines of all kinds with and without Columns, and compares the results.
func TestColumns_AreThoseOfLines(t *testing.T) {
	part := rapid.OneOf(rapid.SampledFrom([]string{"\r", "\r\n", "\x00", "\x01", "\v", "\xff", "\n", " ", "\t", "ü", "\u00a0", "\u2028", "#"}),
		rapid.StringMatching(`[!-~]{1,20}`))
	plain := rapid.StringMatching(`([!-~ü]{1,12}[ \t]{1,2}){5}[!-~]{1,12}\r?\n`)
	damaged := rapid.Map(plain, func(line string) string { return strings.Replace(line, "ü", "\xff", 1) })
	mixed := rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(part, 0, 12).Draw(t, "parts"), "") })
	nightlytest.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.OneOf(plain, plain, damaged, mixed), 0, 20).Draw(t, "lines"), "")
		size := rapid.IntRange(70, 400).Draw(t, "chunk")
		line := rapid.Int64Range(20, 70).Draw(t, "longest line")
		change := func(l *limits) { l.chunk, l.line = size, line }
		want, _ := readRows(text, false, change)
		if got, _ := readRows(text, true, change); !slices.Equal(got, want) {
			t.Fatalf("%q: got\n%s\nwant\n%s", text, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

func TestColumns_TakesMostLines(t *testing.T) {
	var text strings.Builder
	for i := range 5000 {
		if i%10 == 0 {
			text.WriteString("# a comment\n")
		}
		fmt.Fprintf(&text, "topic%d Q0\tdocument-%d  %d %d.5 bm25%s", i/100, i, i%100, 100-i%100, []string{"\n", "\r\n", " \n"}[i%3])
	}
	if _, taken := readRows(text.String(), true, func(*limits) {}); taken != 5000 {
		t.Errorf("took %d of 5000 lines", taken)
	}
}
