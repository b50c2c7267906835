package tools

import (
	"cmp"
	"context"

	"assay/functions/tools/inputs"
	"assay/functions/tools/significance"
)

// SignificanceInput has the runs to compare, and the settings.
type SignificanceInput struct {
	Runs       []inputs.RunReference  `json:"runs" minItems:"2" maxItems:"20" doc:"the runs; each is compared with each other"`
	Truth      *inputs.TruthReference `json:"truth,omitempty" doc:"what to evaluate against; unless given, runs of the platform have the values that they were evaluated with"`
	Measure    string                 `json:"measure,omitempty" maxLength:"100" doc:"a measure in the grammar of ir-measures; the primary one unless given. One without values per topic or by example is compared by the bootstrap" example:"AP"`
	Test       string                 `json:"test,omitempty" enum:"randomization,t,wilcoxon,mcnemar,bootstrap" doc:"the test that verdict, matrix and conclusion go by. Unless given: bootstrap for a measure without values per topic or by example, mcnemar for labels that are right or wrong, t for other values by example where only organizers are shown these, and else randomization, as it assumes least"`
	Correction string                 `json:"correction,omitempty" enum:"holm,bonferroni,benjamini-hochberg,none" doc:"for the number of pairs, of what verdict, matrix and conclusion go by; holm unless given"`
	Seed       uint64                 `json:"seed,omitempty" maximum:"9007199254740991" doc:"of what is drawn at random; the same seed gives the same answer. It says nothing where the answer is rounded"`
	Rounds     int                    `json:"rounds,omitempty" minimum:"100" maximum:"100000" doc:"combinations of signs that the randomization test draws for each pair, or samples that the bootstrap draws; 10,000 unless given, or as many as there is time for. pairs × rounds × topics is at most 2,000,000,000, and for the bootstrap runs × rounds × examples at most 30,000,000. It says nothing where the answer is rounded"`
}

// SignificanceOutput is how runs differ.
type SignificanceOutput struct {
	MeasureUsed
	Topics     int                `json:"topics" doc:"topics or examples that all runs have a value for, over which they are paired"`
	LeftOut    int                `json:"leftOut" doc:"topics that only some of the runs have a value for"`
	Rounds     int                `json:"rounds" doc:"of the randomization test or the bootstrap; 0 without"`
	Rounded    bool               `json:"rounded,omitempty" doc:"whether the answer tells no more than all who see the measures may know, because values by example tell the truth and are for organizers: each p is of one test and, before it is corrected, rounded up to 0.00001, 0.0001, 0.001, 0.01, 0.04, 0.2 or 1; intervals, and p of the bootstrap, are by the normal distribution"`
	Test       string             `json:"test" doc:"that verdict and conclusion go by"`
	Correction string             `json:"correction" doc:"that verdict and conclusion go by"`
	Runs       []SignificanceRun  `json:"runs" doc:"in the order asked for"`
	Pairs      []SignificancePair `json:"pairs" doc:"of each run with those after it"`
	Conclusion string             `json:"conclusion" doc:"what can be distinguished at the level 0.05, in words"`

	phrases []phrase // the conclusion
	unit    string   // what values are of: topics or examples
}

// SignificanceRun is one of the runs that are compared.
type SignificanceRun struct {
	MeasuredRun
	Mean     float64               `json:"mean" doc:"over the paired topics; for the bootstrap, the value of the measure"`
	Interval significance.Interval `json:"interval" doc:"95 % bootstrap interval of that"`
}

// SignificancePair is the comparison of two runs.
type SignificancePair struct {
	First         int                      `json:"first" doc:"index of a run"`
	Second        int                      `json:"second" doc:"index of the run that it is compared with"`
	Difference    float64                  `json:"difference" doc:"mean of the first less that of the second, or of the values of the measure"`
	CohensD       *float64                 `json:"cohensD" doc:"size of the effect: the difference in standard deviations of the differences by topic; null when it is not defined"`
	T             *significance.TTest      `json:"t,omitempty" doc:"Student's t-test of paired values; absent when it is not defined"`
	Wilcoxon      *significance.SignedRank `json:"wilcoxon,omitempty" doc:"Wilcoxon's signed-rank test; absent when it is not defined"`
	Randomization *significance.SignFlips  `json:"randomization,omitempty" doc:"Fisher's randomization test; absent when it is not defined"`
	McNemar       *significance.Discordant `json:"mcnemar,omitempty" doc:"McNemar's exact test of values 0 and 1; absent for others"`
	Bootstrap     *significance.Resampled  `json:"bootstrap,omitempty" doc:"paired bootstrap: both runs are measured on the same samples of examples; absent unless test is bootstrap"`
	Holm          SignificanceCorrected    `json:"holm" doc:"p of each test by Holm's correction over all pairs"`
	Bonferroni    SignificanceCorrected    `json:"bonferroni" doc:"p of each test by Bonferroni's correction over all pairs"`
	BH            SignificanceCorrected    `json:"benjaminiHochberg" doc:"p of each test by the correction of Benjamini and Hochberg over all pairs, which bounds the expected share of wrong ones among the differences found"`
	Reasons       map[string]string        `json:"reasons,omitempty" doc:"why a test is absent or cohensD null, by the name"`
	P             *float64                 `json:"p" doc:"p by the test and the correction that the verdict goes by; null when the test is not defined"`
	Different     bool                     `json:"different" doc:"the verdict: whether that p is below 0.05"`

	uncorrected SignificanceCorrected // p of each test as it is, or rounded up
}

// SignificanceCorrected is the p of each test, corrected. Tests without a p count as tests too.
type SignificanceCorrected struct {
	T             *float64 `json:"t"`
	Wilcoxon      *float64 `json:"wilcoxon"`
	Randomization *float64 `json:"randomization"`
	McNemar       *float64 `json:"mcnemar"`
	Bootstrap     *float64 `json:"bootstrap"`
}

const (
	// significanceLevel is the p below which a difference counts as one.
	significanceLevel = 0.05
	// maxSignDraws bounds the signs that randomization tests draw for one answer: some seconds' work.
	maxSignDraws = 2_000_000_000
	// maxSampled bounds the examples that a bootstrap measures: a second's work for most measures, and some ten for those that sort them.
	maxSampled = 30_000_000
	// maxRuns is how many runs are compared at most.
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
	description: "Compares each run with each other over the topics that all of them have: Student's t-test, Wilcoxon's signed-rank test " +
		"and Fisher's randomization test of paired values, McNemar's exact test of values 0 and 1, the size of the effect, and p corrected by " +
		"Holm, by Bonferroni, and by Benjamini and Hochberg for the number of pairs; all tests are two-sided. The page has the means with 95 % " +
		"intervals, a matrix and a sentence on what can be distinguished; as `image/svg+xml` the answer is the matrix.\n\n" +
		"Measures that are means over examples, such as Accuracy and MAE, are compared over up to 10,000 examples in the same way. Measures " +
		"of all examples together, such as macro F1, BLEU and F1 of spans, are compared by the paired bootstrap over as many. Runs of the " +
		"platform need no truth for that. Values of single labels and numbers tell the truth, so that the answer is `rounded` for others than " +
		"organizers, unless a truth is sent along.\n\n" +
		"Matrix and sentence go by Holm's correction, and by the test that suits the values, unless `test` and `correction` say otherwise.",
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
		return out, nil
	}, nil
})
