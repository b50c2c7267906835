package output_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"assay/grpc/assayv1"
	"assay/grpc/worker/output"
	"assay/shared/testing/nightlytest"

	"pgregory.net/rapid"
)

const stdout, stderr = assayv1.Stream_STREAM_STDOUT, assayv1.Stream_STREAM_STDERR

// drain takes and acknowledges all lines, like a server.
func drain(t interface{ Fatalf(string, ...any) }, l *output.Log) []*assayv1.OutputLine {
	var all []*assayv1.OutputLine
	for some, _ := l.Pending(); some; some, _ = l.Pending() {
		first, lines := l.Next()
		if first != int64(len(all)) || len(lines) == 0 {
			t.Fatalf("%d lines from %d on, behind %d", len(lines), first, len(all))
		}
		size := 0
		for _, line := range lines {
			size += len(line.GetText())
		}
		if len(lines) > 1000 || size > 256<<10 {
			t.Fatalf("%d lines of %d bytes in one call", len(lines), size)
		}
		all = append(all, lines...)
		l.Acknowledge(int64(len(all)))
	}
	return all
}

func texts(lines []*assayv1.OutputLine) []string {
	var all []string
	for _, l := range lines {
		all = append(all, l.GetText())
	}
	return all
}

func TestWriter_SplitsLines(t *testing.T) {
	long := strings.Repeat("ä", 8000)
	for name, c := range map[string]struct {
		written string
		want    []string
	}{
		"nothing":        {"", nil},
		"no end":         {"a\nb", []string{"a", "b"}},
		"empty lines":    {"\n\na\n", []string{"", "", "a"}},
		"from Windows":   {"a\r\nb\r\n", []string{"a", "b"}},
		"progress":       {" 1%\r50%\r100%\ndone\r", []string{"100%", "done"}},
		"not UTF-8":      {"a\xffb\n", []string{"a\uFFFDb"}},
		"long":           {long + "\nnext\n", []string{long[:8192], "next"}},
		"long, no UTF-8": {strings.Repeat("\xff\xfe", 8000), []string{"\uFFFD"}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, step := range []int{1, 3, 1 << 20} {
				l := output.New()
				w := l.Writer(stdout)
				for chunk := range slices.Chunk([]byte(c.written), step) {
					w.Write(chunk)
				}
				w.Close()
				if got := texts(drain(t, l)); !slices.Equal(got, c.want) {
					t.Errorf("in steps of %d: %.80q, want %.80q", step, got, c.want)
				}
			}
		})
	}
}

func TestWriter_LinesAreTextWithinTheLimit(t *testing.T) {
	nightlytest.Check(t, func(t *rapid.T) {
		l := output.New()
		w := l.Writer(stderr)
		for _, chunk := range rapid.SliceOf(rapid.SliceOfN(rapid.SampledFrom([]byte("a\n\r\xff\xe2\x82\xac")), 0, 9000)).Draw(t, "chunks") {
			w.Write(chunk)
		}
		w.Close()
		for _, line := range drain(t, l) {
			if text := line.GetText(); !utf8.ValidString(text) || len(text) > 8<<10 || strings.ContainsAny(text, "\r\n") ||
				line.GetStream() != stderr {
				t.Fatalf("the line %.80q of %d bytes", text, len(text))
			}
		}
	})
}

func TestNext_RepeatsLinesUntilAcknowledge(t *testing.T) {
	l := output.New()
	for i := range 5 {
		l.Printf("%d", i)
	}
	l.Acknowledge(2)
	l.Acknowledge(1) // a late answer
	if first, lines := l.Next(); first != 2 || !slices.Equal(texts(lines), []string{"2", "3", "4"}) {
		t.Errorf("from %d on: %q", first, texts(lines))
	}
	l.Acknowledge(100)
	if first, lines := l.Next(); first != 5 || len(lines) != 0 {
		t.Errorf("from %d on: %q", first, texts(lines))
	}
}

func TestChanged_SignalsTheFirstLineAndAFullCall(t *testing.T) {
	changed := func(l *output.Log) bool {
		select {
		case <-l.Changed():
			return true
		default:
			return false
		}
	}
	l := output.New()
	if changed(l) {
		t.Error("a signal without a line")
	}
	l.Printf("first")
	if !changed(l) {
		t.Error("no signal for the first line")
	}
	for range 998 {
		l.Printf("more")
	}
	if changed(l) {
		t.Error("a signal for lines that go with the next call anyway")
	}
	l.Printf("as many as a call takes")
	if _, full := l.Pending(); !changed(l) || !full {
		t.Error("no signal for as many lines as one call takes")
	}
}

func TestLog_KeepsTheEndOfEachStream(t *testing.T) {
	l := output.New()
	out, err := l.Writer(stdout), l.Writer(stderr)
	fmt.Fprintln(err, "warning")
	line := strings.Repeat("x", 1000) + "\n"
	for range 30_000 {
		out.Write([]byte(line))
	}
	fmt.Fprintln(err, "the cause")
	for range 1000 {
		out.Write([]byte(line))
	}
	fmt.Fprintln(out, "the end")
	l.Close()
	l.Printf("ended")
	all := drain(t, l)
	got := texts(all)
	size := 0
	for _, text := range got {
		size += len(text)
	}
	if size > 17<<20 {
		t.Errorf("%d bytes are kept", size)
	}
	for _, want := range []string{"warning", "the cause", "the end", "ended"} {
		if !slices.Contains(got, want) {
			t.Errorf("%q is left out", want)
		}
	}
	if tail := l.Tail(stderr); tail != "warning\nthe cause" {
		t.Errorf("the tail of standard error is %q", tail)
	}
	if tail := l.Tail(stdout); len(tail) > 1900 || !strings.HasSuffix(tail, "\nthe end") {
		t.Errorf("the tail of standard output is %q", tail)
	}
	left := 0
	for _, text := range got {
		if n, err := fmt.Sscanf(text, "%d lines left out here.", &left); n == 1 && err == nil {
			break
		}
	}
	printed := 0
	for _, line := range all {
		if line.GetStream() != assayv1.Stream_STREAM_WORKER {
			printed++
		}
	}
	if printed+left != 31_003 {
		t.Errorf("%d lines are kept and %d left out, of 31003", printed, left)
	}
}

func TestTail_CutsOneLongLine(t *testing.T) {
	l := output.New()
	w := l.Writer(stdout)
	w.Write([]byte(strings.Repeat("ä", 3000) + "!"))
	w.Close()
	if tail := l.Tail(stdout); len(tail) > 1900 || !strings.HasSuffix(tail, "ä!") || !utf8.ValidString(tail) {
		t.Errorf("the tail is %q", tail)
	}
}
