package scoring_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/scoring"
	"assay/shared/computation/measure/steps"
	"assay/shared/testing/nightlytest"

	"pgregory.net/rapid"
)

// evaluateLines evaluates a run against a truth. Both have the same number of lines, with the ids 0, 1 and so on.
func evaluateLines(t interface {
	Helper()
	Fatal(...any)
}, ctx *testing.T, s scoring.Settings, truth, run []string) *scoring.ScoredRun {
	t.Helper()
	content := func(values []string) string {
		var b strings.Builder
		b.WriteString("id,label\n")
		for i, v := range values {
			fmt.Fprintf(&b, "%d,%q\n", i, v)
		}
		return b.String()
	}
	return evaluateFiles(t, ctx, s, content(truth), content(run))
}

// evaluateFiles evaluates a run of one file against a truth of one file.
func evaluateFiles(t interface {
	Helper()
	Fatal(...any)
}, ctx *testing.T, s scoring.Settings, truth, run string) *scoring.ScoredRun {
	t.Helper()
	read, diagnostics, err := scoring.ReadTruth(ctx.Context(), s, []scoring.File{file("truth", truth)})
	if err != nil || read == nil {
		t.Fatal(diagnostics, err)
	}
	e, err := read.Read(ctx.Context(), []scoring.File{file("run", run)})
	if err != nil || measure.HasErrors(e.Diagnostics) {
		t.Fatal(e, err)
	}
	return e
}

func labelled(names ...string) scoring.Settings {
	s := classificationSettings
	s.Measures = names
	return s
}

func numbered(names ...string) scoring.Settings {
	return scoring.Settings{Kind: measure.Regression, Measures: names, Format: classificationSettings.Format}
}

// TestEvaluate_MeansAreOfTheirExamples compares measures that are means over examples with their values by example. Other measures must
// have no such values.
func TestEvaluate_MeansAreOfTheirExamples(t *testing.T) {
	nightlytest.Check(t, func(r *rapid.T) {
		settings := rapid.SampledFrom([]scoring.Settings{
			labelled("Accuracy", "F1(average=macro)", "BalancedAccuracy", "MCC"), numbered("MAE", "MSE", "MAPE", "RMSE", "MedianAE", "Pearson"),
		}).Draw(r, "settings")
		value := rapid.SampledFrom([]string{"1", "2", "3", "-0.5", "1e100"})
		truth := rapid.SliceOfN(value, 1, 20).Draw(r, "truth")
		run := rapid.Permutation(truth).Draw(r, "run")
		result := evaluateLines(r, t, settings, truth, run).Result
		if len(result.PerTopic) != len(truth) {
			r.Fatalf("%d examples have values, want %d", len(result.PerTopic), len(truth))
		}
		for i, name := range settings.Measures {
			var sum measure.Sum
			n := 0
			for _, values := range result.PerTopic {
				if x, ok := values[name]; ok {
					sum.Add(x / float64(len(truth)))
					n++
				}
			}
			isMean := settings.Kind == measure.Classification && i == 0 || settings.Kind == measure.Regression && i < 3
			want := result.Measures[name]
			if isMean && (n != len(truth) || math.Abs(sum.Total()-*want) > 1e-9*math.Abs(*want)) || !isMean && n > 0 {
				r.Fatalf("%s of %v and %v is %v, and the mean of %d values %v", name, truth, run, want, n, sum.Total())
			}
		}
	})
}

func TestEvaluate_HasNoValuesByExample(t *testing.T) {
	large := slices.Repeat([]string{"1"}, measure.MaxExamples+1)
	for name, c := range map[string]struct {
		settings   scoring.Settings
		truth, run []string
	}{
		"of too many examples":      {labelled("Accuracy"), large, large},
		"of what is not defined":    {numbered("MAPE"), []string{"0", "1"}, []string{"1", "1"}},
		"that are infinite":         {numbered("MSE"), []string{"1e200", "1"}, []string{"0", "1"}},
		"of measures that are none": {numbered("RMSE"), []string{"1", "2"}, []string{"1", "1"}},
	} {
		e := evaluateLines(t, t, c.settings, c.truth, c.run)
		if e.Result.PerTopic != nil || (e.Resample == nil) != (len(c.truth) > measure.MaxExamples) {
			t.Errorf("values %s: %v", name, e.Result.PerTopic)
		}
	}
	if e := evaluateLines(t, t, labelled("Accuracy"), large[1:], large[1:]); len(e.Result.PerTopic) != measure.MaxExamples {
		t.Errorf("%d examples have values", len(e.Result.PerTopic))
	}
}

// TestEvaluate_ClassesAddUpToTheMeasures compares the confusion matrix with measures that are computed without it.
func TestEvaluate_ClassesAddUpToTheMeasures(t *testing.T) {
	nightlytest.Check(t, func(r *rapid.T) {
		value := rapid.SampledFrom([]string{"10", "9", "-1", "7"})
		truth := rapid.SliceOfN(value, 1, 20).Draw(r, "truth")
		run := rapid.SliceOfN(rapid.OneOf(value, rapid.Just("8")), len(truth), len(truth)).Draw(r, "run")
		run[0] = truth[0]
		result := evaluateLines(r, t, labelled("Accuracy", "F1(average=macro)", "Recall(average=weighted)"), truth, run).Result
		hits := 0
		f1 := 0.0
		recall := 0.0
		n := float64(len(truth))
		order := []string{"-1", "7", "8", "9", "10"}
		for i, c := range result.Classes.Labels {
			for j, count := range result.Classes.Matrix[i] {
				want := 0
				for k := range truth {
					if truth[k] == c.Label && run[k] == result.Classes.Labels[j].Label {
						want++
					}
				}
				if count != want {
					r.Fatalf("%d are %s and predicted with %s, want %d", count, c.Label, result.Classes.Labels[j].Label, want)
				}
			}
			hits += result.Classes.Matrix[i][i]
			f1 += c.F1 / float64(len(result.Classes.Labels))
			recall += c.Recall * float64(c.Support) / n
			if i > 0 && slices.Index(order, c.Label) <= slices.Index(order, result.Classes.Labels[i-1].Label) {
				r.Fatalf("labels are in the order of %+v", result.Classes.Labels)
			}
		}
		near := func(name string, x float64) {
			if want := *result.Measures[name]; math.Abs(x-want) > 1e-9 {
				r.Fatalf("%s is %v, and by the classes %v", name, want, x)
			}
		}
		near("Accuracy", float64(hits)/n)
		near("F1(average=macro)", f1)
		near("Recall(average=weighted)", recall)
	})
}

func TestEvaluate_BoundsClasses(t *testing.T) {
	for n, want := range map[int]bool{measure.MaxClasses: true, measure.MaxClasses + 1: false} {
		var values []string
		for i := range n {
			values = append(values, fmt.Sprint(i))
		}
		if got := evaluateLines(t, t, labelled("Accuracy"), values, values).Result.Classes; (got != nil) != want {
			t.Errorf("%d labels have the classes %+v", n, got)
		}
	}
}

// TestEvaluation_ResamplesExamples compares samples with evaluations of files that have the sampled lines.
func TestEvaluation_ResamplesExamples(t *testing.T) {
	nightlytest.Check(t, func(r *rapid.T) {
		settings := rapid.SampledFrom([]scoring.Settings{
			labelled("Accuracy", "F1(average=macro)", "F1(positive=3)", "Kappa", "MCC", "MacroMAE"), numbered("RMSE", "R2", "Spearman", "CCC"),
			{Kind: measure.Clustering, Measures: []string{"ARI", "BCubedF"}, Format: classificationSettings.Format},
			{Kind: measure.Text, Measures: []string{"BLEU", "BLEU(tokenize=char)", "chrF", "chrF++"}, Format: classificationSettings.Format},
		}).Draw(r, "settings")
		value := rapid.SampledFrom([]string{"1", "2", "3"})
		if settings.Kind == measure.Text {
			value = rapid.SampledFrom([]string{"", "a b c d e f", "a b c d", "d, e f. c", "f"})
		}
		truth := rapid.SliceOfN(value, 1, 12).Draw(r, "truth")
		run := rapid.Permutation(truth).Draw(r, "run")
		examples := rapid.SliceOfN(rapid.IntRange(0, len(truth)-1), len(truth), len(truth)).Draw(r, "examples")
		var sampledTruth, sampledRun []string
		for _, i := range examples {
			sampledTruth = append(sampledTruth, truth[i])
			sampledRun = append(sampledRun, run[i])
		}
		var known bool // a run with no label of the truth is refused
		for _, v := range sampledRun {
			known = known || slices.Contains(sampledTruth, v)
		}
		if !known && settings.Kind == measure.Classification {
			r.Skip()
		}
		for _, name := range settings.Measures {
			one := settings
			one.Measures = slices.Compact([]string{name, settings.Measures[1]}) // the first is resampled
			m, err := measure.Parse(one.Kind, name)
			if err != nil {
				r.Fatal(err)
			}
			got := evaluateLines(r, t, one, truth, run).Resample(steps.Of(t.Context()), examples)
			want := evaluateLines(r, t, one, sampledTruth, sampledRun).Result.Measures[m.String()]
			if (got == nil) != (want == nil) || got != nil && math.Abs(*got-*want) > 1e-9 {
				r.Fatalf("%s of %v among %v and %v is %v, want %v", name, examples, truth, run, got, want)
			}
		}
	})
}
