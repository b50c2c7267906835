package classification_test

import (
	"math"
	"strconv"
	"testing"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/classification"
	"assay/shared/computation/measure/measuretest"
	"assay/shared/computation/measure/predictions"
	"assay/shared/testing/nightlytest"

	"pgregory.net/rapid"
)

// everyMeasure lists the families of nominal labels. Families with parameters are listed with each average, and with one positive label.
var everyMeasure = func() (names []string) {
	for _, f := range measure.EvaluatorOf(measure.Classification).Families {
		switch f.Name {
		case "F", "MacroMAE": // tested in ordinal_test.go
			continue
		case "F1", "Precision", "Recall":
		case "Specificity", "FPR", "FNR":
			names = append(names, f.Name+"(positive=b)")
			continue
		default:
			names = append(names, f.Name)
			continue
		}
		for _, of := range []string{"average=macro", "average=micro", "average=weighted", "positive=b"} {
			names = append(names, f.Name+"("+of+")")
		}
	}
	return names
}()

// labels are the labels that a test may draw. The last label never occurs.
var labels = []string{"a", "b", "c", "d", "e"}

// naive evaluates the measures literally by their definitions, with a pass over the examples for each number.
func naive(truth, predicted []int32) map[string]float64 {
	count := func(holds func(t, p int32) bool) float64 {
		n := 0.0
		for i := range truth {
			if holds(truth[i], predicted[i]) {
				n++
			}
		}
		return n
	}
	ratio := func(a, b float64) float64 {
		if b == 0 {
			return 0
		}
		return a / b
	}
	s := float64(len(truth))
	right := count(func(t, p int32) bool { return t == p })
	values := map[string]float64{"Accuracy": right / s}
	occurring := 0.0
	present := 0.0
	recallSum := 0.0
	chance := 0.0
	truthChance := 0.0
	runChance := 0.0
	for label := range int32(len(labels)) {
		hits := count(func(t, p int32) bool { return t == label && p == label })
		support := count(func(t, _ int32) bool { return t == label })
		guesses := count(func(_, p int32) bool { return p == label })
		precision, recall := ratio(hits, guesses), ratio(hits, support)
		scores := map[string]float64{"Precision": precision, "Recall": recall, "F1": ratio(2*precision*recall, precision+recall)}
		for name, score := range scores {
			values[name+"(average=macro)"] += score // divided below
			values[name+"(average=weighted)"] += support * score / s
			values[name+"(average=micro)"] = right / s
			if labels[label] == "b" && support > 0 {
				values[name+"(positive=b)"] = score
			}
		}
		if support > 0 || guesses > 0 {
			occurring++
		}
		others := s - support
		if labels[label] == "b" && support > 0 {
			values["FNR(positive=b)"] = count(func(t, p int32) bool { return t == label && p != label }) / support
			if others > 0 {
				values["FPR(positive=b)"] = count(func(t, p int32) bool { return t != label && p == label }) / others
				values["Specificity(positive=b)"] = count(func(t, p int32) bool { return t != label && p != label }) / others
			}
		}
		if support > 0 {
			present++
			recallSum += recall
		}
		chance += support / s * guesses / s
		truthChance += support / s * support / s
		runChance += guesses / s * guesses / s
	}
	for _, name := range []string{"Precision", "Recall", "F1"} {
		values[name+"(average=macro)"] /= occurring
	}
	values["BalancedAccuracy"] = recallSum / present
	values["MCC"] = 0
	if truthChance < 1-1e-12 && runChance < 1-1e-12 {
		values["MCC"] = (right/s - chance) / math.Sqrt((1-truthChance)*(1-runChance))
	}
	if chance < 1-1e-12 {
		values["Kappa"] = (right/s - chance) / (1 - chance)
	}
	return values
}

func TestEvaluate_AgreesWithTheDefinitions(t *testing.T) {
	code := rapid.Int32Range(0, int32(len(labels)-2))
	asked := measuretest.Parse(t, measure.Classification, everyMeasure...)
	nightlytest.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "n")
		truth := rapid.SliceOfN(code, n, n).Draw(t, "truth")
		predicted := rapid.SliceOfN(code, n, n).Draw(t, "predicted")
		want := naive(truth, predicted)
		got := classification.Evaluate(asked, labels, truth, predicted)
		if len(got.Measures) != len(everyMeasure) {
			t.Fatalf("%d measures, want %d", len(got.Measures), len(everyMeasure))
		}
		for _, name := range everyMeasure {
			value, defined := want[name]
			switch g := got.Measures[name]; {
			case defined != (g != nil) || defined == (got.Reasons[name] != ""):
				t.Fatalf("%s is %v (%q), want %v (defined: %v)", name, g, got.Reasons[name], value, defined)
			case defined && !(math.Abs(*g-value) <= 1e-12):
				t.Fatalf("%s is %v, want %v", name, *g, value)
			}
		}
	})
}

func TestEvaluate_GivesReasonsForUndefinedValues(t *testing.T) {
	tests := []struct {
		name             string
		truth, predicted []int32
		want             string
	}{
		{"Kappa", []int32{0, 0}, []int32{0, 0},
			"truth and predictions have one and the same label throughout, so chance alone explains the agreement"},
		{"F1(positive=b)", []int32{0, 0}, []int32{0, 1}, `no example of the truth has the label "b"`},
		{"Specificity(positive=a)", []int32{0, 0}, []int32{0, 1}, `every example of the truth has the label "a"`},
		{"FNR(positive=b)", []int32{0, 0}, []int32{0, 1}, `no example of the truth has the label "b"`},
		{"Recall(positive=spam)", []int32{0, 1}, []int32{0, 1}, `no example of the truth has the label "spam"`},
	}
	for _, test := range tests {
		got := classification.Evaluate(measuretest.Parse(t, measure.Classification, test.name), labels, test.truth, test.predicted)
		value, there := got.Measures[test.name]
		if !there || value != nil || got.Reasons[test.name] != test.want {
			t.Errorf("%s is %v (%q), want nil because %q", test.name, value, got.Reasons[test.name], test.want)
		}
	}
}

// TestEvaluate_OfLargeCounts evaluates so many examples that products of counts need more than 32 bits. The exact values are known.
func TestEvaluate_OfLargeCounts(t *testing.T) {
	const n = 400_000
	truth, predicted := make([]int32, n), make([]int32, n)
	for i := range truth {
		truth[i] = int32(i % 2)
		predicted[i] = int32(i / 2 % 2)
	}
	for name, want := range map[string]float64{"MCC": 0, "Kappa": 0, "Accuracy": 0.5} {
		if got := classification.Evaluate(measuretest.Parse(t, measure.Classification, name), labels, truth,
			predicted).Measures[name]; got == nil || *got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}

func BenchmarkEvaluate(b *testing.B) {
	for _, n := range []int{10, 10_000} {
		b.Run(strconv.Itoa(n)+"labels", func(b *testing.B) {
			const examples = 1_000_000
			names := make([]string, n)
			truth, predicted := make([]int32, examples), make([]int32, examples)
			for i := range names {
				names[i] = strconv.Itoa(i)
			}
			for i := range truth {
				truth[i], predicted[i] = int32(i*7919%n), int32(i*104729/3%n)
			}
			asked := measuretest.Parse(b, measure.Classification, "Accuracy", "BalancedAccuracy", "F1(average=macro)", "MCC", "Kappa")
			b.SetBytes(examples * 8)
			for b.Loop() {
				classification.Evaluate(asked, names, truth, predicted)
			}
		})
	}
}

func TestEvaluate_AgreesWithScikitLearn(t *testing.T) {
	ours := map[string]string{
		"accuracy": "Accuracy", "balanced_accuracy": "BalancedAccuracy",
		"matthews_correlation": "MCC", "cohen_kappa": "Kappa",
		"precision_macro": "Precision(average=macro)", "precision_micro": "Precision(average=micro)",
		"precision_weighted": "Precision(average=weighted)",
		"recall_macro":       "Recall(average=macro)", "recall_micro": "Recall(average=micro)", "recall_weighted": "Recall(average=weighted)",
		"f1_macro": "F1(average=macro)", "f1_micro": "F1(average=micro)", "f1_weighted": "F1(average=weighted)",
	}
	binary := map[string]string{
		"precision_binary_pos1": "Precision(positive=1)", "recall_binary_pos1": "Recall(positive=1)", "f1_binary_pos1": "F1(positive=1)",
	}
	perLabel := map[string]string{"precision": "Precision", "recall": "Recall", "f1": "F1"}
	measuretest.References(t, 10, func(t *testing.T, truthFile, runFile measure.File, reference map[string]any) {
		var report measure.Report
		format := measure.Format{Kind: measure.JSONL, IDField: "id", ValueField: "label"}
		truth, err := predictions.ReadGold(t.Context(), format, predictions.Labels, []measure.File{truthFile}, &report)
		if err != nil {
			t.Fatal(err)
		}
		run, err := truth.ReadRun(t.Context(), []measure.File{runFile}, &report)
		if err != nil || report.Failed() {
			t.Fatal(err, report.Diagnostics())
		}
		check := func(name string, want any) {
			t.Helper()
			result := classification.Evaluate(measuretest.Parse(t, measure.Classification, name), run.Labels(), truth.Codes(), run.Codes())
			measuretest.CheckValue(t, result, name, want)
		}
		for theirs, name := range ours {
			check(name, reference[theirs])
		}
		for theirs, name := range binary {
			if want, ok := reference[theirs]; ok {
				check(name, want)
			}
		}
		labels, _ := reference["per_class"].(map[string]any)
		for label, scores := range labels {
			for theirs, name := range perLabel {
				if scores := scores.(map[string]any); scores["support"].(float64) > 0 {
					check(name+"(positive="+label+")", scores[theirs])
				}
			}
		}
	})
}
