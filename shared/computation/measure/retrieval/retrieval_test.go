package retrieval

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/hashtable"
	"assay/shared/computation/measure/measuretest"
	"assay/shared/computation/measure/steps"
)

// readTruth reads qrels, and expects no diagnostics.
func readTruth(t testing.TB, files ...measure.File) *Qrels {
	t.Helper()
	q, diagnostics, err := ReadQrels(t.Context(), files...)
	if err != nil || diagnostics != nil {
		t.Fatalf("ReadQrels: %v, %v", diagnostics, err)
	}
	return q
}

// values evaluates a run. It expects no errors, and a value of every measure.
func values(t testing.TB, qrels, run string, names ...string) measure.Result {
	t.Helper()
	result, diagnostics, err := readTruth(t, measuretest.File("qrels.txt", qrels)).Evaluate(t.Context(),
		measuretest.Parse(t, measure.Retrieval, names...), measuretest.File("run.txt", run))
	if err != nil || result.Measures == nil {
		t.Fatalf("%v, %v", diagnostics, err)
	}
	return result
}

// One topic. The ranking is a b c d e f with grades 3, none, 0, 1, -1, 2; g with grade 1 is not retrieved.
const (
	gradedQrels = "t 0 a 3\nt 0 c 0\nt 0 d 1\nt 0 e -1\nt 0 f 2\nt 0 g 1\n"
	gradedRun   = "t Q0 a 1 9 x\nt Q0 b 2 8 x\nt Q0 c 3 7 x\nt Q0 d 4 6 x\nt Q0 e 5 5 x\nt Q0 f 6 4 x\n"
)

// TestEvaluate_ByHand checks the measures and parameters that trec_eval lacks.
func TestEvaluate_ByHand(t *testing.T) {
	want := map[string]float64{
		// Stops with chance 7/16 at rank 1, 1/16 at 4, 3/16 at 6:
		// 7/16 + 9/16 * 1/16 / 4 + 9/16 * 15/16 * 3/16 / 6.
		"ERR":   0.4375 + 0.0087890625 + 0.0164794921875,
		"ERR@4": 0.4375 + 0.0087890625,
		// Gains 3/3, 1/3, 2/3 at ranks 1, 4, 6: 0.2 (1 + 0.8^3 / 3 + 0.8^5 * 2/3).
		"RBP":   0.2 * (1 + 0.512/3 + 0.32768*2/3),
		"RBP@4": 0.2 * (1 + 0.512/3),
		// 0.5 (1 + 1/32): the document of grade 1 does not count.
		"RBP(p=0.5,rel=2)": 0.515625,
		// Gains 7, 1, 3 at ranks 1, 4, 6: (7/log2(2) + 1/log2(5) + 3/log2(7)) / (7/log2(2) + 3/log2(3) + 1/log2(4) + 1/log2(5)).
		"nDCG(dcg='exp-log2')": (7 + 0.43067656 + 1.06862153) / (7 + 1.89278926 + 0.5 + 0.43067656),
		// Without unjudged documents the ranking is a c d f. A document with a negative grade counts as unjudged.
		"AP(judged_only=True)": (1 + 2./3 + 3./4) / 4,
		"SetF(beta=2.0)":       3 * 0.5 * 0.75 / (2*0.5 + 0.75),
		"NumRet(rel=2)":        2,
	}
	result := values(t, gradedQrels, gradedRun, slices.Collect(maps.Keys(want))...)
	for name, want := range want {
		if got := *result.Measures[name]; math.Abs(got-want) > 1e-8 {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}

// TestEvaluate_CountsEveryGradeAsJudged compares with values of ir-measures 0.4.3. A negative grade is a judgment.
func TestEvaluate_CountsEveryGradeAsJudged(t *testing.T) {
	want := map[string]float64{"Judged": 0.6, "Judged@2": 1, "Judged@3": 2.0 / 3, "Judged@4": 0.75}
	result := values(t, "t 0 a 1\nt 0 b -1\nt 0 c 0\nt 0 d -2\n",
		"t Q0 a 1 9 x\nt Q0 b 2 8 x\nt Q0 x 3 7 x\nt Q0 d 4 6 x\nt Q0 y 5 5 x\n", slices.Collect(maps.Keys(want))...)
	for name, want := range want {
		if got := *result.Measures[name]; math.Abs(got-want) > 1e-12 {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}

// TestEvaluate_CompatDoesNotDependOnUnjudgedDocumentsAtTheEnd retrieves the relevant document at rank 10, and then unjudged documents. The
// values equal the output of the authors' compatibility.py.
func TestEvaluate_CompatDoesNotDependOnUnjudgedDocumentsAtTheEnd(t *testing.T) {
	want := map[string]float64{
		"Compat": 0.19196468585880133, "Compat(p=0.8)": 0.025661545317831574, "Compat(normalize=False)": 0.03026709498999286,
	}
	for _, n := range []int{10, 1000, 2010} {
		var run strings.Builder
		for i := range n {
			fmt.Fprintf(&run, "t Q0 %s%d %d %d x\n", map[bool]string{true: "relevant", false: "unjudged"}[i == 9], i, i+1, n-i)
		}
		result := values(t, "t 0 relevant9 1\n", run.String(), slices.Collect(maps.Keys(want))...)
		for name, want := range want {
			if got := *result.Measures[name]; math.Abs(got-want) > 1e-12 {
				t.Errorf("%s of %d documents is %v, want %v", name, n, got, want)
			}
		}
	}
}

// TestEvaluate_WarnsOfTheShareThatJudgedHas retrieves ten documents for a topic, some of them with a negative grade.
func TestEvaluate_WarnsOfTheShareThatJudgedHas(t *testing.T) {
	var qrels strings.Builder
	for i := range 10 {
		fmt.Fprintf(&qrels, "t 0 j%d -1\n", i)
	}
	for judged, warned := range map[int]bool{4: true, 5: false} {
		var run strings.Builder
		for i := range 10 {
			fmt.Fprintf(&run, "t Q0 %s%d %d %d x\n", map[bool]string{true: "j", false: "u"}[i < judged], i, i+1, 10-i)
		}
		result := values(t, qrels.String(), run.String(), "Judged@10")
		if got := *result.Measures["Judged@10"]; got != float64(judged)/10 {
			t.Errorf("Judged@10 is %v with %d judged documents", got, judged)
		}
		var want []string
		if warned {
			want = []string{"run.txt warning: of the first 10 documents of the topics with at least as many judged ones, 4 of 10 are judged (40 %)…"}
		}
		measuretest.Expect(t, result.Warnings, want...)
	}
}

func TestEvaluate_GivesReasonsForUndefinedValues(t *testing.T) {
	result := values(t, "t 0 a 5\nt 0 b 1000\n", "t Q0 a 1 1 x\n", "ERR@10", "nDCG(dcg='exp-log2')", "nDCG")
	for name, want := range map[string]string{"ERR@10": "up to 4; the truth has grade 1000", "nDCG(dcg='exp-log2')": "up to 900"} {
		value, there := result.Measures[name]
		if !there || value != nil || !strings.Contains(result.Reasons[name], want) {
			t.Errorf("%s: %v, reason %q", name, value, result.Reasons[name])
		}
		if _, there := result.PerTopic["t"][name]; there {
			t.Errorf("%s has a value for the topic", name)
		}
	}
	if result.Measures["nDCG"] == nil || len(result.Reasons) != 2 {
		t.Errorf("nDCG is nil, or there are more reasons: %v", result.Reasons)
	}
}

func TestEvaluate_RefusesMeasuresOfOtherKinds(t *testing.T) {
	truth := readTruth(t, measuretest.File("qrels.txt", "t 0 a 1\n"))
	precision, err := measure.Parse(measure.Classification, "Precision(average=macro)")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []measure.Measure{{}, precision, {Kind: measure.Classification, Name: "P"}} {
		if _, _, err := truth.Evaluate(t.Context(), []measure.Measure{m}, measuretest.File("run.txt", "t Q0 a 1 1 x\n")); err == nil {
			t.Errorf("%+v was accepted", m)
		}
	}
}

// TestEvaluate_OfDocumentsWithTheSameHash looks for two ids with the same hash among some 80,000 ids.
func TestEvaluate_OfDocumentsWithTheSameHash(t *testing.T) {
	seen := map[uint32]string{}
	var a, b string
	for i := 0; a == ""; i++ {
		doc := fmt.Sprintf("document-%d", i)
		if h := hashtable.Hash([]byte(doc)); seen[h] != "" {
			a, b = seen[h], doc
		} else {
			seen[h] = doc
		}
	}
	result := values(t, fmt.Sprintf("t 0 %s 2\nt 0 %s 1\nu 0 %s 1\n", a, b, a), fmt.Sprintf("t Q0 %s 1 2 x\nt Q0 %s 2 1 x\nu Q0 %s 1 1 x\n", a,
		b, b), "RR(rel=2)", "NumRelRet")
	if got := result.PerTopic["t"]; got["RR(rel=2)"] != 1 || got["NumRet(rel=1)"] != 2 {
		t.Errorf("of topic t: %v", got)
	}
	if got := result.PerTopic["u"]["NumRet(rel=1)"]; got != 0 {
		t.Errorf("%s is taken for %s", b, a)
	}
}

func TestReadRankings_OrdersDocuments(t *testing.T) {
	r, diagnostics, err := ReadRankings(t.Context(),
		measuretest.File("r1", "t2 Q0 a 9 1 x\nt10 Q0 b 1 -2 x\nt10 Q0 a 0 3e0 x\n"),
		measuretest.File("r2", "t10 Q0 d 1 3 x more\nt10 Q0 c 1 3 x\n"))
	if err != nil || r == nil {
		t.Fatal(measuretest.Lines(diagnostics), err)
	}
	measuretest.Expect(t, diagnostics,
		"r2:1 warning: the line has more than six fields; what follows the sixth is ignored, here and in any other line…")
	if got := r.Topics(); !slices.Equal(got, []string{"t10", "t2"}) {
		t.Errorf("topics %q", got)
	}
	for topic, want := range map[string]string{"t10": "d:3 c:3 a:3 b:-2", "t2": "a:1", "t": ""} {
		var got []string
		for doc, score := range r.Ranking(steps.Of(t.Context()), topic) {
			got = append(got, fmt.Sprintf("%s:%v", doc, score))
		}
		if text := strings.Join(got, " "); text != want || r.Len(topic) != len(got) {
			t.Errorf("%s: %s, %d documents; want %s", topic, text, r.Len(topic), want)
		}
	}
	for doc := range r.Ranking(steps.Of(t.Context()), "t10") {
		if string(doc) != "d" {
			t.Errorf("after the end of the loop comes %q", doc)
		}
		break
	}
}

// TestQrels_HaveGrades also reads comments, and whole grades that are written as decimals.
func TestQrels_HaveGrades(t *testing.T) {
	q := readTruth(t, measuretest.File("q", "# one\n# two\nt1 0 a 2.0\n # three\nt1\t0\tb\t0\nt1 0 c -2.0\nt2 0 a 1\n#"))
	for of, want := range map[[2]string]string{
		{"t1", "a"}: "2", {"t1", "b"}: "0", {"t1", "c"}: "-2", {"t2", "a"}: "1",
		{"t2", "b"}: "none", {"t1", ""}: "none", {"t3", "a"}: "none", {"", "a"}: "none",
	} {
		got := "none"
		if grade := q.Grade(of[0], []byte(of[1])); grade != nil {
			got = fmt.Sprint(*grade)
		}
		if got != want {
			t.Errorf("%q has %s, want %s", of, got, want)
		}
	}
}
