package scoring

import (
	"testing"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/measuretest"
)

func TestCost_TellsWhatRunsTake(t *testing.T) {
	measures := measuretest.Parse(t, measure.Classification, "Accuracy", "Kappa", "MCC", "F1(average=macro)")
	for each, want := range map[int][]string{
		muchSteps/4 - 1: nil,
		muchSteps / 4:   {" warning: evaluating one run takes about 1000 million steps, about 4s, for 5 examples and 4 measures"},
		MaxSteps / 4:    {" warning: evaluating one run takes about 20000 million steps, about 1m20s, for 5 examples and 4 measures"},
		MaxSteps/4 + 1: {" error: evaluating one run takes about 20000 million steps, about 1m20s, for 5 examples and 4 measures; " +
			"expected at most 20000 million steps: leave out measures such as Kappa, MCC, F1(average=macro), or a part of the truth"},
	} {
		truth := &Evaluator{measures: measures, truth: &measure.Reference{
			Extent: "5 examples",
			Steps: func(asked []measure.Measure) int {
				if len(asked) == 1 && asked[0].Name == "Accuracy" {
					return 0
				}
				return each * len(asked)
			},
		}}
		measuretest.Expect(t, truth.Cost(), want...)
	}
}

// TestSteps_CountReadingForEachHalf counts the steps of a reference that takes 1,000 steps to read a run and 10 steps for each measure.
func TestSteps_CountReadingForEachHalf(t *testing.T) {
	reference := func(read, each int) *measure.Reference {
		return &measure.Reference{Extent: "5 examples", Steps: func(asked []measure.Measure) int { return read + each*len(asked) }}
	}
	truth := &Evaluator{
		measures: measuretest.Parse(t, measure.Classification, "Accuracy", "Kappa"),
		truth:    reference(1000, 10),
		halves:   []half{{measure.PublicHalf, reference(300, 3)}, {measure.PrivateHalf, reference(700, 7)}},
	}
	if got, want := truth.Steps(), 3*1000+2*(10+3+7); got != want {
		t.Errorf("got %d steps, want %d", got, want)
	}
	truth.truth = reference(muchSteps, 0)
	measuretest.Expect(t, truth.Cost(), " warning: evaluating one run takes about 3000 million steps, about 12s, for 5 examples, both halves "+
		"and 2 measures")
}
