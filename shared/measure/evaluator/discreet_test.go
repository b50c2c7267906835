package evaluator_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"assay/shared/measure"
	"assay/shared/measure/evaluator"

	"pgregory.net/rapid"
)

// discreet returns what one who must not know the truth is told of the run.
func discreet(t *rapid.T, s evaluator.Settings, truth, run string) []measure.Diagnostic {
	read, diagnostics, err := evaluator.ReadTruth(t.Context(), s, []evaluator.File{file("truth", truth)})
	if err != nil || read == nil {
		t.Fatal(diagnostics, err)
	}
	_, all, err := read.Evaluate(t.Context(), []evaluator.File{file("run", run)})
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(d measure.Diagnostic) bool { return !d.Discreet })
}

// TestDiscreetDiagnosticsAreTheSameWhateverTheLabelsAre gives the same run to truths that have the same ids and different
// labels.
func TestDiscreetDiagnosticsAreTheSameWhateverTheLabelsAre(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ids := []string{"1", "2", "3", "4"}
		labels := rapid.SampledFrom([]string{"a", "b", "c", "", strings.Repeat("x", 2000)})
		truth := func(name string) string {
			text := "id,label\n"
			for _, id := range ids {
				text += id + "," + rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, name) + "\n"
			}
			return text
		}
		run := "id,label\n"
		for range rapid.IntRange(0, 7).Draw(t, "lines") {
			run += rapid.SampledFrom(append(ids, "5", "")).Draw(t, "id") + "," + labels.Draw(t, "label") + "\n"
		}
		one, other := discreet(t, classificationSettings, truth("one"), run), discreet(t, classificationSettings, truth("other"), run)
		if !slices.Equal(one, other) {
			t.Fatalf("%q is told\n%v\nand\n%v", run, one, other)
		}
	})
}

// TestDiscreetDiagnosticsAreTheSameWhateverTheRunLacksIsCalled gives the same run to truths that differ in the names of what
// the run does not have.
func TestDiscreetDiagnosticsAreTheSameWhateverTheRunLacksIsCalled(t *testing.T) {
	settings := evaluator.Settings{Kind: measure.Retrieval, Measures: []string{"AP"}, Format: evaluator.Format{Kind: evaluator.TRECRun}}
	rapid.Check(t, func(t *rapid.T) {
		var run, examples string
		for i, n := 0, rapid.IntRange(1, 4).Draw(t, "lines"); i < n; i++ {
			name := rapid.SampledFrom([]string{"u", "v", "w"}).Draw(t, "name")
			run += fmt.Sprintf("%s Q0 d%d 1 %d tag\n", name, i, n-i)
			examples += name + ",x\n"
		}
		shared := rapid.SliceOfDistinct(rapid.SampledFrom([]string{"u", "v"}), rapid.ID).Draw(t, "shared")
		lacking := rapid.IntRange(1, 7).Draw(t, "lacking")
		told := map[string][2][]measure.Diagnostic{}
		for _, prefix := range []string{"hidden", "secret"} {
			var qrels string
			labels := "id,label\n"
			add := func(name string) {
				qrels += name + " 0 d0 1\n"
				labels += name + ",x\n"
			}
			for _, name := range shared {
				add(name)
			}
			for i := range lacking {
				add(fmt.Sprint(prefix, i))
			}
			told[prefix] = [2][]measure.Diagnostic{
				discreet(t, settings, qrels, run), discreet(t, classificationSettings, labels, "id,label\n"+examples),
			}
		}
		for i := range 2 {
			if one, other := told["hidden"][i], told["secret"][i]; !slices.Equal(one, other) {
				t.Fatalf("%q is told\n%v\nand\n%v", run, one, other)
			}
		}
	})
}
