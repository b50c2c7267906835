package scoring_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/scoring"
	"assay/shared/computation/measure/steps"
	"assay/shared/testing/nightlytest"

	"pgregory.net/rapid"
)

// TestEvaluation_ResamplesTextsAndTags compares samples of documents with evaluations of files that have the documents of the sample.
func TestEvaluation_ResamplesTextsAndTags(t *testing.T) {
	kinds := []struct {
		settings scoring.Settings
		values   []string
		line     func(i int, value string) string
	}{
		{scoring.Settings{Kind: measure.Text, Measures: []string{"BLEU", "chrF++", "ROUGE1", "EM"}},
			[]string{`"a red fox ran off"`, `"the red fox ran"`, `"a b c d e f"`, `"a b c d g"`, `""`},
			func(i int, value string) string { return fmt.Sprintf(`{"id":%d,"value":%s}`+"\n", i, value) }},
		{scoring.Settings{Kind: measure.Spans, Measures: []string{"F1(average=micro)", "IoU(type=A)", "F1(average=macro,scheme=IOB2)"}},
			[]string{"O O", "B-A I-A", "O I-A", "B-B O"},
			func(_ int, value string) string { return "x " + strings.ReplaceAll(value, " ", "\ny ") + "\n\n" }},
	}
	nightlytest.Check(t, func(r *rapid.T) {
		k := kinds[rapid.IntRange(0, len(kinds)-1).Draw(r, "kind")]
		k.settings.Format = measure.Format{Kind: measure.JSONL, IDField: "id", ValueField: "value"}
		if !strings.HasPrefix(k.line(0, "O"), "{") {
			k.settings.Format = measure.Format{Kind: measure.CoNLL}
		}
		n := rapid.IntRange(1, 8).Draw(r, "n")
		values := rapid.SliceOfN(rapid.SampledFrom(k.values), n, n)
		truth, run := values.Draw(r, "truth"), values.Draw(r, "run")
		sample := rapid.SliceOfN(rapid.IntRange(0, n-1), n, n).Draw(r, "sample")
		whole, sampled := [2]strings.Builder{}, [2]strings.Builder{}
		for i, from := range sample {
			for side, list := range [][]string{truth, run} {
				whole[side].WriteString(k.line(i, list[i]))
				sampled[side].WriteString(k.line(i, list[from]))
			}
		}
		want := evaluateFiles(r, t, k.settings, sampled[0].String(), sampled[1].String()).Result
		for _, name := range k.settings.Measures {
			m, err := measure.Parse(k.settings.Kind, name)
			if err != nil {
				r.Fatal(err)
			}
			k.settings.Measures = []string{name}
			e := evaluateFiles(r, t, k.settings, whole[0].String(), whole[1].String())
			got := e.Resample(steps.Of(t.Context()), sample)
			want := want.Measures[m.String()]
			if (got == nil) != (want == nil) || got != nil && math.Abs(*got-*want) > 1e-9 {
				r.Fatalf("%s of %v among %v and %v is %v, want %v", name, sample, truth, run, got, want)
			}
		}
	})
}
