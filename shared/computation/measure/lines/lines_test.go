package lines

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/measuretest"
	"assay/shared/computation/measure/steps"
	"assay/shared/testing/nightlytest"

	"pgregory.net/rapid"
)

// read returns the sound lines of a file, their numbers and the diagnostics.
func read(t *testing.T, r io.Reader, change func(*limits)) ([]string, []int, []measure.Diagnostic) {
	t.Helper()
	var report measure.Report
	in := NewReader(t.Context(), "run.txt", r, &report)
	if change != nil {
		change(&in.limits)
	}
	var texts []string
	var numbers []int
	for in.Scan() {
		texts = append(texts, string(in.Text()))
		numbers = append(numbers, in.Number())
	}
	if err := in.Err(); err != nil {
		t.Fatalf("Err() = %v", err)
	}
	return texts, numbers, report.Diagnostics()
}

func TestReader_ReadsValidFiles(t *testing.T) {
	want := []string{"one", "", "zwei drei ü"}
	for name, text := range map[string]string{
		"plain":            "one\n\nzwei drei ü\n",
		"no final newline": "one\n\nzwei drei ü",
		"CRLF":             "one\r\n\r\nzwei drei ü\r\n",
		"byte order mark":  "\xef\xbb\xbfone\n\nzwei drei ü\n",
		"gzip":             measuretest.Gzip(t, "one\n\nzwei drei ü\n"),
		"gzip with mark":   measuretest.Gzip(t, "\xef\xbb\xbfone\n\nzwei drei ü"),
		"gzip in parts":    measuretest.Gzip(t, "one\n\nzw") + measuretest.Gzip(t, "ei drei ü\n"),
	} {
		t.Run(name, func(t *testing.T) {
			for _, r := range []io.Reader{strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text)),
				iotest.DataErrReader(strings.NewReader(text))} {
				texts, numbers, diagnostics := read(t, r, nil)
				if !slices.Equal(texts, want) || !slices.Equal(numbers, []int{1, 2, 3}) || diagnostics != nil {
					t.Fatalf("got %q %v %v", texts, numbers, diagnostics)
				}
			}
		})
	}
}

func TestReader_NumbersFaults(t *testing.T) {
	long := strings.Repeat("x", 400)
	text := "a\nb\x00\nc\n\xff\n" + long + "\nd\n" + strings.Repeat("y", 101) + "\n" + strings.Repeat("z", 100) + "\n"
	for _, packed := range []string{text, measuretest.Gzip(t, text)} {
		texts, numbers, diagnostics := read(t, strings.NewReader(packed), func(l *limits) { l.line, l.chunk = 100, 150 })
		if !slices.Equal(texts, []string{"a", "c", "d", strings.Repeat("z", 100)}) || !slices.Equal(numbers, []int{1, 3, 6, 8}) {
			t.Errorf("got lines %q at %v", texts, numbers)
		}
		want := map[int]string{2: "zero byte", 4: "not valid UTF-8", 5: "longer than 100 bytes"} // also in line 7
		if len(diagnostics) != len(want) || diagnostics[2].Lines != "5 and 7" {
			t.Errorf("got %v", diagnostics)
		}
		for _, d := range diagnostics {
			if d.Severity != measure.Error || d.File != "run.txt" || !strings.Contains(d.Message, want[d.Line]) || want[d.Line] == "" {
				t.Errorf("unexpected %+v", d)
			}
		}
	}
}

// encoded returns a text in base64, in lines of 76 characters.
func encoded(text string) string {
	var b strings.Builder
	for line := range slices.Chunk([]byte(base64.StdEncoding.EncodeToString([]byte(text))), 76) {
		b.Write(append(line, '\n'))
	}
	return b.String()
}

// TestReader_ReadsLongWords reads lines that are long words and no base64.
func TestReader_ReadsLongWords(t *testing.T) {
	for _, text := range []string{strings.Repeat("a", 100), strings.Repeat("0123456789abcdef", 4), strings.Repeat("Donaudampfschiff", 5)} {
		if texts, _, diagnostics := read(t, strings.NewReader(text+"\n"), nil); len(texts) != 1 {
			t.Errorf("%s: %v", text, diagnostics)
		}
	}
}

func TestReader_RefusesOtherFormats(t *testing.T) {
	packed := measuretest.Gzip(t, strings.Repeat("some text that goes on\n", 1000))
	for name, c := range map[string]struct{ text, want string }{
		"zip":          {"PK\x03\x04rest", "zip archive"},
		"bzip2":        {"BZh91AY&SY", "bzip2"},
		"xz":           {"\xfd7zXZ\x00\x00\x04", "xz"},
		"zstd":         {"\x28\xb5\x2f\xfd\x04\x00", "zstd"},
		"7z":           {"7z\xbc\xaf\x27\x1c\x00", "7z"},
		"UTF-16":       {"\xff\xfea\x00b\x00", "UTF-16"},
		"PNG":          {"\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR", "not text"},
		"PNG in gzip":  {measuretest.Gzip(t, "\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR"), "not text"},
		"zip in gzip":  {measuretest.Gzip(t, "PK\x03\x04rest"), "zip archive"},
		"gzip in gzip": {measuretest.Gzip(t, measuretest.Gzip(t, "a\n")), "twice"},
		"cut gzip":     {packed[:len(packed)-9], "too early"},
		"gzip header":  {packed[:5], "too early"},
		"damaged gzip": {packed[:30] + "XXXX" + packed[34:], "damaged"},
		"gzip tail":    {packed + "tail of something", "damaged"},
		"base64":       {encoded(strings.Repeat("1 Q0 gr\u00f6\u00dfer-1 1 2.5 x\n", 9)), "base64 -d"},
		"gzip, base64": {encoded(packed), "base64 -d"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, diagnostics := read(t, strings.NewReader(c.text), nil)
			if len(diagnostics) != 1 || !strings.Contains(diagnostics[0].Message, c.want) || diagnostics[0].Line != 0 {
				t.Errorf("got %v, want one with %q", diagnostics, c.want)
			}
		})
	}
}

func TestReader_ReadsLinesBeforeTheDamage(t *testing.T) {
	packed := measuretest.Gzip(t, strings.Repeat("some text that goes on\n", 1000)+"\x00\n")
	texts, _, diagnostics := read(t, strings.NewReader(packed[:len(packed)-8]), nil)
	if len(texts) != 1000 || len(diagnostics) != 2 || !strings.Contains(diagnostics[0].Message, "too early") || diagnostics[1].Line != 1001 {
		t.Errorf("%d lines, %v", len(texts), diagnostics)
	}
}

func TestReader_StopsAfterTooManyFaults(t *testing.T) {
	faulty := func(n int) string { return strings.Repeat("x\x00\n", n) }
	endless := io.MultiReader(strings.NewReader(faulty(measure.MaxFaults+500)), iotest.ErrReader(errors.New("read on")))
	_, _, diagnostics := read(t, endless, func(l *limits) { l.chunk = 200 })
	if len(diagnostics) != 2 || diagnostics[0].Count != measure.MaxFaults {
		t.Errorf("got %+v", diagnostics)
	}
	texts, _, diagnostics := read(t, strings.NewReader(faulty(measure.MaxFaults-1)+"sound\n"), nil)
	if !slices.Equal(texts, []string{"sound"}) || len(diagnostics) != 1 {
		t.Errorf("read %q, %+v", texts, diagnostics)
	}
}

func TestReader_ReturnsErrorsOfFiles(t *testing.T) {
	broken := errors.New("connection lost")
	for _, start := range []string{"", "a\nb", measuretest.Gzip(t, "a\n")[:14]} {
		var report measure.Report
		in := NewReader(t.Context(), "run.txt", io.MultiReader(strings.NewReader(start), iotest.ErrReader(broken)), &report)
		for in.Scan() {
		}
		if !errors.Is(in.Err(), broken) || report.Failed() {
			t.Errorf("after %q: Err() = %v, diagnostics %v", start, in.Err(), report.Diagnostics())
		}
	}
}

func TestReader_StopsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var report measure.Report
	in := NewReader(ctx, "run.txt", measuretest.Repeat("a b c\n"), &report)
	in.Scan()
	cancel()
	for in.Scan() {
	}
	if !errors.Is(in.Err(), context.Canceled) {
		t.Errorf("Err() = %v", in.Err())
	}
}

func TestReader_NeedsBoundedMemory(t *testing.T) {
	// A gzip member of 256 KiB of text, repeated, is a gzip file as well.
	bomb := func() io.Reader { return measuretest.Repeat(measuretest.Gzip(t, strings.Repeat("a\n", 128<<10))) }
	for name, c := range map[string]struct {
		r      io.Reader
		want   string
		change func(*limits)
	}{
		"one line of 50 MB":      {io.LimitReader(measuretest.Repeat(strings.Repeat("x", 4096)), 50<<20), "longer than", nil},
		"gzip bomb":              {bomb(), "200 times", func(l *limits) { l.RatioFrom = 8 << 20 }},
		"text without end":       {measuretest.Repeat(strings.Repeat("a b c\n", 700)), "bytes of text", func(l *limits) { l.Bytes = 30 << 20 }},
		"text of several files":  {strings.NewReader(strings.Repeat("a b c\n", 100)), "with those before it", func(l *limits) { l.text = 500 }},
		"packed but within 200x": {bomb(), "bytes of text", func(l *limits) { l.Ratio, l.Bytes = 1e6, 10<<20 }},
	} {
		t.Run(name, func(t *testing.T) {
			var report measure.Report
			in := NewReader(t.Context(), "run.txt", c.r, &report)
			if c.change != nil {
				c.change(&in.limits)
			}
			allocated := measuretest.Allocated(func() {
				for in.Scan() {
				}
			})
			if allocated > 16<<20 {
				t.Errorf("allocated %d MiB", allocated>>20)
			}
			if d := report.Diagnostics(); in.Err() != nil || len(d) != 1 || !strings.Contains(d[0].Message, c.want) {
				t.Errorf("got %v, %v; want %q", d, in.Err(), c.want)
			}
		})
	}
}

// TestReader_ChunksHaveAllLines cuts random text into chunks of random size and expects the lines of a plain split.
func TestReader_ChunksHaveAllLines(t *testing.T) {
	nightlytest.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("abü \r\n\n")), 0, 200, -1).Draw(t, "text")
		size := rapid.IntRange(8, 64).Draw(t, "chunk")
		var want []string
		for line := range strings.SplitAfterSeq(text, "\n") {
			if line != "" {
				want = append(want, strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r"))
			}
		}
		longest := 0
		for _, line := range want {
			longest = max(longest, len(line)+2)
		}
		var report measure.Report
		in := NewReader(context.Background(), "f", strings.NewReader(text), &report)
		in.KeepCR()
		in.limits.chunk, in.limits.line = max(size, longest), int64(max(size, longest))
		var got []string
		for in.Scan() {
			got = append(got, string(in.Text()))
		}
		if !slices.Equal(got, want) || report.Failed() || in.Err() != nil {
			t.Fatalf("got %q, want %q, %v", got, want, report.Diagnostics())
		}
	})
}

// TestReader_RefusesLineEndsOfCRAlone reads short and long files. Line ends of Windows, also with two CRs, must be accepted.
func TestReader_RefusesLineEndsOfCRAlone(t *testing.T) {
	for text, want := range map[string]int{
		"a\rb\rc\r": 1, strings.Repeat("a\r", 100): 1, "a\nb\rc\nd\re\n": 1, "\ra\n": 1,
		"a\r\nb\r\r\nc\r": 0, "\r\n\r": 0,
	} {
		_, _, diagnostics := read(t, strings.NewReader(text), func(l *limits) { l.line, l.chunk = 50, 60 })
		if len(diagnostics) != want || want > 0 && diagnostics[0].Message != BareCRFault {
			t.Errorf("%q: %v", text, diagnostics)
		}
	}
}

// FuzzScan reads each file in large and in tiny chunks. Lines must be sound, and lines and diagnostics must not depend on the chunks.
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
		// Tiny chunks may report a line as overlong before its end is found to be damaged.
		damaged := slices.ContainsFunc(found, func(d measure.Diagnostic) bool { return d.Line == 0 })
		// A line that fills a chunk is only reported as overlong. A shorter line may have another fault instead.
		sameLine := func(a, b measure.Diagnostic) bool { return a.Line == b.Line && a.Severity == b.Severity }
		if !slices.Equal(texts, again) || !slices.Equal(numbers, numbered) || !damaged && !slices.EqualFunc(found, foundAgain, sameLine) {
			t.Errorf("chunks change the file:\n%q %v %v\n%q %v %v", texts, numbers, found, again, numbered, foundAgain)
		}
	})
}

// TestReader_CountsStepsOfBytesAndLines checks the number of steps. It bounds the memory of a run within a budget, however short its lines
// are.
func TestReader_CountsStepsOfBytesAndLines(t *testing.T) {
	counter := steps.New(1<<40, func(context.Context) error { return nil })
	var report measure.Report
	in := NewReader(steps.With(t.Context(), counter), "run.txt", strings.NewReader(strings.Repeat("a\n", 1<<20)), &report)
	for in.Scan() {
	}
	if got, want := counter.Total(), int64((2+perLine)<<20); got < want || got > want+want/100 || in.Err() != nil {
		t.Errorf("reading took %d steps, want %d: %v", got, want, in.Err())
	}
}

// TestReader_KeepsItsFirstLines keeps whole lines of a few KiB, also after the first chunk.
func TestReader_KeepsItsFirstLines(t *testing.T) {
	long := strings.Repeat("x", 3000) + "\n"
	for content, want := range map[string]string{
		"":                 "",
		"a\nb":             "a\nb",
		long + long:        long,
		long[:2000] + long: (long[:2000] + long)[:4096],
	} {
		var report measure.Report
		in := NewReader(t.Context(), "f", strings.NewReader(content), &report)
		for in.Scan() { // reads the whole file
		}
		if got := string(in.Head()); got != want {
			t.Errorf("%d bytes of %d: %d wanted", len(got), len(content), len(want))
		}
	}
}
