package classification_test

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"strconv"
	"testing"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/classification"
	"assay/shared/computation/measure/measuretest"
	"assay/shared/testing/nightlytest"

	"pgregory.net/rapid"
)

// TestEvaluate_EqualsScikitLearnOnRandomLabels compares weighted kappa, F, F1 of some labels, and MacroMAE. The labels are numbers whose
// numeric order differs from the order of their bytes.
func TestEvaluate_EqualsScikitLearnOnRandomLabels(t *testing.T) {
	text, err := os.ReadFile("testdata/random/values.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Truth, Predicted []int32
		Values           map[string]*float64
	}
	if err := json.Unmarshal(text, &cases); err != nil || len(cases) != 500 {
		t.Fatal(len(cases), err)
	}
	for i, c := range cases {
		for name, want := range c.Values {
			asked := measuretest.Parse(t, measure.Classification, name)
			result := classification.Evaluate(asked, []string{"1", "2", "3", "10"}, c.Truth, c.Predicted)
			got := result.Measures[name]
			if (got == nil) != (want == nil) || got != nil && math.Abs(*got-*want) > 1e-9 {
				t.Errorf("case %d: %s is %v (%s), want %v", i, name, got, result.Reasons[name], want)
			}
		}
	}
}

// TestEvaluate_KappaOnAScaleKeepsGaps compares two runs of which only one predicts 3 and 4. The values equal scikit-learn 1.9.1's, with
// labels=[1, 2, 3, 4, 5] for the scale.
func TestEvaluate_KappaOnAScaleKeepsGaps(t *testing.T) {
	labels := []string{"1", "2", "3", "4", "5"}
	truth := []int32{4, 0, 0, 0, 1, 1, 1, 4}
	for name, want := range map[string][2]float64{
		"Kappa(weights=quadratic)":             {0.4444444444444444, 0.22033898305084743},
		"Kappa(weights=quadratic,labels=1..5)": {0.02631578947368418, 0.22033898305084743},
	} {
		for i, predicted := range [][]int32{{1, 0, 0, 1, 4, 1, 4, 1}, {2, 0, 0, 2, 3, 0, 2, 1}} {
			asked := measuretest.Parse(t, measure.Classification, name)
			if got := classification.Evaluate(asked, labels, truth, predicted).Measures[name]; got == nil || math.Abs(*got-want[i]) > 1e-12 {
				t.Errorf("%s of run %d is %v, want %v", name, i, got, want[i])
			}
		}
	}
	asked := measuretest.Parse(t, measure.Classification, "Kappa(weights=linear,labels=1..4)", "Kappa(weights=linear,labels='5,4,3,2,1')")
	got := classification.Evaluate(asked, labels, truth, truth)
	if reason := got.Reasons[asked[0].String()]; reason != `the label "5" is not on the scale from "1" to "4"` || *got.Measures[asked[1].String()] != 1 {
		t.Errorf("%v", got)
	}
}

// TestEvaluate_KappaDoesNotDependOnTheOrderOfLines permutes the examples, and numbers the labels in the order in which they come first.
func TestEvaluate_KappaDoesNotDependOnTheOrderOfLines(t *testing.T) {
	asked := measuretest.Parse(t, measure.Classification, "Kappa", "Kappa(weights=linear)", "Kappa(weights=quadratic)",
		"Kappa(weights=quadratic,labels=1..9)")
	evaluate := func(examples [][2]int) measure.Result {
		var names []string
		code := func(label int) int32 {
			if name := strconv.Itoa(label); !slices.Contains(names, name) {
				names = append(names, name)
			}
			return int32(slices.Index(names, strconv.Itoa(label)))
		}
		var truth, predicted []int32
		for _, e := range examples {
			truth = append(truth, code(e[0]))
			predicted = append(predicted, code(e[1]))
		}
		return classification.Evaluate(asked, names, truth, predicted)
	}
	nightlytest.Check(t, func(t *rapid.T) {
		label := rapid.IntRange(1, 9)
		examples := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) [2]int { return [2]int{label.Draw(t, "true"), label.Draw(t, "predicted")} }), 2,
			30).Draw(t, "examples")
		one := evaluate(examples)
		other := evaluate(rapid.Permutation(examples).Draw(t, "permuted"))
		for name, x := range one.Measures {
			y := other.Measures[name]
			if (x == nil) != (y == nil) {
				t.Errorf("%s is %v and %v", name, x, y)
			} else if x != nil && *x != *y {
				t.Errorf("%s is %v and %v", name, *x, *y)
			}
		}
	})
}

func TestEvaluate_OrdersLabelsThatAreNoNumbersByTheirBytes(t *testing.T) {
	asked := measuretest.Parse(t, measure.Classification, "Kappa(weights=linear)", "MacroMAE")
	labels, codes := []string{"c", "a", "b"}, []int32{0, 1, 2, 2}
	result := classification.Evaluate(asked, labels, codes, []int32{0, 1, 2, 1})
	// One of four predictions is off by one place. The sum of |i - j| over all 16 pairs, for the disagreement by chance, is 14.
	if got := result.Measures["Kappa(weights=linear)"]; got == nil || math.Abs(*got-(1-4.0/14)) > 1e-12 {
		t.Errorf("kappa is %v", *got)
	}
	if result.Measures["MacroMAE"] != nil || result.Reasons["MacroMAE"] != `the label "c" is not a number` {
		t.Errorf("MacroMAE: %q", result.Reasons["MacroMAE"])
	}
}

func TestEvaluate_FWithoutRecallIsPrecision(t *testing.T) {
	asked := measuretest.Parse(t, measure.Classification, "F(beta=0,positive=a)", "Precision(positive=a)")
	for _, predicted := range [][]int32{{0, 0, 1}, {1, 1, 1}} { // the precision of one label is 0/0 in the second
		got := classification.Evaluate(asked, []string{"a", "b"}, []int32{0, 1, 0}, predicted).Measures
		if *got["F(beta=0.0,positive=a)"] != *got["Precision(positive=a)"] {
			t.Errorf("%v: %v, %v", predicted, *got["F(beta=0.0,positive=a)"], *got["Precision(positive=a)"])
		}
	}
}

func TestParse_LabelsGoWithAnAverage(t *testing.T) {
	for text, ok := range map[string]bool{
		"F1(average=macro,labels='a,b')": true, "F1(positive=a,labels='a,b')": false, "F1(labels='a,b')": false,
	} {
		if _, err := measure.Parse(measure.Classification, text); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
}
