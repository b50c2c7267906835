package retrieval

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/measuretest"
	"assay/shared/testing/nightlytest"

	"pgregory.net/rapid"
)

// diversityValues evaluates a run. It expects no errors, and a value of every measure.
func diversityValues(t interface {
	Helper()
	Fatalf(format string, args ...any)
	Context() context.Context
}, qrels, run string, names ...string) measure.Result {
	t.Helper()
	q, diagnostics, err := ReadDiversityQrels(t.Context(), measuretest.File("qrels.txt", qrels))
	if err != nil || q == nil {
		t.Fatalf("%v, %v", diagnostics, err)
	}
	var asked []measure.Measure
	for _, name := range names {
		m, err := measure.Parse(measure.Diversity, name)
		if err != nil {
			t.Fatalf("%v", err)
		}
		asked = append(asked, m)
	}
	result, diagnostics, err := q.Evaluate(t.Context(), asked, measuretest.File("run.txt", run))
	if err != nil || result.Measures == nil {
		t.Fatalf("%v, %v", diagnostics, err)
	}
	return result
}

const diversityQrels = "t 1 a 1\nt 2 a 1\nt 2 b 2\nt 3 c 1\nt 4 c 0\n"

// TestDiversity_ByHand checks the differences from ndeval, and ndeval's names. The ranking is b a x, with the gains 1, 1 + 0.5, 0 of 3
// subtopics.
func TestDiversity_ByHand(t *testing.T) {
	run := "t Q0 b 1 9 x\nt Q0 a 2 8 x\nt Q0 x 3 7 x\n"
	for name, want := range map[string]float64{
		"alpha-DCG@1":    1. / 3, // ndeval has 1
		"ERR-IA@1":       1. / 3,
		"alpha_DCG@2":    (1 + 1.5/math.Log2(3)) / (3 + 1.5/math.Log2(3)),
		"α-nDCG@2":       (1 + 1.5/math.Log2(3)) / (2 + 1/math.Log2(3)),
		"strec@1000000":  2. / 3,
		"strec(rel=2)@1": 1,
	} {
		m := measuretest.Parse(t, measure.Diversity, name)[0].String()
		if got := *diversityValues(t, diversityQrels, run, name).Measures[m]; math.Abs(got-want) > 1e-12 {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	if reasons := diversityValues(t, diversityQrels, run, "alpha_nDCG@1000", "nERR_IA@1000", "ERR_IA@1000000").Reasons; len(reasons) > 0 {
		t.Errorf("%v", reasons)
	}
}

func TestReadDiversityQrels_Diagnostics(t *testing.T) {
	for text, want := range map[string]string{
		"t 1 a 1\nt 2 a 1\nt 1 b 1\nt 1 a 0\n": `q:4 error: topic "t" has document "a" for subtopic "1" already, in line 1; keep one of them`,
		"t 1 a\n":                              "q:1 error: the line has only 3 of 4 fields: topic, subtopic, document and grade…",
		"\n":                                   "q error: the file is empty or has no judgments; each line needs topic, subtopic…",
	} {
		q, diagnostics, err := ReadDiversityQrels(t.Context(), measuretest.File("q", text))
		if err != nil || q != nil {
			t.Errorf("%q is %v, %v", text, q, err)
		}
		measuretest.Expect(t, diagnostics, want)
	}
	q, _, err := ReadDiversityQrels(t.Context(), measuretest.File("q", "t 1 a 1\nu 1 a -1\nt 2 a 3\n"))
	if err != nil || *q.Grade("t", []byte("a")) != 3 || *q.Grade("u", []byte("a")) != -1 || q.Topics() != 2 {
		t.Errorf("%+v, %v", q, err)
	}
	if _, err := q.Read(t.Context(), measuretest.Parse(t, measure.Retrieval, "AP"), measuretest.File("r", "t Q0 a 1 1 x\n")); err == nil {
		t.Error("AP was computed from diversity qrels")
	}
}

// TestReadDiversityQrels_NamesPlainQrels reads the qrels of trec_eval, whose second field is no subtopic.
func TestReadDiversityQrels_NamesPlainQrels(t *testing.T) {
	for text, want := range map[string][]string{
		"t 0 a 1\nt 0 b 2\nu 0 a 1\n": {`q warning: all judgments have the same second field, "0", and so no topic has several subtopics; if it ` +
			`is no subtopic but the iteration of plain relevance judgments, choose the kind retrieval`},
		"t 0 a 1\nt 1 b 2\n": nil,
	} {
		q, diagnostics, err := ReadDiversityQrels(t.Context(), measuretest.File("q", text))
		if err != nil || q == nil {
			t.Errorf("%q: %v", text, err)
		}
		measuretest.Expect(t, diagnostics, want...)
	}
}

// TestDiversity_KnowsNoOrder checks that neither the order of judgments nor the names of subtopics change a value.
func TestDiversity_KnowsNoOrder(t *testing.T) {
	measures := []string{"alpha_nDCG@5", "ERR_IA@5", "nERR_IA@4", "alpha_DCG@4", "StRecall@3", "alpha_nDCG(alpha=0.75)@3"}
	type judged struct{ topic, subtopic, doc int }
	nightlytest.Check(t, func(t *rapid.T) {
		number := rapid.IntRange(0, 5)
		list := rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) judged {
			return judged{number.Draw(t, "topic") % 3, number.Draw(t, "subtopic"), number.Draw(t, "doc")}
		}), 1, 40, rapid.ID).Draw(t, "judged")
		names := rapid.Permutation([]string{"a", "b", "10", "2", "ü", "z"}).Draw(t, "names")
		var one, other, run strings.Builder
		for _, j := range list {
			fmt.Fprintf(&one, "%d %d d%d %d\n", j.topic, j.subtopic, j.doc, j.doc%2)
		}
		for _, j := range rapid.Permutation(list).Draw(t, "order") {
			fmt.Fprintf(&other, "%d %s d%d %d\n", j.topic, names[j.subtopic], j.doc, j.doc%2)
		}
		fmt.Fprintf(&run, "%d Q0 x 0 0 x\n", list[0].topic)
		for i, j := range rapid.Permutation([]int{0, 1, 2, 3, 4, 5}).Draw(t, "ranking") {
			fmt.Fprintf(&run, "%d Q0 d%d 0 %d x\n", list[0].topic, j, i/2)
		}
		a := diversityValues(t, one.String(), run.String(), measures...)
		b := diversityValues(t, other.String(), run.String(), measures...)
		for name, x := range a.Measures {
			if math.Abs(*x-*b.Measures[name]) > 1e-12 || !(*x >= 0) {
				t.Errorf("%s is %v, and then %v", name, *x, *b.Measures[name])
			}
		}
	})
}

func FuzzReadDiversityQrels(f *testing.F) {
	f.Add([]byte(diversityQrels))
	f.Add([]byte("t 1 a 1\n\xff # x\r\n# t 0 0\nt 2 a -3.0\nu 1 a 1"))
	asked := measuretest.Parse(f, measure.Diversity, "alpha_nDCG@5", "nERR_IA@9", "ERR_IA@3", "StRecall@2")
	f.Fuzz(func(t *testing.T, text []byte) {
		q, diagnostics, err := ReadDiversityQrels(t.Context(), measure.File{Name: "f", Content: bytes.NewReader(text)})
		if err != nil || (q == nil) != measure.HasErrors(diagnostics) {
			t.Fatal(diagnostics, err)
		}
		measuretest.CheckDiagnostics(t, "f", text, diagnostics)
		if q == nil {
			return
		}
		var run strings.Builder
		for topic := range q.topics {
			for _, j := range q.judgments[q.topics[topic].first:q.topics[topic].last] {
				fmt.Fprintf(&run, "%s Q0 %s 0 1 x\n", q.names[topic], q.doc(j))
			}
		}
		result, diagnostics, err := q.Evaluate(t.Context(), asked, measuretest.File("r", run.String()))
		if err != nil {
			t.Fatal(diagnostics, err)
		}
		for name, x := range result.Measures {
			if x == nil || !(*x >= 0 && *x < math.Inf(1)) {
				t.Errorf("%s is %v", name, x)
			}
		}
	})
}

// TestDiversity_BoundsTheWorkForIdealRankings uses a document with a thousand million subtopics. Five ideal rankings would look at all of
// them.
func TestDiversity_BoundsTheWorkForIdealRankings(t *testing.T) {
	q := &Qrels{topics: []truthTopic{{first: 0, last: 1}}, subtopics: &subtopics{starts: []int{0, maxIdealSteps / 5}}}
	names := []string{"alpha_nDCG@1", "nERR_IA@1", "nERR_IA@9", "StRecall@1", "alpha_nDCG@2", "alpha_nDCG@3", "alpha_nDCG@4", "ERR_IA@9"}
	p, err := q.plan(measuretest.Parse(t, measure.Diversity, names...))
	if err != nil || len(p.scores) != 7 || len(p.undefined) != 1 || !strings.Contains(p.undefined["alpha_nDCG@4"], "ask for fewer measures") {
		t.Errorf("%v, %v", p, err)
	}
}
