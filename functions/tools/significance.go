package tools

import (
	"cmp"
	"context"

	"assay/functions/tools/inputs"
	"assay/functions/tools/significance"
)

// SignificanceInput holds the runs to compare, and the settings.
type SignificanceInput struct {
	Runs       []inputs.RunReference  `json:"runs" minItems:"2" maxItems:"20" doc:"the runs; each is compared with each other"`
	Truth      *inputs.TruthReference `json:"truth,omitempty" doc:"the ground truth; by default, stored runs have the values of their evaluations"`
	Measure    string                 `json:"measure,omitempty" maxLength:"100" doc:"a measure in the grammar of ir-measures; default the measure that ranks. The bootstrap compares measures without values per topic or by example" example:"AP"`
	Test       string                 `json:"test,omitempty" enum:"randomization,t,wilcoxon,mcnemar,bootstrap" doc:"the test behind verdict, matrix and conclusion. Default: bootstrap for a measure without values per topic or by example; mcnemar for labels that are right or wrong; t for other values by example that only organizers may see; otherwise randomization, which assumes least"`
	Correction string                 `json:"correction,omitempty" enum:"holm,bonferroni,benjamini-hochberg,none" doc:"the correction for the number of pairs behind verdict, matrix and conclusion; default holm"`
	Seed       uint64                 `json:"seed,omitempty" maximum:"9007199254740991" doc:"seed of the random draws; the same seed gives the same answer. It has no effect if the answer is rounded"`
	Rounds     int                    `json:"rounds,omitempty" minimum:"100" maximum:"100000" doc:"number of combinations of signs that the randomization test draws for each pair, or of samples that the bootstrap draws; default 10,000, or fewer if time is short. pairs × rounds × topics is at most 2,000,000,000, and for the bootstrap runs × rounds × examples at most 30,000,000. It has no effect if the answer is rounded"`
}

// SignificanceOutput describes how runs differ.
type SignificanceOutput struct {
	MeasureUsed
	Topics        int                `json:"topics" doc:"number of topics or examples for which all runs have a value; the values are paired over them"`
	LeftOut       int                `json:"leftOut" doc:"number of topics for which only some of the runs have a value"`
	Rounds        int                `json:"rounds" doc:"rounds of the randomization test or the bootstrap; 0 without them"`
	Rounded       bool               `json:"rounded,omitempty" doc:"whether the answer is limited to what everyone who sees the measures may know, because values by example reveal the truth and only organizers may see them. Then each p belongs to one test and is rounded up, before its correction, to 0.00001, 0.0001, 0.001, 0.01, 0.04, 0.2 or 1. Intervals, and p of the bootstrap, come from the normal distribution, so an interval can end outside the range of the measure"`
	IntervalsNote string             `json:"intervalsNote" doc:"where the intervals come from, and whether they can end outside the range of the measure"`
	Test          string             `json:"test" doc:"test behind verdict and conclusion"`
	Correction    string             `json:"correction" doc:"correction behind verdict and conclusion"`
	Runs          []SignificanceRun  `json:"runs" doc:"in the order asked for"`
	Pairs         []SignificancePair `json:"pairs" doc:"pairs of each run with each later run"`
	Conclusion    string             `json:"conclusion" doc:"the differences at the level 0.05, in words"`

	phrases []phrase // the conclusion in parts
	unit    string   // what one value belongs to: a topic or an example
}

// SignificanceRun is one of the runs that are compared.
type SignificanceRun struct {
	MeasuredRun
	Mean     float64               `json:"mean" doc:"mean over the paired topics; for the bootstrap, the value of the measure"`
	Interval significance.Interval `json:"interval" doc:"95 % interval of the mean, from the bootstrap unless the answer is rounded"`
}

// SignificancePair is the comparison of two runs.
type SignificancePair struct {
	First         int                      `json:"first" doc:"index of a run"`
	Second        int                      `json:"second" doc:"index of the run that it is compared with"`
	Difference    float64                  `json:"difference" doc:"mean of the first run minus mean of the second run; for the bootstrap, the difference of their values"`
	CohensD       *float64                 `json:"cohensD" doc:"size of the effect: the difference divided by the standard deviation of the differences by topic; null if it is not defined"`
	T             *significance.TTest      `json:"t,omitempty" doc:"Student's t-test of paired values; absent when it is not defined"`
	Wilcoxon      *significance.SignedRank `json:"wilcoxon,omitempty" doc:"Wilcoxon's signed-rank test; absent when it is not defined"`
	Randomization *significance.SignFlips  `json:"randomization,omitempty" doc:"Fisher's randomization test; absent when it is not defined"`
	McNemar       *significance.Discordant `json:"mcnemar,omitempty" doc:"McNemar's exact test of values 0 and 1; absent for other values"`
	Bootstrap     *significance.Resampled  `json:"bootstrap,omitempty" doc:"paired bootstrap: both runs are measured on the same samples of examples; absent unless test is bootstrap"`
	Holm          SignificanceCorrected    `json:"holm" doc:"p of each test by Holm's correction over all pairs"`
	Bonferroni    SignificanceCorrected    `json:"bonferroni" doc:"p of each test by Bonferroni's correction over all pairs"`
	BH            SignificanceCorrected    `json:"benjaminiHochberg" doc:"p of each test by the correction of Benjamini and Hochberg over all pairs, which bounds the expected share of false discoveries among the differences found"`
	Reasons       map[string]string        `json:"reasons,omitempty" doc:"by name: why a test is absent or cohensD is null"`
	P             *float64                 `json:"p" doc:"p by the test and the correction behind the verdict; null if the test is not defined"`
	Different     bool                     `json:"different" doc:"the verdict: whether p is below 0.05"`

	uncorrected SignificanceCorrected // p of each test before correction, rounded up if the answer is rounded
}

// SignificanceCorrected holds the corrected p of each test. A test without p has nil, and counts in the corrections as a test
// with p = 1.
type SignificanceCorrected struct {
	T             *float64 `json:"t"`
	Wilcoxon      *float64 `json:"wilcoxon"`
	Randomization *float64 `json:"randomization"`
	McNemar       *float64 `json:"mcnemar"`
	Bootstrap     *float64 `json:"bootstrap"`
}

const (
	// significanceLevel is the p below which a difference is significant.
	significanceLevel = 0.05
	// maxSignDraws bounds the signs that the randomization tests of one answer draw. They take some seconds.
	maxSignDraws = 2_000_000_000
	// maxSampled bounds the examples that a bootstrap measures. They take one second for most measures, and about ten for
	// measures that sort.
	maxSampled = 30_000_000
	// maxRuns is the largest number of runs that can be compared.
	maxRuns = 20
)

// Names of tests and corrections.
const (
	byT                    = "t"
	byWilcoxon             = "wilcoxon"
	byRandomization        = "randomization"
	byMcNemar, byBootstrap = "mcnemar", "bootstrap"
	byHolm                 = "holm"
	byBonferroni           = "bonferroni"
	byBH                   = "benjamini-hochberg"
	byNone                 = "none"
)

var allTests = []string{byT, byWilcoxon, byRandomization, byMcNemar, byBootstrap}

var significanceTool = define(metadata{
	name: "significance", kind: "comparison", problems: valueProblems, summary: "Test whether runs differ",
	description: "Compares each run with each other run over the topics that all runs have: Student's t-test, Wilcoxon's signed-rank test " +
		"and Fisher's randomization test of paired values, McNemar's exact test of values 0 and 1, the size of the effect, and p corrected by " +
		"Holm, by Bonferroni, and by Benjamini and Hochberg for the number of pairs; all tests are two-sided. The page has the means with 95 % " +
		"intervals, a matrix and a sentence on what can be distinguished; as `image/svg+xml` the answer is the matrix.\n\n" +
		"Measures that are means over examples, such as Accuracy and MAE, are compared over up to 10,000 examples in the same way. Measures " +
		"of all examples together, such as macro F1, BLEU and F1 of spans, are compared by the paired bootstrap over up to 10,000 examples. " +
		"Stored runs need no truth for that. Values of single labels and numbers reveal the truth. The answer is therefore `rounded` for " +
		"callers other than organizers, unless the request contains a truth.\n\n" +
		"Matrix and sentence use Holm's correction and the test that suits the values, unless `test` and `correction` say otherwise.",
}, SignificanceInput{
	Runs: exampleRuns, Truth: exampleTruth, Measure: "nDCG@10", Seed: 1,
}, func(ctx context.Context, resolver *inputs.Resolver, in SignificanceInput) (compute[SignificanceOutput], error) {
	asked := oneMeasureRequest(in.Runs, in.Truth, in.Measure)
	asked.ByExample = true
	results, err := resolver.Results(ctx, asked)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (out SignificanceOutput, err error) {
		values, err := results.Values(ctx)
		if err != nil {
			return out, err
		}
		out = SignificanceOutput{MeasureUsed: measureUsed(results), Correction: cmp.Or(in.Correction, byHolm), unit: results.Unit()}
		if err := out.compare(ctx, in, results, values); err != nil {
			return out, err
		}
		out.correctAll()
		out.phrases = out.conclude()
		out.Conclusion = plainText(out.phrases)
		out.IntervalsNote = intervalsNote(out.Rounded)
		return out, nil
	}, nil
})
