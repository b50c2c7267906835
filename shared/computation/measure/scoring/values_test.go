package scoring_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/scoring"
	"assay/shared/language/lists"
	"assay/shared/testing/nightlytest"

	"pgregory.net/rapid"
)

// variants returns the measures of a kind with the least, greatest and special values of each parameter and of each pair of parameters.
func variants(e measure.EvaluatorKind) (names []string) {
	for _, f := range e.Families {
		cutoff := map[measure.CutoffRule][]string{measure.NoCutoff: {""}, measure.OptionalDepth: {"", "@1", "@1000000"},
			measure.RequiredDepth: {"@1", "@1000"}, measure.RequiredRecall: {"@0", "@1"}}[f.Cutoff]
		given := []string{""}
		for i, p := range f.Parameters {
			of := lists.Map(extremes(p), func(value string) string { return p.Name + "=" + value })
			given = append(given, of...)
			for _, other := range f.Parameters[:i] {
				for _, value := range extremes(other) {
					given = append(given, lists.Map(of, func(one string) string { return other.Name + "=" + value + "," + one })...)
				}
			}
		}
		for _, g := range given {
			for _, c := range cutoff {
				if m, err := measure.Parse(e.Kind, strings.Replace(f.Name+"("+g+")"+c, "()", "", 1)); err == nil { // some combinations are invalid
					names = append(names, m.String())
				}
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func extremes(p measure.Parameter) []string {
	switch p.Domain {
	case "integer", "number":
		low, high := p.Min, p.Max
		if p.Open {
			low, high = low+(high-low)/1e6, high-(high-low)/1e6
		}
		return []string{fmt.Sprint(low), fmt.Sprint(high)}
	case "flag":
		return []string{"True", "False"}
	case "choice":
		return p.Choices
	case "scale":
		return []string{"'_,a'", "0..999", "-5..5"}
	case "gains":
		return []string{"{0:-1000000,1:0.0000000001}", "{0:1000000}"}
	}
	return []string{"a", "'1'", "'a,1'", "_"}
}

// extremeFiles draws a truth and a run of a kind. It draws from few values, so that ties, single classes and empty values are frequent.
func extremeFiles(t *rapid.T, kind measure.Kind) (format measure.Format, truth, run string) {
	n := rapid.IntRange(1, 5).Draw(t, "n")
	draw := func(values ...string) string { return rapid.SampledFrom(values).Draw(t, "value") }
	list := func(separator string, values ...string) string {
		return strings.Join(rapid.SliceOfNDistinct(rapid.SampledFrom(values), 0, 2, rapid.ID).Draw(t, "values"), separator)
	}
	format = measure.Format{Kind: measure.JSONL, IDField: "id", ValueField: "x"}
	if kind == measure.Retrieval || kind == measure.Diversity {
		format = measure.Format{Kind: measure.TRECRun}
	}
	each := func(value func() string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "{\"id\":%d,\"x\":%s}\n", i, value())
		}
		return b.String()
	}
	both := func(value func() string) (string, string) { return each(value), each(value) }
	switch kind {
	case measure.Retrieval, measure.Diversity:
		scores := []string{"0", "-0", "1.7e308", "-1.7e308", "5e-324", "1"}
		for i := range n {
			truth += fmt.Sprintf("%d %d d%d %s\n", i%2, i%3, i, draw("-1", "0", "1", "2", "4"))
			run += fmt.Sprintf("%d Q0 d%s%d 1 %s x\n", i%2, draw("", "x"), i, draw(scores...))
		}
	case measure.Spans:
		format = measure.Format{Kind: measure.CoNLL}
		for i := range n { // with tags of every scheme
			truth += fmt.Sprintf("token%d %s\n", i, draw("O", "I", "I-a", "I-1"))
			run += fmt.Sprintf("token%d %s\n", i, draw("O", "I", "I-a", "I-x"))
		}
	case measure.Regression:
		truth, run = both(func() string { return draw("0", "-0.0", "1", "1e308", "-1.7e308", "5e-324", "0.1") })
	case measure.Multilabel:
		truth, run = both(func() string { return "[" + list(",", `"a"`, `"b"`, "1", `"_"`) + "]" })
	case measure.Text:
		truth = each(func() string {
			return "[" + list(",", `""`, `"a"`, `"a b.\nthe c"`, `"c b a"`, `"The"`, `"\u4e2d 1,5"`) + "]"
		})
		run = each(func() string { return draw(`""`, `"a"`, `"a b.\nthe c"`, `"c.\nthe b"`, `"The"`, `"\u0130 \u03a3"`) })
	case measure.Probabilities:
		truth = each(func() string { return draw(`"a"`, "1") })
		scores := []string{"0", "-0.0", "0.5", "5e-324", "0.9999999999999999", "1"}
		if rapid.Bool().Draw(t, "of each label") {
			scores = []string{`{"a":0,"1":1}`, `{"1":0,"a":1.0}`, `{"a":0.5,"1":0.5}`}
		}
		run = each(func() string { return draw(scores...) })
	default: // one label for each example
		truth, run = both(func() string { return draw(`"a"`, "1", "2", "-1e308", `"1.7e308"`, `"_"`) })
	}
	return format, truth, run
}

// TestEvaluate_HasFiniteValuesOrReasons computes every measure of every kind, with parameters at the ends of their ranges.
func TestEvaluate_HasFiniteValuesOrReasons(t *testing.T) {
	for _, e := range measure.Evaluators {
		names := variants(e)
		if len(names) < len(e.Families) {
			t.Errorf("%s has %d measures in %d families", e.Kind, len(names), len(e.Families))
		}
		measured := 0
		t.Run(string(e.Kind), func(t *testing.T) {
			nightlytest.Check(t, func(t *rapid.T) {
				format, truth, run := extremeFiles(t, e.Kind)
				settings := scoring.Settings{Kind: e.Kind, Measures: names, Format: format}
				read, diagnostics, err := scoring.ReadTruth(t.Context(), settings, []scoring.File{file("truth", truth)})
				if err != nil || read == nil {
					t.Fatal(diagnostics, err)
				}
				evaluated, err := read.Read(t.Context(), []scoring.File{file("run", run)})
				if err != nil {
					t.Fatal(err)
				}
				if measure.HasErrors(evaluated.Diagnostics) {
					return
				}
				result := evaluated.Result
				measured++
				for _, name := range names {
					value, there := result.Measures[name]
					if !there || (value == nil) != (result.Reasons[name] != "") || value != nil && (math.IsNaN(*value) || math.IsInf(*value, 0)) {
						t.Errorf("%s of\n%s\nand\n%s\nis %v because %q", name, truth, run, value, result.Reasons[name])
					}
				}
				if _, err := json.Marshal(result); err != nil {
					t.Error(err)
				}
			})
		})
		if measured == 0 {
			t.Errorf("no run of %s was measured", e.Kind)
		}
	}
}
