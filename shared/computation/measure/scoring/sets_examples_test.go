package scoring_test

import (
	"math"
	"slices"
	"testing"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/scoring"
	"assay/shared/computation/measure/steps"
	"assay/shared/testing/nightlytest"

	"pgregory.net/rapid"
)

// TestEvaluation_OfExamplesWithSetsAndScores compares values by example with their means, and samples with evaluations of sampled lines.
func TestEvaluation_OfExamplesWithSetsAndScores(t *testing.T) {
	sets := scoring.Settings{Kind: measure.Multilabel, Format: classificationSettings.Format,
		Measures: []string{"ExactMatch", "HammingLoss", "F1(average=samples)", "F1(average=macro)", "Recall(average=micro)"}}
	scores := scoring.Settings{Kind: measure.Probabilities, Format: classificationSettings.Format,
		Measures: []string{"LogLoss(positive=1)", "Brier(positive=1)", "AUC", "AP", "PAN"}}
	means := []string{"ExactMatch", "HammingLoss", "F1(average=samples)", "LogLoss(positive=1)", "Brier(positive=1)"}
	nightlytest.Check(t, func(r *rapid.T) {
		settings := sets
		labels := []string{"1", "2|1", "3", "1|2|3"}
		predictions := []string{"1", "2|1", "3", "1|2|3", "1|4"}
		if rapid.Bool().Draw(r, "scores") {
			settings = scores
			labels = []string{"1", "2"}
			predictions = []string{"0", "0.25", "0.5", "1"}
		}
		n := rapid.IntRange(2, 12).Draw(r, "n")
		truth := rapid.SliceOfN(rapid.SampledFrom(labels), n, n).Draw(r, "truth")
		run := rapid.SliceOfN(rapid.SampledFrom(predictions), n, n).Draw(r, "run")
		examples := rapid.SliceOfN(rapid.IntRange(0, n-1), n, n).Draw(r, "examples")
		truth[0] = "1"
		run[0] = "1"
		examples[0] = 0 // a run with no label of the truth is refused
		var sampledTruth, sampledRun []string
		for _, i := range examples {
			sampledTruth = append(sampledTruth, truth[i])
			sampledRun = append(sampledRun, run[i])
		}
		e := evaluateLines(r, t, settings, truth, run)
		sampled := evaluateLines(r, t, settings, sampledTruth, sampledRun).Result
		for _, name := range settings.Measures {
			one := settings
			one.Measures = []string{name}
			got := evaluateLines(r, t, one, truth, run).Resample(steps.Of(t.Context()), examples)
			want := sampled.Measures[name]
			if (got == nil) != (want == nil) || got != nil && math.Abs(*got-*want) > 1e-9 {
				r.Errorf("%s of %v among %v and %v is %v, want %v", name, examples, truth, run, got, want)
			}
			sum, count := 0.0, 0
			for _, values := range e.Result.PerTopic {
				if x, ok := values[name]; ok {
					sum, count = sum+x, count+1
				}
			}
			if isMean := slices.Contains(means, name); !isMean && count > 0 ||
				isMean && (count != n || math.Abs(sum/float64(n)-*e.Result.Measures[name]) > 1e-9) {
				r.Errorf("%s of %v and %v has %d values by example with the sum %v", name, truth, run, count, sum)
			}
		}
	})
}
