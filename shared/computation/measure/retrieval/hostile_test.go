package retrieval

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/measuretest"
)

// TestEvaluate_NeedsBoundedMemory evaluates files that are very long or have no end. It measures all allocations, which bound the memory in
// use. Package lines tests the memory for reading lines.
func TestEvaluate_NeedsBoundedMemory(t *testing.T) {
	const mib = 1 << 20
	truth := readTruth(t, measuretest.File("q", "t 0 a 1\n"))
	for name, c := range map[string]struct {
		content io.Reader
		bound   uint64
		want    string
	}{
		"zero bytes":        {measuretest.Numbered("t Q0 d", " 1 1 x\x00\n"), 128 * mib, "zero byte"},
		"not a number":      {measuretest.Numbered("t Q0 d", " 1 nan x\n"), 128 * mib, "not a finite number"},
		"one field":         {measuretest.Numbered("", "\n"), 128 * mib, "only 1 of 6 fields"},
		"the same document": {io.LimitReader(measuretest.Numbered("t Q0 d ", " 1 x\n"), 4*mib), 64 * mib, "already"},
	} {
		t.Run(name, func(t *testing.T) {
			var result measure.Result
			var diagnostics []measure.Diagnostic
			var err error
			allocated := measuretest.Allocated(func() {
				result, diagnostics, err = truth.Evaluate(t.Context(), measuretest.Parse(t, measure.Retrieval, "AP"), measure.File{
					Name: "r", Content: c.content})
			})
			wanted := func(d measure.Diagnostic) bool { return strings.Contains(d.Message, c.want) }
			if err != nil || result.Measures != nil || !slices.ContainsFunc(diagnostics, wanted) {
				t.Errorf("got %v, %v, %v; want %q", result.Measures, measuretest.Lines(diagnostics), err, c.want)
			}
			if allocated > c.bound {
				t.Errorf("allocated %d MiB, more than %d", allocated/mib, c.bound/mib)
			}
		})
	}
}

// TestReadRun_NeedsBoundedMemoryForTopics reads a run with a new topic in each line. It lowers the limit to be quick.
func TestReadRun_NeedsBoundedMemoryForTopics(t *testing.T) {
	allocated := measuretest.Allocated(func() {
		_, report, err := readRun(t.Context(), new(Qrels), limits{topics: 100_000, lines: standardLimits.lines},
			[]measure.File{{Name: "r", Content: measuretest.Numbered("", " Q0 d 1 1 x\n")}})
		if err != nil {
			t.Fatal(err)
		}
		measuretest.Expect(t, report.Diagnostics(), "r error: more than 100000 topics of the run are not in the truth…")
	})
	if allocated > 64<<20 {
		t.Errorf("allocated %d MiB", allocated>>20)
	}
}

// TestEvaluate_BoundsValuesByTopic evaluates as many topics as a result holds values of, and one topic more. EveryTopic must return all
// values.
func TestEvaluate_BoundsValuesByTopic(t *testing.T) {
	const measures = 100
	var names []string
	for depth := range measures {
		names = append(names, fmt.Sprintf("P@%d", depth+1))
	}
	asked := measuretest.Parse(t, measure.Retrieval, names...)
	for topics, kept := range map[int]bool{measure.MaxTopicValues / measures: true, measure.MaxTopicValues/measures + 1: false} {
		var qrels, run strings.Builder
		for i := range topics {
			fmt.Fprintf(&qrels, "%d 0 d 1\n", i)
			fmt.Fprintf(&run, "%d Q0 d 1 1 x\n", i)
		}
		truth, _, err := Computation.ReadTruth(t.Context(), measure.Format{}, measure.Options{}, asked,
			[]measure.File{measuretest.File("q", qrels.String())})
		if err != nil {
			t.Fatal(err)
		}
		e, err := truth.Evaluate(t.Context(), []measure.File{measuretest.File("r", run.String())})
		if err != nil {
			t.Fatal(err)
		}
		if r := e.Result; (r.PerTopic != nil) != kept || (r.Reasons[measure.PerTopicReason] == "") != kept || (truth.Topics > 0) != kept ||
			*r.Measures["P@2"] != 0.5 {
			t.Errorf("of %d topics, %d have values because %q", topics, len(r.PerTopic), r.Reasons[measure.PerTopicReason])
		}
		if all, err := e.EveryTopic(t.Context()); err != nil || len(all) != topics || all["7"]["P@2"] != 0.5 {
			t.Errorf("%d of %d topics have values", len(all), topics)
		}
	}
}

// TestEvaluate_NeedsMemoryOfTheRunsSize checks that an evaluation allocates less than twice the size of the file.
func TestEvaluate_NeedsMemoryOfTheRunsSize(t *testing.T) {
	var text strings.Builder
	for i := range 300_000 {
		fmt.Fprintf(&text, "topic%d Q0 document-%d %d %d.5 system\n", i/1000, i, i%1000, 1000-i%1000)
	}
	truth := readTruth(t, measuretest.File("q", "topic1 0 document-1001 1\n"))
	wanted := measuretest.Parse(t, measure.Retrieval, usual...)
	allocated := measuretest.Allocated(func() {
		result, diagnostics, err := truth.Evaluate(t.Context(), wanted, measuretest.File("r", text.String()))
		if err != nil || *result.Measures["RR"] != 0.5 {
			t.Fatal(diagnostics, err)
		}
	})
	if allocated > 2*uint64(text.Len()) {
		t.Errorf("allocated %d bytes for a run of %d", allocated, text.Len())
	}
}

// TestEvaluate_IgnoresTheOrderOfLines shuffles a run of many chunks, so that every topic has lines in all chunks.
func TestEvaluate_IgnoresTheOrderOfLines(t *testing.T) {
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
	truth := readTruth(t, measuretest.File("q", qrels.String()))
	wanted := measuretest.Parse(t, measure.Retrieval, "AP", "nDCG@10", "Bpref", "infAP", "ERR@20", "RBP", "Judged@10",
		"P(judged_only=True)@10")
	want, diagnostics, err := truth.Evaluate(t.Context(), wanted, measuretest.File("r", strings.Join(lines, "")))
	if err != nil || want.Measures == nil {
		t.Fatal(diagnostics, err)
	}
	for range 3 {
		random.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
		got, diagnostics, err := truth.Evaluate(t.Context(), wanted, measuretest.File("r", strings.Join(lines, "")))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("another result after shuffling: %v, %v", diagnostics, err)
		}
	}
}

func FuzzReadQrels(f *testing.F) {
	for _, seed := range []string{gradedQrels, "t 0 a 1\nt 0 a 1\n", "u 0 a 1\nt 0 b 1\nu 0 b 2\n", "\xef\xbb\xbft\t0\ta\t-2\r\n",
		"t 0 a 1.5\nx\n\x00\n\xff\n", "\x1f\x8b\x08", "PK\x03\x04", "t 0 a 32768\n\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		q, diagnostics, err := ReadQrels(t.Context(), measure.File{Name: "f", Content: bytes.NewReader(text)})
		if err != nil {
			t.Fatal(err)
		}
		measuretest.CheckDiagnostics(t, "f", text, diagnostics)
		if (q == nil) != measure.HasErrors(diagnostics) {
			t.Fatalf("Qrels %v with %v", q, diagnostics)
		}
		if q == nil {
			return
		}
		if !slices.IsSorted(q.names) || len(q.names) == 0 {
			t.Errorf("topics %q", q.names)
		}
		// Grade must return every judgment, and no other grades.
		total := 0
		for i := range q.names {
			topic := q.topics[i]
			total += topic.last - topic.first
			for _, j := range q.judgments[topic.first:topic.last] {
				if got := q.grade(int32(i), q.doc(j)); got != j.grade {
					t.Errorf("grade of %q is %d, want %d", q.doc(j), got, j.grade)
				}
			}
			if got := q.grade(int32(i), []byte("no id has a space")); got != unjudged {
				t.Errorf("grade %d of an unknown document", got)
			}
		}
		if total != len(q.judgments) || total == 0 {
			t.Errorf("%d judgments in topics, %d in all", total, len(q.judgments))
		}
	})
}

func FuzzEvaluate(f *testing.F) {
	for _, seed := range []string{gradedRun, "t Q0 a 1 1 x\nt Q0 a 2 1 x\n", "\xef\xbb\xbft\tQ0\ta\t1\t1e-3\tx more\r\nu Q0 a 1 -0 x",
		"t Q0 a 1 nan x\nx\n\x00\n\xff\n", "\x1f\x8b\x08", "t Q0 a 1 1 x\n\n \nv Q0 a 1 1 x\n"} {
		f.Add([]byte(seed))
	}
	bounded := []string{"AP", "AP(rel=2)@3", "nDCG", "nDCG@2", "nDCG(dcg='exp-log2')@3", "P@2", "R@3", "RR@2", "Rprec", "Bpref", "infAP",
		"Success@1",
		"IPrec@0.3", "SetP(judged_only=True)", "SetP(relative=True)", "SetR", "SetF", "SetAP", "Judged@2", "RBP", "RBP(rel=1)@2", "ERR"}
	measures := measuretest.Parse(f, measure.Retrieval, append(bounded, "NumRet")...)
	truth, diagnostics, err := ReadQrels(f.Context(), measuretest.File("q", gradedQrels+strings.ReplaceAll(gradedQrels, "t 0", "u 0")))
	if truth == nil {
		f.Fatal(diagnostics, err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		result, diagnostics, err := truth.Evaluate(t.Context(), measures, measure.File{Name: "f", Content: bytes.NewReader(text)})
		if err != nil {
			t.Fatal(err)
		}
		measuretest.CheckDiagnostics(t, "f", text, diagnostics)
		if measure.HasErrors(diagnostics) == (result.Measures != nil) {
			t.Fatalf("measures %v with %v", result.Measures, diagnostics)
		}
		_, alone, err := ReadRankings(t.Context(), measure.File{Name: "f", Content: bytes.NewReader(text)})
		if err != nil {
			t.Fatal(err)
		}
		measuretest.CheckDiagnostics(t, "f", text, alone)
		overlap := !slices.ContainsFunc(diagnostics, func(d measure.Diagnostic) bool { return strings.Contains(d.Message, "none of the topics") })
		if measure.HasErrors(alone) && result.Measures != nil || measure.HasErrors(diagnostics) && overlap && !measure.HasErrors(alone) {
			t.Fatalf("without the truth %v, with it %v", alone, diagnostics)
		}
		if result.Measures == nil {
			return
		}
		for _, name := range bounded {
			if v := *result.Measures[name]; math.IsNaN(v) || v < 0 || v > 1+1e-9 {
				t.Errorf("%s is %v", name, v)
			}
		}
		// The order of lines must not matter. The first line stays first, because it may have a byte order mark.
		lines := bytes.Split(text, []byte("\n"))
		if !bytes.HasPrefix(text, []byte("\x1f\x8b")) {
			slices.Reverse(lines[1:])
			again, diagnostics, err := truth.Evaluate(t.Context(), measures, measure.File{
				Name: "f", Content: bytes.NewReader(bytes.Join(lines, []byte("\n")))})
			if err != nil || !reflect.DeepEqual(again.Measures, result.Measures) || !reflect.DeepEqual(again.PerTopic, result.PerTopic) {
				t.Errorf("another result in another order: %v, %v", diagnostics, err)
			}
		}
	})
}
