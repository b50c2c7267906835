package tools

import (
	"cmp"
	"context"
	"strings"

	"assay/functions/tools/inputs"
	"assay/functions/tools/significance"
	"assay/shared/plural"
	"assay/shared/problem"
)

// SignificanceInput has the runs to compare, and the settings.
type SignificanceInput struct {
	Runs       []inputs.RunReference  `json:"runs" minItems:"2" maxItems:"20" doc:"the runs; each is compared with each other"`
	Truth      *inputs.TruthReference `json:"truth,omitempty" doc:"what to evaluate against; unless given, runs of the platform have the values that they were evaluated with"`
	Measure    string                 `json:"measure,omitempty" maxLength:"100" doc:"a measure with values per topic, in the grammar of ir-measures; the primary one unless given" example:"AP"`
	Test       string                 `json:"test,omitempty" enum:"randomization,t,wilcoxon" doc:"the test that verdict, matrix and conclusion go by, since every pair has all three; randomization unless given, as it assumes least"`
	Correction string                 `json:"correction,omitempty" enum:"holm,bonferroni,benjamini-hochberg,none" doc:"for the number of pairs, of what verdict, matrix and conclusion go by; holm unless given"`
	Seed       uint64                 `json:"seed,omitempty" maximum:"9007199254740991" doc:"of what is drawn at random; the same seed gives the same answer"`
	Rounds     int                    `json:"rounds,omitempty" minimum:"100" maximum:"100000" doc:"combinations of signs that the randomization test draws for each pair; 10,000 unless given, or as many as there is time for with many pairs of many topics. pairs × rounds × topics is at most 2,000,000,000"`
}

// SignificanceOutput is how runs differ.
type SignificanceOutput struct {
	MeasureUsed
	Topics     int                `json:"topics" doc:"topics that all runs have a value for, over which they are paired"`
	LeftOut    int                `json:"leftOut" doc:"topics that only some of the runs have a value for"`
	Rounds     int                `json:"rounds" doc:"of the randomization test"`
	Test       string             `json:"test" doc:"that verdict and conclusion go by"`
	Correction string             `json:"correction" doc:"that verdict and conclusion go by"`
	Runs       []SignificanceRun  `json:"runs" doc:"in the order asked for"`
	Pairs      []SignificancePair `json:"pairs" doc:"of each run with those after it"`
	Conclusion string             `json:"conclusion" doc:"what can be distinguished at the level 0.05, in words"`

	phrases []phrase // the conclusion
}

// SignificanceRun is one of the runs that are compared.
type SignificanceRun struct {
	MeasuredRun
	Mean     float64               `json:"mean" doc:"over the paired topics"`
	Interval significance.Interval `json:"interval" doc:"95 % bootstrap interval of the mean"`
}

// SignificancePair is the comparison of two runs.
type SignificancePair struct {
	First         int                      `json:"first" doc:"index of a run"`
	Second        int                      `json:"second" doc:"index of the run that it is compared with"`
	Difference    float64                  `json:"difference" doc:"mean of the first less that of the second"`
	CohensD       *float64                 `json:"cohensD" doc:"size of the effect: the difference in standard deviations of the differences by topic; null when it is not defined"`
	T             *significance.TTest      `json:"t,omitempty" doc:"Student's t-test of paired values; absent when it is not defined"`
	Wilcoxon      *significance.SignedRank `json:"wilcoxon,omitempty" doc:"Wilcoxon's signed-rank test; absent when it is not defined"`
	Randomization *significance.SignFlips  `json:"randomization,omitempty" doc:"Fisher's randomization test; absent when it is not defined"`
	Holm          SignificanceCorrected    `json:"holm" doc:"p of each test by Holm's correction over all pairs"`
	Bonferroni    SignificanceCorrected    `json:"bonferroni" doc:"p of each test by Bonferroni's correction over all pairs"`
	BH            SignificanceCorrected    `json:"benjaminiHochberg" doc:"p of each test by the correction of Benjamini and Hochberg over all pairs, which bounds the expected share of wrong ones among the differences found"`
	Reasons       map[string]string        `json:"reasons,omitempty" doc:"why a test is absent or cohensD null, by the name"`
	P             *float64                 `json:"p" doc:"p by the test and the correction that the verdict goes by; null when the test is not defined"`
	Different     bool                     `json:"different" doc:"the verdict: whether that p is below 0.05"`
}

// SignificanceCorrected is the p of each test, corrected. Tests without a p count as tests too.
type SignificanceCorrected struct {
	T             *float64 `json:"t"`
	Wilcoxon      *float64 `json:"wilcoxon"`
	Randomization *float64 `json:"randomization"`
}

const (
	// significanceLevel is the p below which a difference counts as one.
	significanceLevel = 0.05
	// maxSignDraws bounds the signs that randomization tests draw for one answer: some seconds' work.
	maxSignDraws = 2_000_000_000
)

// Names of tests and corrections.
const (
	byT, byWilcoxon, byRandomization   = "t", "wilcoxon", "randomization"
	byHolm, byBonferroni, byBH, byNone = "holm", "bonferroni", "benjamini-hochberg", "none"
)

var significanceTool = define(metadata{
	name: "significance", kind: "comparison", problems: valueProblems, summary: "Test whether runs differ",
	description: "Compares each run with each other over the topics that all of them have: Student's t-test, Wilcoxon's signed-rank test " +
		"and Fisher's randomization test of paired values, the size of the effect, and p corrected by Holm, by Bonferroni, and by Benjamini " +
		"and Hochberg for the number of pairs; all tests are two-sided. The page has the means with 95 % intervals, a matrix and a sentence " +
		"on what can be distinguished; as `image/svg+xml` the answer is the matrix.\n\n" +
		"Matrix and sentence go by the randomization test with Holm's correction, unless `test` and `correction` say otherwise.",
}, SignificanceInput{
	Runs: exampleRuns, Truth: exampleTruth, Measure: "nDCG@10", Seed: 1,
}, func(ctx context.Context, resolver *inputs.Resolver, in SignificanceInput) (compute[SignificanceOutput], error) {
	results, err := resolver.Results(ctx, oneMeasureRequest(in.Runs, in.Truth, in.Measure))
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (out SignificanceOutput, err error) {
		out = SignificanceOutput{
			MeasureUsed: measureUsed(results), Test: cmp.Or(in.Test, byRandomization), Correction: cmp.Or(in.Correction, byHolm),
		}
		by, topics, err := valuesByTopic(ctx, results)
		if err != nil {
			return out, err
		}
		paired := pairedValues(by, topics)
		if out.Topics = len(paired[0]); out.Topics == 0 {
			return out, problem.InvalidMember("/runs", "have no topic in common: name runs with values for the same topics")
		}
		out.LeftOut = len(topics) - out.Topics
		if out.Rounds, err = randomizationRounds(in.Rounds, len(in.Runs)*(len(in.Runs)-1)/2, out.Topics); err != nil {
			return out, err
		}
		draws := bootstrapRounds(len(paired) * out.Topics)
		for i, r := range results.Runs {
			interval, err := significance.Bootstrap(paired[i], in.Seed, draws)
			if err != nil {
				return out, err
			}
			out.Runs = append(out.Runs, SignificanceRun{measuredRun(r), average(paired[i]), interval})
		}
		if err := out.comparePairs(ctx, paired, in.Seed); err != nil {
			return out, err
		}
		out.phrases = out.conclude()
		out.Conclusion = plainText(out.phrases)
		return out, nil
	}, nil
})

// randomizationRounds is how many rounds the randomization test has time for, or as many as are asked for.
func randomizationRounds(asked, pairs, topics int) (int, error) {
	most := maxSignDraws / (pairs * topics)
	switch {
	case most < minRounds:
		return 0, problem.InvalidMember("/runs",
			"there is no time to test %s of runs on %s: name fewer runs, or runs with fewer topics", plural.Count(pairs, "pair"),
			plural.Count(topics, "topic"))
	case asked == 0:
		return min(significance.Rounds, most), nil
	case asked > most:
		return 0, problem.InvalidMember("/rounds",
			"there is time for %d rounds of %s of runs on %s: ask for no more, name fewer runs, or leave rounds out", most,
			plural.Count(pairs, "pair"), plural.Count(topics, "topic"))
	}
	return asked, nil
}

// of is where the p of a test stands.
func (c *SignificanceCorrected) of(test string) **float64 {
	return map[string]**float64{byT: &c.T, byWilcoxon: &c.Wilcoxon, byRandomization: &c.Randomization}[test]
}

// uncorrected is the p of each test as it is.
func (p *SignificancePair) uncorrected() *SignificanceCorrected {
	c := new(SignificanceCorrected)
	if p.T != nil {
		c.T = &p.T.P
	}
	if p.Wilcoxon != nil {
		c.Wilcoxon = &p.Wilcoxon.P
	}
	if p.Randomization != nil {
		c.Randomization = &p.Randomization.P
	}
	return c
}

// corrections are those that every test has, besides byNone.
var corrections = map[string]struct {
	adjust func([]float64) []float64
	of     func(*SignificancePair) *SignificanceCorrected
}{
	byHolm:       {significance.Holm, func(p *SignificancePair) *SignificanceCorrected { return &p.Holm }},
	byBonferroni: {significance.Bonferroni, func(p *SignificancePair) *SignificanceCorrected { return &p.Bonferroni }},
	byBH:         {significance.BenjaminiHochberg, func(p *SignificancePair) *SignificanceCorrected { return &p.BH }},
}

// comparePairs fills in the pairs. The values of the runs are of the same topics.
func (out *SignificanceOutput) comparePairs(ctx context.Context, values [][]float64, seed uint64) error {
	for i := range values {
		for j := i + 1; j < len(values); j++ {
			if err := ctx.Err(); err != nil {
				return err
			}
			out.Pairs = append(out.Pairs, comparePair(i, j, values[i], values[j], seed, out.Rounds))
		}
	}
	for _, test := range []string{byT, byWilcoxon, byRandomization} {
		out.correct(test)
	}
	for i := range out.Pairs {
		p := &out.Pairs[i]
		by := p.uncorrected()
		if c, ok := corrections[out.Correction]; ok {
			by = c.of(p)
		}
		p.P = *by.of(out.Test)
		p.Different = p.P != nil && *p.P < significanceLevel
	}
	return nil
}

// correct fills in the p of a test by the corrections. A test that is not defined counts as one that found nothing.
func (out *SignificanceOutput) correct(test string) {
	chances := make([]float64, len(out.Pairs))
	for i := range out.Pairs {
		chances[i] = 1
		if p := *out.Pairs[i].uncorrected().of(test); p != nil {
			chances[i] = *p
		}
	}
	for _, c := range corrections {
		adjusted := c.adjust(chances)
		for i := range out.Pairs {
			if p := &out.Pairs[i]; *p.uncorrected().of(test) != nil {
				*c.of(p).of(test) = &adjusted[i]
			}
		}
	}
}

func comparePair(first, second int, a, b []float64, seed uint64, rounds int) SignificancePair {
	p := SignificancePair{First: first, Second: second, Difference: average(a) - average(b), Reasons: map[string]string{}}
	d, err := significance.CohensD(a, b)
	p.CohensD = testResult(&p, "cohensD", d, err)
	t, err := significance.PairedT(a, b)
	p.T = testResult(&p, byT, t, err)
	w, err := significance.Wilcoxon(a, b)
	p.Wilcoxon = testResult(&p, byWilcoxon, w, err)
	f, err := significance.Randomization(a, b, seed, rounds)
	p.Randomization = testResult(&p, byRandomization, f, err)
	return p
}

// testResult is the result of a test; nil, with the reason kept, when the test is not defined for the values.
func testResult[R any](p *SignificancePair, test string, result R, err error) *R {
	if err != nil { // the call is right, so that the error is about the values
		p.Reasons[test] = strings.TrimPrefix(err.Error(), significance.ErrUndefined.Error()+": ")
		return nil
	}
	return &result
}

// average is the mean of values, of which there are some.
func average(values []float64) float64 {
	sum := 0.0
	for _, x := range values {
		sum += x
	}
	return sum / float64(len(values))
}
