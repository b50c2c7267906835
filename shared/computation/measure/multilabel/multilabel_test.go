package multilabel_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/measuretest"
	"assay/shared/computation/measure/multilabel"
	"assay/shared/language/lists"
	"assay/shared/testing/nightlytest"

	"pgregory.net/rapid"
)

var names = []string{"anger", "joy", "Überraschung", "悲しみ", "self-direction: thought", "0"}

var everyMeasure = []string{
	"F1(average=macro)", "F1(average=micro)", "F1(average=weighted)", "F1(average=samples)", "F(beta=2,average=macro)",
	"Precision(average=samples)", "Recall(average=samples)", "Jaccard(average=samples)", "Jaccard(average=macro)", "ExactMatch", "HammingLoss",
}

func at(sets [][]int16) func(int) []int16 { return func(i int) []int16 { return sets[i] } }

// TestEvaluate_EqualsTheReference compares 500 random cases with values of scikit-learn.
func TestEvaluate_EqualsTheReference(t *testing.T) {
	text, err := os.ReadFile("testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Truth, Predicted [][]int16
		Values           map[string]float64
	}
	if err := json.Unmarshal(text, &cases); err != nil || len(cases) != 500 {
		t.Fatal(len(cases), err)
	}
	compared := map[string]int{}
	for i, c := range cases {
		var asked []measure.Measure
		for name := range c.Values {
			asked = append(asked, measuretest.Parse(t, measure.Multilabel, name)...)
		}
		got := multilabel.Evaluate(asked, names, len(c.Truth), at(c.Truth), at(c.Predicted)).Measures
		for name, want := range c.Values {
			compared[name]++
			if got[name] == nil || math.Abs(*got[name]-want) > 1e-9 {
				t.Errorf("case %d: %s is %v, want %v", i, name, got[name], want)
			}
		}
	}
	if len(compared) != 39 || compared["F1(average=macro)"] < 400 || compared["Jaccard(average=samples,zero_division=1)"] < 400 {
		t.Errorf("compared %d measures: %v", len(compared), compared)
	}
}

func TestEvaluate_OfWhatIsNotDefined(t *testing.T) {
	asked := measuretest.Parse(t, measure.Multilabel, "F1(average=macro)", "F1(average=weighted)", "F1(positive=joy)", "HammingLoss",
		"F1(average=samples)", "Jaccard(average=samples,zero_division=1)", "ExactMatch")
	none := [][]int16{{}, {}}
	for i, c := range []struct {
		predicted [][]int16
		want      map[string]string
	}{
		{none, map[string]string{"F1(average=macro)": "no example has a label", "F1(average=weighted)": "no example has a label"}},
		{[][]int16{{1}, {}}, map[string]string{"F1(average=weighted)": "no example of the truth has a label"}},
	} {
		got := multilabel.Evaluate(asked, names, 2, at(none), at(c.predicted))
		c.want["F1(positive=joy)"] = `no example of the truth has the label "joy"`
		c.want["HammingLoss"] = "no example of the truth has a label"
		for _, m := range asked {
			if name := m.String(); got.Reasons[name] != c.want[name] || (got.Measures[name] == nil) != (c.want[name] != "") {
				t.Errorf("case %d: %s is %v because %q, want %q", i, name, got.Measures[name], got.Reasons[name], c.want[name])
			}
		}
		if i == 0 && (*got.Measures["Jaccard(average=samples,zero_division=1)"] != 1 || *got.Measures["F1(average=samples)"] != 0) {
			t.Errorf("without labels the values are %v", got.Measures)
		}
	}
}

// TestEvaluate_IsNotImprovedByUnknownLabels adds labels that the truth lacks to predictions. No measure may become better.
func TestEvaluate_IsNotImprovedByUnknownLabels(t *testing.T) {
	asked := measuretest.Parse(t, measure.Multilabel, everyMeasure...)
	nightlytest.Check(t, func(t *rapid.T) {
		draw := func(name string, n int) [][]int16 {
			return rapid.SliceOfN(rapid.Map(rapid.SliceOfNDistinct(rapid.Int16Range(0, 3), 0, 4, rapid.ID), func(s []int16) []int16 {
				slices.Sort(s)
				return s
			}), n, n).Draw(t, name)
		}
		n := rapid.IntRange(1, 12).Draw(t, "n")
		truth, predicted := draw("truth", n), draw("predicted", n)
		truth[0] = []int16{0}
		known := map[int16]bool{}
		for _, s := range truth {
			for _, l := range s {
				known[l] = true
			}
		}
		for i, s := range predicted {
			predicted[i] = slices.DeleteFunc(s, func(l int16) bool { return !known[l] })
		}
		worse := lists.Map(predicted, func(s []int16) []int16 { return append(slices.Clone(s), 4, 5) })
		one := multilabel.Evaluate(asked, names, n, at(truth), at(predicted)).Measures
		other := multilabel.Evaluate(asked, names, n, at(truth), at(worse)).Measures
		same := multilabel.Evaluate(asked, names, n, at(truth), at(truth)).Measures
		for _, m := range asked {
			name := m.String()
			better := *other[name] > *one[name]+1e-12
			if !m.HigherIsBetter() {
				better = *other[name] < *one[name]-1e-12
			}
			if better {
				t.Errorf("%s is %v, and %v with labels that the truth does not have", name, *one[name], *other[name])
			}
			if best := *same[name]; m.HigherIsBetter() && best > 1+1e-12 || !m.HigherIsBetter() && best != 0 {
				t.Errorf("%s of the truth itself is %v", name, best)
			}
		}
	})
}

func file(kind, text string) []measure.File {
	return []measure.File{measuretest.File("labels."+kind, text)}
}

// TestComputation_ReadsBothFormats reads the same labels in different orders and with different separators.
func TestComputation_ReadsBothFormats(t *testing.T) {
	for name, c := range map[string]struct{ kind, separator, truth, run string }{
		"jsonl":  {"jsonl", "", `{"id":1,"labels":["a","b"]}` + "\n" + `{"id":2,"labels":[]}`, `{"labels":[ ],"id":2}` + "\n" + `{"id":1,"labels":["b" , "\u0061"]}`},
		"csv":    {"csv", "", "id,labels\n1,a|b\n2,\n", "labels,id\n,2\nb|a,1\n"},
		"spaces": {"csv", " ", "id\tlabels\n1\ta b\n2\t\n", "id,labels\n1,b a\n2,\n"},
		"comma":  {"csv", ", ", "id,labels\n1,\"a, b\"\n2,\n", "id\tlabels\n2\t\n1\tb, a\n"},
	} {
		t.Run(name, func(t *testing.T) {
			format := measure.Format{Kind: c.kind, IDField: "id", ValueField: "labels", Separator: c.separator}
			asked := measuretest.Parse(t, measure.Multilabel, "ExactMatch", "F1(positive=b)")
			truth, found, err := multilabel.Computation.ReadTruth(t.Context(), format, measure.Options{}, asked, file(c.kind, c.truth))
			if err != nil || len(found) > 0 {
				t.Fatal(found, err)
			}
			e, err := truth.Evaluate(t.Context(), file(c.kind, c.run))
			if err != nil || len(e.Diagnostics) > 0 || *e.Result.Measures["ExactMatch"] != 1 || *e.Result.Measures["F1(positive=b)"] != 1 {
				t.Errorf("%+v, %v", e, err)
			}
		})
	}
}

// TestComputation_HasValuesByLabel uses labels that only one side has, and more labels than MaxClasses.
func TestComputation_HasValuesByLabel(t *testing.T) {
	classes := func(truth, run string) *measure.Classes {
		format := measure.Format{Kind: measure.CSV, IDField: "id", ValueField: "labels"}
		of, found, err := multilabel.Computation.ReadTruth(t.Context(), format, measure.Options{},
			measuretest.Parse(t, measure.Multilabel, "ExactMatch"), file("csv", "id,labels\n"+truth))
		if err != nil || len(found) > 0 {
			t.Fatal(found, err)
		}
		e, err := of.Evaluate(t.Context(), file("csv", "id,labels\n"+run))
		if err != nil || measure.HasErrors(e.Diagnostics) {
			t.Fatal(e, err)
		}
		return e.Result.Classes
	}
	want := &measure.Classes{Labels: []measure.Class{{Label: "2", Support: 2}, {Label: "9"},
		{Label: "10", Precision: 0.5, Recall: 1, F1: 2.0 / 3, Support: 1}},
		Matrix: [][]int{{0, 1, 2}, {0, 0, 0}, {0, 0, 1}}} // both examples with 2 are predicted with 10
	if got := classes("a,10|2\nb,2\nc,\n", "a,10\nb,9|10\nc,\n"); !reflect.DeepEqual(got, want) {
		t.Errorf("the labels have %+v, want %+v", got, want)
	}
	many := "a,0"
	for i := range measure.MaxClasses {
		many += fmt.Sprintf("|label %d", i)
	}
	for _, labels := range []string{many, "a,"} {
		if got := classes(labels+"\n", labels+"\n"); got != nil {
			t.Errorf("%q has %+v", labels, got)
		}
	}
}

func TestComputation_ComparesKnownLabels(t *testing.T) {
	format := measure.Format{Kind: measure.CSV, IDField: "id", ValueField: "labels"}
	asked := measuretest.Parse(t, measure.Multilabel, "ExactMatch", "F1(positive=c)")
	truth, found, err := multilabel.Computation.ReadTruth(t.Context(), format, measure.Options{}, asked, file("csv", "id,labels\n1,a|b\n2,\n"))
	if err != nil || len(found) != 1 || !strings.HasPrefix(found[0].Message, "F1(positive=c) has no value for any run") {
		t.Fatal(found, err)
	}
	known := truth.Known(false, true)
	found, err = known.Compare(t.Context(), file("csv", "id,labels\n1,a|B\n3,b\n")...)
	if err != nil {
		t.Fatal(err)
	}
	measuretest.Expect(t, found, `labels.csv:2 warning: the truth has no label "B"; every prediction of it counts as wrong; the likely cause: "B" differs from "b" only in upper and lower case, and both are compared byte by byte`)
	if found, err = truth.Known(true, false).Compare(t.Context(), file("csv", "id,labels\n1,a|B\n2,\n")...); err != nil || len(found) > 0 {
		t.Errorf("labels are compared that are not known: %v, %v", found, err)
	}
	e, err := truth.Evaluate(t.Context(), file("csv", "id,labels\n1,a b\n2,\n"))
	if err != nil || !measure.HasErrors(e.Diagnostics) {
		t.Errorf("a run of which no label is known has %v, %v", e.Diagnostics, err)
	}
}

func BenchmarkEvaluate_Million(b *testing.B) {
	const n, labels = 1_000_000, 1000
	truth, predicted := make([][]int16, n), make([][]int16, n)
	for i := range truth {
		first, second := int16(i*7919%(labels/2)), int16(i*104729%(labels/2))
		truth[i] = []int16{first, labels/2 + second}
		predicted[i] = []int16{second, labels/2 + second, labels - 1}
		predicted[i] = slices.Compact(predicted[i])
	}
	all := make([]string, labels)
	asked := measuretest.Parse(b, measure.Multilabel, everyMeasure...)
	for b.Loop() {
		multilabel.Evaluate(asked, all, n, at(truth), at(predicted))
	}
}
