package probabilities_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/measuretest"
	"assay/shared/computation/measure/probabilities"
	"assay/shared/computation/measure/steps"
	"assay/shared/testing/nightlytest"

	"pgregory.net/rapid"
)

func evaluate(asked []measure.Measure, truth []int32, rows [][]float64) measure.Result {
	e := probabilities.Examples{Truth: truth, Scores: func(i int) []float64 { return rows[i] }}
	for label := range slices.Max(truth) + 1 {
		e.Labels = append(e.Labels, fmt.Sprint(label))
		if len(rows[0]) > 1 {
			e.Classes = append(e.Classes, label)
		}
	}
	return probabilities.Evaluate(steps.Of(context.Background()), asked, e)
}

// TestEvaluate_EqualsTheReference compares 500 random cases and three data sets with values of scikit-learn, and with PAN's measures.
func TestEvaluate_EqualsTheReference(t *testing.T) {
	text, err := os.ReadFile("testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Truth  []int32
		Rows   [][]float64
		Values map[string]float64
	}
	if err := json.Unmarshal(text, &cases); err != nil || len(cases) != 504 {
		t.Fatal(len(cases), err)
	}
	compared := map[string]int{}
	for i, c := range cases {
		var asked []measure.Measure
		for name := range c.Values {
			asked = append(asked, measuretest.Parse(t, measure.Probabilities, name)...)
		}
		got := evaluate(asked, c.Truth, c.Rows).Measures
		for name, want := range c.Values {
			compared[name]++
			if got[name] == nil || math.Abs(*got[name]-want) > 1e-9 {
				t.Errorf("case %d: %s is %v, want %v", i, name, got[name], want)
			}
		}
	}
	for _, name := range []string{"AUC", "AP", "LogLoss", "Brier", "CAt1", "F05u", "F1", "PAN", "AUC(average=macro)", "AP(average=weighted)"} {
		if compared[name] < 100 {
			t.Errorf("%s is compared %d times", name, compared[name])
		}
	}
}

// TestEvaluate_CountsUnansweredLikeTheEditionOfPAN compares with the values of the evaluators of PAN 2023, 2024 and 2025.
func TestEvaluate_CountsUnansweredLikeTheEditionOfPAN(t *testing.T) {
	truth := []int32{1, 1, 1, 0, 0, 0, 0, 1}
	scores := [][]float64{{0.9}, {0.2}, {0.5}, {0.1}, {0.5}, {0.5}, {0.8}, {0.7}}
	for edition, want := range map[string]map[string]float64{
		"2021": {"F1": 0.6666666666666666, "CAt1": 0.515625, "PAN": 0.6190694444444444},
		"2024": {"F1": 0.5714285714285714, "CAt1": 0.859375, "PAN": 0.6687718253968253},
		"2025": {"F1": 0.5714285714285714, "CAt1": 0.515625, "PAN": 0.6000218253968254},
	} {
		for name, want := range want {
			asked := measuretest.Parse(t, measure.Probabilities, name+"(edition="+edition+")")
			if got := *evaluate(asked, truth, scores).Measures[asked[0].String()]; math.Abs(got-want) > 1e-12 {
				t.Errorf("%s of %s is %v, want %v", name, edition, got, want)
			}
		}
	}
}

// TestEvaluate_RatesOfErrors compares with values of scikit-learn 1.9.1, of its confusion matrix and its recall of the other label. Scores
// of exactly 0.5 are not above 0.5.
func TestEvaluate_RatesOfErrors(t *testing.T) {
	asked := measuretest.Parse(t, measure.Probabilities, "FPR", "FNR", "Specificity")
	scores := [][]float64{{0.9}, {0.2}, {0.5}, {0.1}, {0.5}, {0.5}, {0.8}, {0.7}}
	got := evaluate(asked, []int32{1, 1, 1, 0, 0, 0, 0, 1}, scores).Measures
	for name, want := range map[string]float64{"FPR": 0.25, "FNR": 0.5, "Specificity": 0.75} {
		if *got[name] != want {
			t.Errorf("%s is %v, want %v", name, *got[name], want)
		}
	}
}

// TestEvaluate_CountsUnansweredAsPublished uses scores of exactly 0.5, which PAN 2020's evaluator counts as answers in F0.5u.
func TestEvaluate_CountsUnansweredAsPublished(t *testing.T) {
	asked := measuretest.Parse(t, measure.Probabilities, "C@1", "f_05_u", "F1")
	got := evaluate(asked, []int32{1, 0, 1, 0}, [][]float64{{0.9}, {0.1}, {0.5}, {0.5}}).Measures
	for name, want := range map[string]float64{"CAt1": 0.75, "F05u": 1.25 / 1.75, "F1": 1} {
		if math.Abs(*got[name]-want) > 1e-12 {
			t.Errorf("%s is %v, want %v", name, *got[name], want)
		}
	}
}

// TestEvaluate_BrierOfThreeColumnsIsNotHalved has a truth that lacks one label of the run. The values equal scikit-learn 1.9.1's with
// labels=["a", "b", "c"].
func TestEvaluate_BrierOfThreeColumnsIsNotHalved(t *testing.T) {
	rows := [][]float64{{0.4, 0.2, 0.4}, {0.1, 0.3, 0.6}, {0.5, 0.25, 0.25}}
	got := probabilities.Evaluate(steps.Of(t.Context()), measuretest.Parse(t, measure.Probabilities, "Brier", "LogLoss"),
		probabilities.Examples{Labels: []string{"a", "b"}, Truth: []int32{0, 1, 0}, Classes: []int32{0, 1, 2},
			Scores: func(i int) []float64 { return rows[i] }}).Measures
	for name, want := range map[string]float64{"Brier": 0.5983333333333333, "LogLoss": 0.9378035722533454} {
		if math.Abs(*got[name]-want) > 1e-12 {
			t.Errorf("%s is %v, want %v", name, *got[name], want)
		}
	}
}

// TestEvaluate_APWhereEveryItemHasTheLabelIsOne has scikit-learn's value. The area under the ROC curve is not defined.
func TestEvaluate_APWhereEveryItemHasTheLabelIsOne(t *testing.T) {
	got := evaluate(measuretest.Parse(t, measure.Probabilities, "AP(positive=0)", "AUC(positive=0)"), []int32{0, 0, 0},
		[][]float64{{0.2}, {0.9}, {0.4}}).Measures
	if got["AP(positive=0)"] == nil || *got["AP(positive=0)"] != 1 || got["AUC(positive=0)"] != nil {
		t.Errorf("AP is %v", got)
	}
}

// TestEvaluate_OfRanksAlone checks that an increasing function of the scores changes neither AUC nor AP, and that negated scores change AUC
// to its complement.
func TestEvaluate_OfRanksAlone(t *testing.T) {
	asked := measuretest.Parse(t, measure.Probabilities, "AUC", "AP")
	nightlytest.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 30).Draw(t, "n")
		truth := rapid.SliceOfN(rapid.Int32Range(0, 1), n, n).Draw(t, "truth")
		truth[0], truth[1] = 0, 1
		var one, grown, opposite [][]float64
		for _, s := range rapid.SliceOfN(rapid.IntRange(-5, 5), n, n).Draw(t, "scores") {
			x := float64(s)
			one = append(one, []float64{x})
			grown = append(grown, []float64{x*x*x*1e6 + 7})
			opposite = append(opposite, []float64{-x})
		}
		a := evaluate(asked, truth, one).Measures
		b := evaluate(asked, truth, grown).Measures
		c := evaluate(asked, truth, opposite).Measures
		if *a["AUC"] != *b["AUC"] || *a["AP"] != *b["AP"] || math.Abs(*a["AUC"]+*c["AUC"]-1) > 1e-12 {
			t.Errorf("%v %v, grown %v %v, opposite %v", *a["AUC"], *a["AP"], *b["AUC"], *b["AP"], *c["AUC"])
		}
		for name, x := range a {
			if math.IsNaN(*x) || *x < 0 || *x > 1 {
				t.Errorf("%s is %v", name, *x)
			}
		}
	})
}

func TestEvaluate_OfWhatIsNotDefined(t *testing.T) {
	one := [][]float64{{0.1}, {0.2}, {0.3}}
	for _, c := range []struct {
		name, want string
		truth      []int32
	}{
		{"AUC", "the truth has 3 labels, so the measure has to say which is positive: AUC(positive=LABEL)", []int32{0, 1, 2}},
		{"AUC", "the truth has 1 label, so the measure has to say which is positive", []int32{0, 0, 0}},
		{"AP", "the truth has 1 label, so the measure has to say which is positive", []int32{0, 0, 0}},
		{"AUC(positive=0)", "all examples of the truth have one and the same label", []int32{0, 0, 0}},
		{"PAN(positive=0)", "all examples of the truth have one and the same label", []int32{0, 0, 0}},
		{"FPR(positive=0)", "all examples of the truth have one and the same label", []int32{0, 0, 0}},
		{"AUC(positive=9)", `no example of the truth has the label "9"`, []int32{0, 1, 0}},
		{"AUC(average=macro)", "the run has one score for each example, and an average needs one for each label", []int32{0, 1, 2}},
		{"LogLoss", "the run has one score for each example, and needs one for each of 3 labels", []int32{0, 1, 2}},
	} {
		m := measuretest.Parse(t, measure.Probabilities, c.name)
		got := evaluate(m, c.truth, one)
		if reason := got.Reasons[m[0].String()]; got.Measures[m[0].String()] != nil || !strings.HasPrefix(reason, c.want) {
			t.Errorf("%s of %v is %v because %q, want %q", c.name, c.truth, got.Measures, reason, c.want)
		}
	}
}

func file(kind, text string) []measure.File {
	return []measure.File{measuretest.File("scores."+kind, text)}
}

// TestComputation_ReadsEachForm reads the same scores in all forms of runs, in different orders.
func TestComputation_ReadsEachForm(t *testing.T) {
	const (
		csvTruth  = "id,value\n1,yes\n2,no\n3,no\n"
		jsonTruth = `{"id":1,"value":"yes"}` + "\n" + `{"id":2,"value":"no"}` + "\n" + `{"id":3,"value":"no"}`
	)
	for name, c := range map[string]struct{ kind, truth, run string }{
		"one in csv":       {"csv", csvTruth, "id,value\n3,0.1\n1,0.8\n2,0.4\n"},
		"columns":          {"csv", csvTruth, "no\tid\tyes\n0.9\t3\t0.1\n0.2\t1\t0.8\n0.6\t2\t0.4\n"},
		"one in jsonl":     {"jsonl", jsonTruth, `{"id":2,"value":0.4}` + "\n" + `{"id":1,"value":8e-1}` + "\n" + `{"value":0.1,"id":3}`},
		"objects in jsonl": {"jsonl", jsonTruth, `{"id":2,"value":{"yes":0.4,"no":0.6}}` + "\n" + `{"id":1,"value":{ "no" : 0.2 , "\u0079es":0.8}}` + "\n" + `{"value":{"yes":0.1,"no":0.9},"id":3}`},
	} {
		t.Run(name, func(t *testing.T) {
			format := measure.Format{Kind: c.kind, IDField: "id", ValueField: "value"}
			asked := measuretest.Parse(t, measure.Probabilities, "AUC", "Brier", "PAN", "LogLoss")
			truth, found, err := probabilities.Computation.ReadTruth(t.Context(), format, measure.Options{}, asked, file(c.kind, c.truth))
			if err != nil || len(found) > 0 {
				t.Fatal(found, err)
			}
			e, err := truth.Evaluate(t.Context(), file(c.kind, c.run))
			if err != nil || len(e.Diagnostics) > 0 || *e.Result.Measures["AUC"] != 1 ||
				math.Abs(*e.Result.Measures["Brier"]-(0.04+0.16+0.01)/3) > 1e-12 || math.Abs(*e.Result.Measures["PAN"]-(4+1-0.07)/5) > 1e-12 {
				t.Errorf("%+v, %v", e, err)
			}
			signatures := map[string]string{"AUC": "positive:yes", "PAN": "positive:yes"}
			if strings.HasPrefix(name, "one") {
				signatures["LogLoss"], signatures["Brier"] = "positive:yes", "positive:yes"
			}
			if !maps.Equal(e.Result.Signatures, signatures) {
				t.Errorf("the signatures are %v, want %v", e.Result.Signatures, signatures)
			}
			for id, p := range map[string]float64{"1": 0.8, "2": 0.6, "3": 0.9} {
				if got := e.Result.PerTopic[id]; len(got) != 2 || math.Abs(got["Brier"]-(1-p)*(1-p)) > 1e-12 || got["LogLoss"] != -math.Log(p) {
					t.Errorf("%s has the values %v", id, got)
				}
			}
			if found, err := probabilities.Computation.ValidateRun(t.Context(), format, asked, file(c.kind, c.run)); err != nil || len(found) > 0 {
				t.Errorf("a good run is not valid: %v, %v", found, err)
			}
		})
	}
}

// TestComputation_AsksForProbabilitiesWhereNeeded reads scores that are not probabilities. AUC and AP accept them; other measures do not.
func TestComputation_AsksForProbabilitiesWhereNeeded(t *testing.T) {
	for _, c := range []struct {
		run  string
		want []string
	}{
		{"id,value\n1,1.5\n2,2\n", []string{
			"scores.csv:2 error: the score 1.5 is no probability; expected a number from 0 to 1, which some of the measures need",
			"scores.csv:3 error: the score 2 is no probability; expected a number from 0 to 1, which some of the measures need"}},
		{"id,value\n1,-0.001\n2,1.001\n", []string{"scores.csv:2 error: the score -0.001 is…", "scores.csv:3 error: the score 1.001 is…"}},
		{"id,value\n1,2.5\n2,-2\n", []string{"scores.csv error: 2 of 2 scores are below 0 or above 1, on both sides, and some of the measures " +
			"need probabilities; they seem to be logits: apply 1/(1+exp(-x)) to all scores, also to those from 0 to 1"}},
		{"id,yes,no\n1,0.5,2\n2,-2,0.2\n", []string{"scores.csv error: 2 of 4 scores are below 0 or above 1, on both sides, and some of the " +
			"measures need probabilities; they seem to be logits: apply softmax to the scores of each item, also where all are from 0 to 1"}},
		{"id,yes,no\n1,0.5,0.6\n2,0.33,0.66\n", []string{
			`scores.csv:2 error: the scores of the classes "yes", "no" sum to 1.1; expected probabilities that sum to 1, which some of the measures need`}},
		{"id,yes,no\n1,0.5,0.6\n2,0.1,0.2\n", []string{`scores.csv:2 error: the scores of the classes "yes", "no" sum to 1.1; …`}}, // only the first is reported
		{"id,no,yes\n1,0.5,0.5\n2,0.1,0.2\n", []string{`scores.csv:3 error: the scores of the classes "no", "yes" sum to 0.3; …`}},
	} {
		format := measure.Format{Kind: measure.CSV, IDField: "id", ValueField: "value"}
		for _, name := range []string{"AUC", "AP", "LogLoss", "Brier", "F1", "C@1", "F05u", "PAN"} {
			asked := measuretest.Parse(t, measure.Probabilities, name)
			truth, _, err := probabilities.Computation.ReadTruth(t.Context(), format, measure.Options{}, asked,
				file("csv", "id,value\n1,yes\n2,no\n"))
			if err != nil {
				t.Fatal(err)
			}
			want := c.want
			if name == "AUC" || name == "AP" {
				want = nil
			}
			e, err := truth.Evaluate(t.Context(), file("csv", c.run))
			if err != nil {
				t.Fatal(err)
			}
			measuretest.Expect(t, e.Diagnostics, want...)
			found, err := probabilities.Computation.ValidateRun(t.Context(), format, asked, file("csv", c.run))
			if err != nil {
				t.Fatal(err)
			}
			measuretest.Expect(t, found, want...)
		}
	}
}

// TestEvaluate_CopiesScoresIntoTheSameMemory computes a measure for each of many labels, and bounds the allocated memory.
func TestEvaluate_CopiesScoresIntoTheSameMemory(t *testing.T) {
	const n, labels = 100_000, 40
	row := []float64{0.5}
	e := probabilities.Examples{Truth: make([]int32, n), Scores: func(int) []float64 { return row }}
	var asked []measure.Measure
	for i := range n {
		e.Truth[i] = int32(i % labels)
	}
	for i := range labels {
		e.Labels = append(e.Labels, fmt.Sprint(i))
		asked = append(asked, measuretest.Parse(t, measure.Probabilities, fmt.Sprintf("CAt1(positive='%d')", i))...)
	}
	if used := measuretest.Allocated(func() { probabilities.Evaluate(steps.Of(context.Background()), asked, e) }); used > 16*8*n {
		t.Errorf("%d measures of %d scores allocate %d bytes", labels, n, used)
	}
}

func BenchmarkEvaluate_Million(b *testing.B) {
	const n = 1_000_000
	truth, rows := make([]int32, n), make([][]float64, n)
	for i := range truth {
		truth[i], rows[i] = int32(i*7919%7/4), []float64{float64(i*104729%n) / n}
	}
	asked := measuretest.Parse(b, measure.Probabilities, "AUC", "AP", "LogLoss", "Brier", "F1", "CAt1", "F05u", "PAN")
	for b.Loop() {
		evaluate(asked, truth, rows)
	}
}
