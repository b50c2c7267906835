package retrieval

import (
	"math"
	"strings"
	"testing"

	"assay/shared/measure"
	"assay/shared/measure/measuretest"
)

// values evaluates a run and expects neither errors nor measures without a value.
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

func TestEvaluate_ByHand(t *testing.T) {
	for _, c := range []struct {
		name string
		want float64
	}{
		// Stops with chance 7/16 at rank 1, 1/16 at 4, 3/16 at 6:
		// 7/16 + 9/16 * 1/16 / 4 + 9/16 * 15/16 * 3/16 / 6.
		{"ERR", 0.4375 + 0.0087890625 + 0.0164794921875},
		{"ERR@4", 0.4375 + 0.0087890625},
		{"ERR@1", 0.4375},
		// Gains 3/3, 1/3, 2/3 at ranks 1, 4, 6: 0.2 (1 + 0.8^3 / 3 + 0.8^5 * 2/3).
		{"RBP", 0.2 * (1 + 0.512/3 + 0.32768*2/3)},
		{"RBP@4", 0.2 * (1 + 0.512/3)},
		// 0.5 (1 + 1/8 + 1/32).
		{"RBP(p=0.5,rel=1)", 0.578125},
		// 0.5 (1 + 1/32): the document of grade 1 does not count.
		{"RBP(p=0.5,rel=2)", 0.515625},
		// Judged are a, c, d, f: a negative grade means that nobody judged it.
		{"Judged", 4. / 6},
		{"Judged@3", 2. / 3},
		{"Judged@100", 4. / 6},
		// Gains 7, 1, 3 at ranks 1, 4, 6: (7/log2(2) + 1/log2(5) + 3/log2(7)) / (7/log2(2) + 3/log2(3) + 1/log2(4) + 1/log2(5)).
		{"nDCG(dcg='exp-log2')", (7 + 0.43067656 + 1.06862153) / (7 + 1.89278926 + 0.5 + 0.43067656)},
		{"nDCG(dcg='exp-log2')@4", (7 + 0.43067656) / (7 + 1.89278926 + 0.5 + 0.43067656)},
		{"nDCG@2", 3 / (3 + 2/1.5849625)},
		// Without unjudged documents the ranking is a c d f.
		{"P(judged_only=True)@4", 3. / 4},
		{"AP(judged_only=True)", (1 + 2./3 + 3./4) / 4},
		{"RR(rel=2)", 1},
		{"RR(rel=4)", 0},
		{"AP(rel=2)@5", 1. / 2},
		{"Success(rel=3)@1", 1},
		{"SetF", 2 * 0.5 * 0.75 / (0.5 + 0.75)},
		{"SetF(beta=2)", 3 * 0.5 * 0.75 / (2*0.5 + 0.75)},
		{"SetRelP", 3. / 4},
		{"SetP(relative=True)", 3. / 4},
		{"NumRet", 6},
		{"NumRet(rel=2)", 2},
		{"NumRelRet", 3},
		{"NumRel(rel=2)", 2},
	} {
		result := values(t, gradedQrels, gradedRun, c.name)
		name := measuretest.Parse(t, measure.Retrieval, c.name)[0].String()
		if got := *result.Measures[name]; math.Abs(got-c.want) > 1e-8 {
			t.Errorf("%s is %v, want %v", c.name, got, c.want)
		}
		if got := result.PerTopic["t"][name]; math.Abs(got-c.want) > 1e-8 {
			t.Errorf("%s of the topic is %v, want %v", c.name, got, c.want)
		}
	}
}

func TestEvaluate_BreaksTiesByID(t *testing.T) {
	// Bytes are compared as unsigned numbers: é stands before z, z before Z, and Z before 9.
	const qrels = "t 0 Z 1\n"
	run := "t Q0 9 1 1 x\nt Q0 Z 2 1.0 x\nt Q0 z 3 1e0 x\nt Q0 é 4 +1 x\n"
	result := values(t, qrels, run, "RR", "RR@3", "RR@2", "Judged@3", "Judged@2")
	for name, want := range map[string]float64{"RR": 1. / 3, "RR@3": 1. / 3, "RR@2": 0, "Judged@3": 1. / 3, "Judged@2": 0} {
		if got := *result.Measures[name]; got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	// Minus zero is zero.
	result = values(t, "t 0 a 1\n", "t Q0 a 1 0 x\nt Q0 b 2 -0.0 x\n", "RR")
	if got := *result.Measures["RR"]; got != 0.5 {
		t.Errorf("RR is %v with scores 0 and -0", got)
	}
}

func TestEvaluate_CountsEveryTopicOfTheTruth(t *testing.T) {
	const qrels = "found 0 a 1\nmissing 0 a 1\nmissing 0 b 2\nnothing-relevant 0 a 0\nnegative 0 a -1\n"
	const run = "found Q0 a 1 1 x\nnothing-relevant Q0 a 1 1 x\nnegative Q0 a 1 1 x\nunknown Q0 a 1 1 x\n"
	var names []string
	for name := range scorers {
		names = append(names, name)
		switch name {
		case "P", "R", "Success":
			names[len(names)-1] += "@1"
		case "IPrec":
			names[len(names)-1] += "@0.0"
		}
	}
	names = append(names, "NumRet(rel=1)", "SetP(relative=True)")
	result := values(t, qrels, run, names...)
	for _, name := range names {
		want := map[string]float64{"found": 1, "missing": 0, "nothing-relevant": 0, "negative": 0}
		total := 0.25
		switch name {
		case "NumQ":
			want, total = map[string]float64{"found": 1, "missing": 1, "nothing-relevant": 1, "negative": 1}, 4
		case "NumRet":
			want, total = map[string]float64{"found": 1, "missing": 0, "nothing-relevant": 1, "negative": 1}, 3
		case "NumRel":
			want, total = map[string]float64{"found": 1, "missing": 2, "nothing-relevant": 0, "negative": 0}, 3
		case "NumRet(rel=1)":
			total = 1
		case "Judged":
			want, total = map[string]float64{"found": 1, "missing": 0, "nothing-relevant": 1, "negative": 0}, 0.5
		case "RBP": // (1 - 0.8) times the grade as a share of 2
			want, total = map[string]float64{"found": 0.1, "missing": 0, "nothing-relevant": 0, "negative": 0}, 0.025
		case "ERR":
			want, total = map[string]float64{"found": 1. / 16, "missing": 0, "nothing-relevant": 0, "negative": 0}, 1./64
		}
		if got := *result.Measures[name]; math.Abs(got-total) > 1e-12 {
			t.Errorf("%s is %v, want %v", name, got, total)
		}
		if len(result.PerTopic) != len(want) {
			t.Errorf("values of %d topics", len(result.PerTopic))
		}
		for topic, value := range want {
			if got := result.PerTopic[topic][name]; math.Abs(got-value) > 1e-12 {
				t.Errorf("%s of %s is %v, want %v", name, topic, got, value)
			}
		}
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

func TestScorers_HaveEveryFamily(t *testing.T) {
	catalogue := measure.Catalogue(measure.Retrieval)
	for _, f := range catalogue {
		if scorers[f.Name] == nil {
			t.Errorf("%s can be asked for but not computed", f.Name)
		}
	}
	if len(catalogue) != len(scorers) {
		t.Errorf("%d families, %d scorers", len(catalogue), len(scorers))
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
