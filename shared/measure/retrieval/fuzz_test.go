package retrieval

import (
	"bytes"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"assay/shared/measure"
	"assay/shared/measure/measuretest"
)

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
		// Every judgment is found again, and nothing else.
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
		alone, err := ValidateRun(t.Context(), measure.File{Name: "f", Content: bytes.NewReader(text)})
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
		// The order of the lines after the first, which may have a byte order mark, does not matter.
		if lines := bytes.Split(text, []byte("\n")); !bytes.HasPrefix(text, []byte("\x1f\x8b")) {
			slices.Reverse(lines[1:])
			again, diagnostics, err := truth.Evaluate(t.Context(), measures, measure.File{
				Name: "f", Content: bytes.NewReader(bytes.Join(lines, []byte("\n")))})
			if err != nil || !reflect.DeepEqual(again.Measures, result.Measures) || !reflect.DeepEqual(again.PerTopic, result.PerTopic) {
				t.Errorf("another result in another order: %v, %v", diagnostics, err)
			}
		}
	})
}
