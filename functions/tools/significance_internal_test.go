package tools

import (
	"testing"

	"assay/functions/tools/significance"
)

// TestProbability_DoesNotCrossLevelsByRounding: what is below a level is not shown as that, and the other way round.
func TestProbability_DoesNotCrossLevelsByRounding(t *testing.T) {
	for p, want := range map[float64]string{
		0: "<0.0001", 1. / 10_001: "<0.0001", 1. / 10_000: "0.0001", 3. / 10_001: "0.0003", .00014: "0.0001",
		.04996: "<0.0500", .05: "0.0500", .05004: "0.0500", .0499: "0.0499", 1: "1.0000",
	} {
		if got := probability(&p); got != want {
			t.Errorf("%v is shown as %s, want %s", p, got, want)
		}
	}
	if got := probability(nil); got != "–" {
		t.Error(got)
	}
}

// TestSignificance_ConcludesByTheTest has verdicts that do not follow from the means: ranks against them, and tests without a p.
func TestSignificance_ConcludesByTheTest(t *testing.T) {
	pair := func(first, second int, difference, plus, minus float64, different bool) SignificancePair {
		p := SignificancePair{First: first, Second: second, Difference: difference, Different: different, Wilcoxon: &significance.SignedRank{
			Plus: plus, Minus: minus}}
		if plus != minus {
			p.P = new(.01)
		}
		return p
	}
	runs := func(means ...float64) (all []SignificanceRun) {
		for i, mean := range means {
			all = append(all, SignificanceRun{Name: string(rune('A' + i)), Mean: mean})
		}
		return all
	}
	const by = " (Wilcoxon's signed-rank test, Holm's correction, p below 0.05)."
	const undefined = " the test is not defined, since all differences are the same; use the randomization test."
	for name, c := range map[string]struct {
		runs  []SignificanceRun
		pairs []SignificancePair
		less  bool // is better
		want  string
	}{
		"as the means": {runs(.6, .5), []SignificancePair{pair(0, 1, .1, 9, 1, true)}, false, "A is better than B" + by},
		"less":         {runs(.6, .5), []SignificancePair{pair(0, 1, .1, 9, 1, true)}, true, "B is better than A" + by},
		"against them": {runs(.4, .5), []SignificancePair{pair(0, 1, -.1, 9, 1, true)}, false,
			"A is better than B by the ranks of the differences, though not by the mean" + by},
		"nothing": {runs(.4, .5), []SignificancePair{pair(0, 1, -.1, 0, 0, false)}, false, "Nothing can be said of 2 runs on 7 topics" + by +
			" Of 1 pair" + undefined},
		"equal": {runs(.5, .5), []SignificancePair{pair(0, 1, 0, 0, 0, false)}, false,
			"The two runs cannot be distinguished on 7 topics" + by},
		"some": {runs(.6, .5, .4), []SignificancePair{pair(0, 1, .1, 9, 1, true), pair(0, 2, .2, 0, 0, false), pair(1, 2, .1, 5, 4, false)},
			false,
			"A is better than B; 1 other pair cannot be distinguished on 7 topics" + by + " Of 1 pair" + undefined},
		"many": {runs(.9, .5, .4, .3), []SignificancePair{
			pair(0, 1, .4, 9, 1, true), pair(0, 2, .5, 9, 1, true), pair(0, 3, .6, 9, 1, true), pair(1, 2, .1, 9, 1, true),
			pair(1, 3, .2, 9, 1, true), pair(2, 3, .1, 5, 4, false),
		}, false, "5 of 6 pairs can be distinguished. A is better than every other run" + by},
		"many, one against": {runs(.9, .5, .4, .3), []SignificancePair{
			pair(0, 1, .4, 1, 9, true), pair(0, 2, .5, 9, 1, true), pair(0, 3, .6, 9, 1, true), pair(1, 2, .1, 9, 1, true),
			pair(1, 3, .2, 9, 1, true), pair(2, 3, .1, 5, 4, false),
		}, false, "5 of 6 pairs can be distinguished. A has the best mean" + by},
	} {
		out := SignificanceOutput{Test: byWilcoxon, Correction: byHolm, Topics: 7, Runs: c.runs, Pairs: c.pairs, LowerIsBetter: c.less}
		if got := plainText(out.conclude()); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, c.want)
		}
	}
}
