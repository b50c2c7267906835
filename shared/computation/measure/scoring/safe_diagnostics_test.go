package scoring_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/scoring"
	"assay/shared/testing/nightlytest"

	"pgregory.net/rapid"
)

// public is the part of a truth that participants know, and their inputs.
type public struct {
	ids, labels bool
	inputs      string
}

// shownBlinded returns the diagnostics that the owner of a blinded run sees, and whether they refuse the run.
func shownBlinded(t *rapid.T, s scoring.Settings, truth, run string, p public) (shown []measure.Diagnostic, refused bool) {
	read, diagnostics, err := scoring.ReadTruth(t.Context(), s, []scoring.File{file("truth", truth)})
	if err != nil || read == nil {
		t.Fatal(diagnostics, err)
	}
	evaluated, err := read.Read(t.Context(), []scoring.File{file("run", run)})
	if err != nil {
		t.Fatal(err)
	}
	found := evaluated.Diagnostics
	inputs, err := scoring.ReadInputs(t.Context(), s, []scoring.File{file("topics", p.inputs)})
	if err != nil {
		t.Fatal(err)
	}
	ofFiles, err := scoring.ValidateRun(t.Context(), s, []scoring.File{file("run", run)},
		read.Known(p.ids, p.labels), inputs)
	if err != nil {
		t.Fatal(err)
	}
	atOnce, err := evaluated.Validate(t.Context(), []scoring.File{file("run", run)}, read.Known(p.ids, p.labels), inputs)
	if err != nil || !slices.Equal(atOnce, ofFiles) {
		t.Fatalf("of the evaluated run\n%v, %v\nand of its files\n%v", atOnce, err, ofFiles)
	}
	all := measure.WithoutTruth(ofFiles, found)
	for _, d := range found {
		if d.SafeWhileBlinded || !slices.ContainsFunc(all, func(o measure.Diagnostic) bool { o.SafeWhileBlinded = false; return o == d }) {
			t.Fatalf("%v is marked by the evaluator, or lost", d)
		}
	}
	return measure.SafeDiagnostics(all), measure.HasErrors(ofFiles)
}

// TestSafeDiagnostics_DoNotDependOnTheTruth evaluates the same run with two truths. They share only the public part: ids, labels or both.
// The owner of the blinded run must see the same diagnostics for both truths, and both must refuse the run if these diagnostics refuse it.
func TestSafeDiagnostics_DoNotDependOnTheTruth(t *testing.T) {
	nightlytest.Check(t, func(t *rapid.T) {
		settings := rapid.SampledFrom([]scoring.Settings{retrievalSettings, classificationSettings, regressionSettings,
			clusteringSettings, textSettings, multilabelSettings, probabilitiesSettings,
			spansSettings}).Draw(t, "settings")
		id := rapid.SampledFrom([]string{"1", "2", "3", "4", "5"})
		text := map[measure.Kind]struct{ header, truth, run, inputs string }{
			measure.Retrieval:      {"", "%[1]s 0 d%[2]s 1\n", "%[1]s Q0 d%[2]s 1 1 tag\n", "%s\ta topic\n"},
			measure.Classification: {"id,label\n", "%s,%s\n", "%s,%s\n", "{\"id\":%q,\"text\":\"an item\"}\n"},
			measure.Clustering:     {"id,label\n", "%s,%s\n", "%s,%s\n", "{\"id\":%q,\"text\":\"an item\"}\n"},
			measure.Text:           {"id,label\n", "%s,%s\n", "%s,%s\n", "{\"id\":%q,\"text\":\"an item\"}\n"},
			measure.Probabilities:  {"id,label\n", "%s,%s\n", "%s,0.%s\n", "{\"id\":%q,\"text\":\"an item\"}\n"},
			measure.Multilabel:     {"id,label\n", "%[1]s,%[2]s 1%[2]s\n", "%[1]s,%[2]s 1%[2]s\n", "{\"id\":%q,\"text\":\"an item\"}\n"},
			measure.Spans: {"", `{"id":%q,"label":[{"start":0,"end":1,"type":%q}]}` + "\n", `{"id":%q,"label":[{"start":0,"end":1,"type":%q}]}` + "\n",
				"{\"id\":%q,\"text\":\"an item\"}\n"},
			measure.Regression: {"", "{\"id\":%s,\"y\":%s}\n", "{\"id\":%s,\"y\":%s}\n", "{\"id\":%s}\n"},
		}[settings.Kind]
		p := public{ids: rapid.Bool().Draw(t, "ids are public"), labels: rapid.Bool().Draw(t, "labels are public")}
		for _, i := range rapid.SliceOfN(id, 0, 4).Draw(t, "inputs") {
			p.inputs += fmt.Sprintf(text.inputs, i)
		}
		ids := rapid.SliceOfNDistinct(id, 1, 5, rapid.ID).Draw(t, "ids")
		labels := rapid.SliceOfN(id, len(ids), len(ids)).Draw(t, "labels")
		truth := func(name string) string {
			own := ids
			if !p.ids {
				own = rapid.SliceOfNDistinct(id, len(ids), len(ids), rapid.ID).Draw(t, name)
			}
			values := rapid.Permutation(labels).Draw(t, name)
			if !p.labels {
				values = rapid.SliceOfN(id, len(ids), len(ids)).Draw(t, name)
			}
			own = rapid.Permutation(own).Draw(t, name)
			all := text.header
			for i := range own {
				all += fmt.Sprintf(text.truth, own[i], values[i])
			}
			return all
		}
		run := text.header
		for range rapid.IntRange(1, 7).Draw(t, "lines") {
			run += fmt.Sprintf(text.run, id.Draw(t, "id"), rapid.OneOf(id, rapid.Just(""), rapid.Just(strings.Repeat("9", 2000))).Draw(t, "value"))
		}
		one, refused := shownBlinded(t, settings, truth("one"), run, p)
		other, refusedToo := shownBlinded(t, settings, truth("other"), run, p)
		if !slices.Equal(one, other) || refused != refusedToo {
			t.Fatalf("of %q, with %+v, is shown\n%v\nand\n%v", run, p, one, other)
		}
	})
}
