package scoring_test

import (
	"fmt"
	"slices"
	"testing"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/scoring"
	"assay/shared/language/panics"

	"pgregory.net/rapid"
)

// TestFamilies_HaveTheirOwnFormulas finds families that are declared and not computed. Without a formula, some packages compute another
// family's values or a constant, because their switches have a default. So each family's values must differ from file to file, and
// on some files from the value of each other family.
func TestFamilies_HaveTheirOwnFormulas(t *testing.T) {
	type files struct {
		format     measure.Format
		truth, run string
	}
	for _, e := range measure.Evaluators {
		t.Run(string(e.Kind), func(t *testing.T) {
			generator := rapid.Custom(func(t *rapid.T) (drawn files) {
				drawn.format, drawn.truth, drawn.run = extremeFiles(t, e.Kind)
				return drawn
			})
			values := map[string][]string{} // by measure, one for each pair of files
			for seed := range 60 {
				drawn := generator.Example(seed)
				for _, m := range someOf(t, e) {
					settings := scoring.Settings{Kind: e.Kind, Measures: []string{m.String()}, Format: drawn.format}
					value, err := valueOf(t, settings, drawn.truth, drawn.run)
					if err != nil {
						t.Fatalf("%s cannot be computed. Its formula belongs into the package of %s: %v", m.Name, e.Kind, err)
					}
					values[m.String()] = append(values[m.String()], value)
				}
			}
			for i, m := range someOf(t, e) {
				own := values[m.String()]
				if len(slices.Compact(slices.Clone(own))) == 1 {
					t.Errorf("%s is always %q. It needs a formula in the package of %s", m, own[0], e.Kind)
				}
				for _, other := range someOf(t, e)[:i] {
					if m.Name != other.Name && slices.Equal(own, values[other.String()]) {
						t.Errorf("%s always equals %s. Each needs its own formula in the package of %s", m, other, e.Kind)
					}
				}
			}
		})
	}
}

// someOf returns a measure of each family without parameters. Families that need an average have a measure with each of two averages, and
// families that need a label have a measure of the label a.
// Micro averages of classification are left out, because all of them equal Accuracy.
func someOf(t *testing.T, e measure.EvaluatorKind) (all []measure.Measure) {
	t.Helper()
	for _, f := range e.Families {
		cutoff := map[measure.CutoffRule]string{measure.RequiredDepth: "@2", measure.RequiredRecall: "@0.5"}[f.Cutoff]
		before := len(all)
		choices := [][]string{{""}, {"(average=macro,beta=2)", "(average=macro)"}, {"(average=micro,beta=2)", "(average=micro)"}}
		for _, parameters := range choices {
			for _, p := range parameters {
				m, err := measure.Parse(e.Kind, f.Name+p+cutoff)
				if err == nil && (e.Kind != measure.Classification || m.Param("average") != "micro") {
					all = append(all, m)
					break
				}
			}
		}
		if len(all) == before {
			m, err := measure.Parse(e.Kind, f.Name+"(positive=a)")
			if err != nil {
				t.Fatalf("no measure of the family %s is known: %v", f.Name, err)
			}
			all = append(all, m)
		}
	}
	return all
}

// valueOf returns the value of the only measure. It returns "" if the files are invalid or the measure has no value. A panic becomes an
// error.
func valueOf(t *testing.T, s scoring.Settings, truth, run string) (value string, err error) {
	t.Helper()
	err = panics.Catch(func() error {
		read, diagnostics, err := scoring.ReadTruth(t.Context(), s, []scoring.File{file("truth", truth)})
		if err != nil || measure.HasErrors(diagnostics) {
			return err
		}
		evaluated, err := read.Read(t.Context(), []scoring.File{file("run", run)})
		if err != nil || measure.HasErrors(evaluated.Diagnostics) {
			return err
		}
		for _, v := range evaluated.Result.Measures {
			if v != nil {
				value = fmt.Sprint(*v)
			}
		}
		return nil
	})
	return value, err
}
