package classification_test

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/classification"
	"assay/shared/computation/measure/measuretest"
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
