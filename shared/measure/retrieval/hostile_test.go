package retrieval

import (
	"bytes"
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
	"assay/shared/measure/measuretest"
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

// bomb repeats a gzip member of 1 MiB of text, which is a gzip file as well.
func bomb(t *testing.T) io.Reader {
	t.Helper()
	var member bytes.Buffer
	z := gzip.NewWriter(&member)
	if _, err := z.Write(bytes.Repeat([]byte("\n"), 1<<20)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	rest := member.Bytes()
	return readerFunc(func(p []byte) (int, error) {
		n := copy(p, rest)
		if rest = rest[n:]; len(rest) == 0 {
			rest = member.Bytes()
		}
		return n, nil
	})
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
		"a line of 100 MB":  {io.LimitReader(numbered("", ""), 100*mib), 32 * mib, "longer than"},
		"zero bytes":        {numbered("t Q0 d", " 1 1 x\x00\n"), 32 * mib, "zero byte"},
		"not a number":      {numbered("t Q0 d", " 1 nan x\n"), 32 * mib, "not a finite number"},
		"not UTF-8":         {numbered("t Q0 d", "\xff 1 1 x\n"), 32 * mib, "not valid UTF-8"},
		"one field":         {numbered("", "\n"), 32 * mib, "only 1 of 6 fields"},
		"a bomb":            {bomb(t), 64 * mib, "times its size"},
		"the same document": {io.LimitReader(numbered("t Q0 d ", " 1 x\n"), 4*mib), 64 * mib, "already"},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			result, diagnostics, err := truth.Evaluate(t.Context(), measuretest.Parse(t, measure.Retrieval, "AP"), measure.File{Name: "r", Content: c.content})
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

// TestManyTopicsCostBoundedMemory sends a topic a line, under a lower limit than the standard one to be quick.
func TestManyTopicsCostBoundedMemory(t *testing.T) {
	var none Qrels
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, report, err := readRun(t.Context(), &none, limits{topics: 100_000, lines: standardLimits.lines},
		[]measure.File{{Name: "r", Content: numbered("", " Q0 d 1 1 x\n")}})
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, report.Diagnostics(), "error r:0 more than 100000 topics of the run are not in the truth")
	if used := after.TotalAlloc - before.TotalAlloc; used > 64<<20 {
		t.Errorf("allocated %d MiB", used>>20)
	}
}

// TestMemoryIsAboutTheSizeOfTheRun holds the promise that all that an evaluation allocates is less than twice the file.
func TestMemoryIsAboutTheSizeOfTheRun(t *testing.T) {
	var text strings.Builder
	for i := range 300_000 {
		fmt.Fprintf(&text, "topic%d Q0 document-%d %d %d.5 system\n", i/1000, i, i%1000, 1000-i%1000)
	}
	truth := readTruth(t, file("q", "topic1 0 document-1001 1\n"))
	wanted := measuretest.Parse(t, measure.Retrieval, usual...)
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
			lines = append(lines, fmt.Sprintf("topic%d Q0 document%d 0 %d x\n", topic, doc, random.IntN(50)))
			if random.IntN(4) == 0 {
				fmt.Fprintf(&qrels, "topic%d 0 document%d %d\n", topic, doc, random.IntN(5)-1)
			}
		}
	}
	truth := readTruth(t, file("q", qrels.String()))
	wanted := measuretest.Parse(t, measure.Retrieval, "AP", "nDCG@10", "Bpref", "infAP", "ERR@20", "RBP", "Judged@10", "P(judged_only=True)@10")
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
