package retrieval

import (
	"cmp"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"assay/shared/measure"
)

// numbered writes lines without end, each with its number between before and after.
func numbered(before, after string) io.Reader {
	n := int64(0)
	var rest []byte
	return readerFunc(func(p []byte) (int, error) {
		for len(rest) < len(p) {
			n++
			rest = append(strconv.AppendInt(append(rest, before...), n, 10), after...)
		}
		c := copy(p, rest)
		rest = append(rest[:0], rest[c:]...)
		return c, nil
	})
}

// packed compresses what r has, which may be without end.
func packed(t *testing.T, r io.Reader) io.Reader {
	reader, writer := io.Pipe()
	go func() {
		z, _ := gzip.NewWriterLevel(writer, gzip.BestSpeed)
		_, err := io.Copy(z, r)
		writer.CloseWithError(cmp.Or(err, z.Close()))
	}()
	t.Cleanup(func() { reader.Close() })
	return reader
}

// TestHostileRunsCostBoundedMemory sends what has no end or is very long. All that is allocated in the course of it,
// kept or not, bounds the memory in use.
func TestHostileRunsCostBoundedMemory(t *testing.T) {
	const mib = 1 << 20
	truth := readTruth(t, file("q", "t 0 a 1\n"))
	for name, c := range map[string]struct {
		content io.Reader
		bound   uint64
		want    string
	}{
		"a line of 200 MB":  {io.LimitReader(numbered("", ""), 200*mib), 32 * mib, "longer than"},
		"zero bytes":        {numbered("t Q0 d", " 1 1 x\x00\n"), 32 * mib, "zero byte"},
		"not a number":      {numbered("t Q0 d", " 1 nan x\n"), 32 * mib, "not a finite number"},
		"not UTF-8":         {numbered("t Q0 d", "\xff 1 1 x\n"), 32 * mib, "not valid UTF-8"},
		"one field":         {numbered("", "\n"), 32 * mib, "only 1 of 6 fields"},
		"a topic a line":    {numbered("", " Q0 d 1 1 x\n"), 700 * mib, "more than 1000000 topics"},
		"a bomb":            {packed(t, numbered(strings.Repeat("\n", 10000)+"t Q0 d", " 1 1 x\n")), 64 * mib, "times its size"},
		"the same document": {packed(t, io.LimitReader(numbered("t Q0 d ", " 1 x\n"), 20*mib)), 300 * mib, "already"},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			result, diagnostics, err := truth.Evaluate(t.Context(), parsed(t, "AP"), measure.File{Name: "r", Content: c.content})
			runtime.ReadMemStats(&after)
			wanted := func(d measure.Diagnostic) bool { return strings.Contains(d.Message, c.want) }
			if err != nil || result.Measures != nil || !slices.ContainsFunc(diagnostics, wanted) {
				t.Errorf("got %v, %v, %v; want %q", result.Measures, told(diagnostics), err, c.want)
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > c.bound {
				t.Errorf("allocated %d MiB, more than %d", used/mib, c.bound/mib)
			}
		})
	}
}

// TestMemoryIsAboutTheSizeOfTheRun holds the promise that all that an evaluation allocates is less than twice the file.
func TestMemoryIsAboutTheSizeOfTheRun(t *testing.T) {
	var text strings.Builder
	for i := range 300_000 {
		fmt.Fprintf(&text, "topic%d Q0 document-%d %d %d.5 system\n", i/1000, i, i%1000, 1000-i%1000)
	}
	truth := readTruth(t, file("q", "topic1 0 document-1001 1\n"))
	wanted := parsed(t, usual...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	result, diagnostics, err := truth.Evaluate(t.Context(), wanted, file("r", text.String()))
	runtime.ReadMemStats(&after)
	if err != nil || *result.Measures["RR"] != 0.5 {
		t.Fatal(diagnostics, err)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 2*uint64(text.Len()) {
		t.Errorf("allocated %d bytes for a run of %d", used, text.Len())
	}
}

// TestTheOrderOfLinesDoesNotMatter shuffles a run of many chunks, so that every topic is spread over all of them.
func TestTheOrderOfLinesDoesNotMatter(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var lines []string
	var qrels strings.Builder
	for topic := range 40 {
		for doc := range 500 {
			lines = append(lines, fmt.Sprintf("topic%d Q0 document%d %d %d x\n", topic, doc, doc, random.IntN(50)))
			if random.IntN(4) == 0 {
				fmt.Fprintf(&qrels, "topic%d 0 document%d %d\n", topic, doc, random.IntN(5)-1)
			}
		}
	}
	truth := readTruth(t, file("q", qrels.String()))
	wanted := parsed(t, "AP", "nDCG@10", "Bpref", "infAP", "ERR@20", "RBP", "Judged@10", "P(judged_only=True)@10")
	want, diagnostics, err := truth.Evaluate(t.Context(), wanted, file("r", strings.Join(lines, "")))
	if err != nil || want.Measures == nil {
		t.Fatal(diagnostics, err)
	}
	for range 3 {
		random.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
		got, diagnostics, err := truth.Evaluate(t.Context(), wanted, file("r", strings.Join(lines, "")))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("another result after shuffling: %v, %v", diagnostics, err)
		}
	}
}
