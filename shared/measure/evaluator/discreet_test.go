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

// discreet returns what the owner of a blinded run reads of it, and whether its files alone refuse it.
func discreet(t *rapid.T, s evaluator.Settings, truth, run string) (shown []measure.Diagnostic, refused bool) {
	read, diagnostics, err := evaluator.ReadTruth(t.Context(), s, []evaluator.File{file("truth", truth)})
	if err != nil || read == nil {
		t.Fatal(diagnostics, err)
	}
	_, found, err := read.Evaluate(t.Context(), []evaluator.File{file("run", run)})
	if err != nil {
		t.Fatal(err)
	}
	ofFiles, err := evaluator.ValidateRun(t.Context(), s.Kind, s.Format, []evaluator.File{file("run", run)})
	if err != nil {
		t.Fatal(err)
	}
	all := measure.WithoutTruth(ofFiles, found)
	for _, d := range found {
		if d.Discreet || !slices.ContainsFunc(all, func(o measure.Diagnostic) bool { o.Discreet = false; return o == d }) {
			t.Fatalf("%v is marked by the evaluator, or lost", d)
		}
	}
	return measure.Discreet(all), measure.Refused(ofFiles)
}

// TestDiscreetDiagnosticsAreTheSameWhateverTheTruth gives the same run to two truths, which have any ids and labels: what its
// owner reads while it is blinded is the same, and a run is refused for its files whatever the truth.
func TestDiscreetDiagnosticsAreTheSameWhateverTheTruth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		settings := rapid.SampledFrom([]evaluator.Settings{retrievalSettings, classificationSettings, regressionSettings}).Draw(t, "settings")
		id := rapid.SampledFrom([]string{"1", "2", "3", "4", "5"})
		text := map[measure.Kind]struct{ header, truth, run string }{
			measure.Retrieval:      {"", "%[1]s 0 d%[2]s 1\n", "%[1]s Q0 d%[2]s 1 1 tag\n"},
			measure.Classification: {"id,label\n", "%s,%s\n", "%s,%s\n"},
			measure.Regression:     {"", "{\"id\":%s,\"y\":%s}\n", "{\"id\":%s,\"y\":%s}\n"},
		}[settings.Kind]
		truth := func(name string) string {
			all := text.header
			for _, i := range rapid.SliceOfNDistinct(id, 1, 5, rapid.ID).Draw(t, name) {
				all += fmt.Sprintf(text.truth, i, id.Draw(t, name))
			}
			return all
		}
		run := text.header
		for range rapid.IntRange(1, 7).Draw(t, "lines") {
			run += fmt.Sprintf(text.run, id.Draw(t, "id"), rapid.OneOf(id, rapid.Just(""), rapid.Just(strings.Repeat("9", 2000))).Draw(t, "value"))
		}
		one, refused := discreet(t, settings, truth("one"), run)
		other, refusedToo := discreet(t, settings, truth("other"), run)
		if !slices.Equal(one, other) || refused != refusedToo {
			t.Fatalf("of %q is shown\n%v\nand\n%v", run, one, other)
		}
	})
}
