package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"assay/functions/tools/inputs"
	"assay/functions/tools/significance"
	"assay/shared/computation/measure"
	"assay/shared/computation/measure/steps"
	"assay/shared/language/lists"
	"assay/shared/language/plural"
	"assay/shared/language/problem"

	"golang.org/x/sync/errgroup"
)

// compare compares the runs by their values. If the measure has only one value for all examples, it compares them over samples of
// examples.
func (out *SignificanceOutput) compare(ctx context.Context, in SignificanceInput, results *inputs.Results, values []inputs.Values) error {
	v, err := valuesByTopic(results, values)
	without := slices.IndexFunc(values, func(of inputs.Values) bool { return of.Resample == nil })
	switch {
	case err != nil:
		return err
	case len(v.topics) > 0:
		return out.compareTopics(ctx, in, results, v)
	case without >= 0:
		return v.require(out.Measure, values, whyNone(results, values[without]))
	case in.Test != "" && in.Test != byBootstrap:
		return problem.InvalidMember("/test", "%s compares values by example, and mcnemar those that are 0 or 1; %s has none: leave {test} out "+
			"for the bootstrap, or name a measure that is a mean over examples, such as Accuracy or ExactMatch", in.Test, out.Measure)
	}
	out.Topics = values[0].Examples
	all := make([]sampled, len(values))
	for i, of := range values {
		value := of.Measures[out.Measure]
		if value == nil {
			return problem.InvalidMember(fmt.Sprintf("/runs/%d", i), "has no value of %s: %s", out.Measure, of.Reasons[out.Measure])
		}
		all[i] = sampled{*value, of.Resample}
	}
	return out.compareSamples(ctx, in, results.Runs, all, v.hidden)
}

// compareTopics compares the runs by their values. If the values are hidden, the output reveals no single value.
func (out *SignificanceOutput) compareTopics(ctx context.Context, in SignificanceInput, results *inputs.Results,
	v topicValues) (err error) {
	if results.IsGeometric(out.Measure) {
		return problem.InvalidMember("/measure", "%q is a geometric mean over the topics, and tests compare arithmetic means of their values: "+
			"compare by AP, which has the same values", out.Measure)
	}
	paired := pairedValues(v.by, v.topics)
	out.Topics = len(paired[0])
	if out.Topics == 0 {
		return problem.InvalidMember("/runs", "have no topic in common: name runs with values for the same topics")
	}
	out.LeftOut = len(v.topics) - out.Topics
	out.Rounded = v.hidden
	out.Test = byRandomization
	binary := !slices.ContainsFunc(paired, func(values []float64) bool { return !significance.Binary(values) })
	switch {
	case in.Test == byBootstrap && !out.Rounded:
		return out.compareSamples(ctx, in, results.Runs, lists.Map(paired, meanSampled), false)
	case results.OfExamples() && binary:
		out.Test = byMcNemar
	case out.Rounded:
		out.Test = byT
	}
	interval := significance.Normal
	counter := steps.Of(ctx)
	switch asked := cmp.Or(in.Test, out.Test); {
	case out.Rounded && asked != out.Test:
		return problem.InvalidMember("/test", "must be %s here or left out: values of single examples reveal the truth, so only organizers "+
			"see all tests", out.Test)
	case asked == byMcNemar && !binary:
		return problem.InvalidMember("/test", "mcnemar compares values that are 0 or 1, and these are others: leave it out, or name another test")
	case !out.Rounded:
		out.Test = asked
		if out.Rounds, err = randomizationRounds(in.Rounds, pairCount(paired), out.Topics); err != nil {
			return err
		}
		draws := bootstrapRounds(len(paired) * out.Topics)
		interval = func(values []float64) (significance.Interval, error) {
			return significance.Bootstrap(counter, values, in.Seed, draws)
		}
	}
	for i, r := range results.Runs {
		ends, err := interval(paired[i])
		if counter.Err() != nil {
			return err
		}
		if err != nil {
			return problem.InvalidMember("/runs", "have too few values, or values that are too small or too large to be compared: %v", err)
		}
		out.Runs = append(out.Runs, SignificanceRun{measuredRun(r), average(paired[i]), ends})
	}
	return out.comparePairs(counter, paired, func(p *SignificancePair, a, b []float64) {
		p.Difference = average(a) - average(b)
		if out.Rounded {
			p.Reasons["cohensD"] = "it reveals on how many examples the runs differ, which only organizers may see"
			*p.uncorrected.of(out.Test) = new(roundedP(a, b))
			return
		}
		d, err := significance.CohensD(a, b)
		p.CohensD = testResult(p, "cohensD", &d, nil, err)
		t, err := significance.PairedT(a, b)
		p.T = testResult(p, byT, &t, &t.P, err)
		w, err := significance.Wilcoxon(a, b)
		p.Wilcoxon = testResult(p, byWilcoxon, &w, &w.P, err)
		f, err := significance.Randomization(counter, a, b, in.Seed, out.Rounds)
		p.Randomization = testResult(p, byRandomization, &f, &f.P, err)
		if binary {
			m, err := significance.McNemar(a, b)
			p.McNemar = testResult(p, byMcNemar, &m, &m.P, err)
		}
	})
}

// sampled is a run that can be measured on samples of topics or examples.
type sampled struct {
	value    float64 // on all topics or examples
	resample func(counter *steps.Counter, sample []int) *float64
}

// meanSampled returns a run whose measure is the mean of the values.
func meanSampled(values []float64) sampled {
	return sampled{average(values), func(_ *steps.Counter, sample []int) *float64 {
		sum := 0.0
		for _, i := range sample {
			sum += values[i]
		}
		return new(sum / float64(len(sample)))
	}}
}

// compareSamples compares the runs over samples of topics or examples. If values are hidden, the output reveals as little as that
// of compareTopics. It then does not depend on the seed, the rounds or the other runs of the request.
func (out *SignificanceOutput) compareSamples(ctx context.Context, in SignificanceInput, runs []*inputs.Run, all []sampled,
	hidden bool) error {
	count := len(runs)
	if hidden {
		count = maxRuns
		in.Seed = 0
		in.Rounds = 0
	}
	most := maxSampled / (count * out.Topics)
	if in.Rounds > most {
		return problem.InvalidMember("/rounds",
			"there is time for %d samples of %s for %s: ask for no more, name fewer runs, or leave {rounds} out", most,
			plural.Count(out.Topics, out.unit), plural.Count(count, "run"))
	}
	out.Test = byBootstrap
	out.Rounded = hidden
	out.Rounds = min(cmp.Or(in.Rounds, significance.Rounds), most)
	samples := make([][]float64, len(runs))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0)) // more goroutines would take time from other callers and notice the deadline late
	for i := range runs {
		group.Go(func() error {
			counter := steps.Of(ctx)
			return significance.Samples(counter, out.Topics, in.Seed, out.Rounds, func(sample []int) error {
				samples[i] = append(samples[i], orNaN(all[i].resample(counter, sample)))
				return counter.Err()
			})
		})
	}
	if err := group.Wait(); out.Rounds < minRounds || errors.Is(err, context.DeadlineExceeded) {
		return problem.InvalidMember("/runs", "there is no time to measure %s by %s on samples of %s: name fewer runs, or, where the "+
			"answer is not rounded, ask for fewer rounds", plural.Count(len(runs), "run"), out.Measure, plural.Count(out.Topics, out.unit))
	} else if err != nil {
		return err
	}
	for i, r := range runs {
		interval, err := significance.SampleInterval(samples[i])
		if hidden {
			interval, err = significance.SampleNormal(all[i].value, samples[i])
		}
		if err != nil {
			return problem.InvalidMember(fmt.Sprintf("/runs/%d", i), "cannot be compared by %s over samples of its %ss: %v", out.Measure,
				out.unit, err)
		}
		out.Runs = append(out.Runs, SignificanceRun{measuredRun(r), all[i].value, interval})
	}
	return out.comparePairs(steps.Of(ctx), samples, func(p *SignificancePair, a, b []float64) {
		x, y := all[p.First].value, all[p.Second].value
		p.Difference = x - y
		p.Reasons["cohensD"] = "the bootstrap compares no values of single " + out.unit + "s"
		if hidden {
			level, err := significance.NormalBootstrap(x, y, a, b)
			level = significance.Level(level)
			testResult(p, byBootstrap, &level, &level, err)
			return
		}
		s, err := significance.PairedBootstrap(a, b)
		p.Bootstrap = testResult(p, byBootstrap, &s, &s.P, err)
	})
}

func pairCount[R any](runs []R) int { return len(runs) * (len(runs) - 1) / 2 }

// randomizationRounds returns the rounds of the randomization test: those asked for, or as many as there is time for.
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
			"there is time for %d rounds of %s of runs on %s: ask for no more, name fewer runs, or leave {rounds} out", most,
			plural.Count(pairs, "pair"), plural.Count(topics, "topic"))
	}
	return asked, nil
}

// of returns the address of the p of a test.
func (c *SignificanceCorrected) of(test string) **float64 {
	return map[string]**float64{byT: &c.T, byWilcoxon: &c.Wilcoxon, byRandomization: &c.Randomization, byMcNemar: &c.McNemar,
		byBootstrap: &c.Bootstrap}[test]
}

// corrections lists the corrections that every pair gets. byNone is not among them.
var corrections = map[string]struct {
	adjust func([]float64) []float64
	of     func(*SignificancePair) *SignificanceCorrected
}{
	byHolm:       {significance.Holm, func(p *SignificancePair) *SignificanceCorrected { return &p.Holm }},
	byBonferroni: {significance.Bonferroni, func(p *SignificancePair) *SignificanceCorrected { return &p.Bonferroni }},
	byBH:         {significance.BenjaminiHochberg, func(p *SignificancePair) *SignificanceCorrected { return &p.BH }},
}

// comparePairs adds all pairs of runs and calls compare for each. The values of the runs belong to the same topics, examples or
// samples.
func (out *SignificanceOutput) comparePairs(counter *steps.Counter, values [][]float64,
	compare func(p *SignificancePair, a, b []float64)) error {
	for i := range values {
		for j := i + 1; j < len(values); j++ {
			if err := counter.Add(perPair * len(values[i])); err != nil {
				return err
			}
			p := SignificancePair{First: i, Second: j, Reasons: map[string]string{}}
			compare(&p, values[i], values[j])
			out.Pairs = append(out.Pairs, p)
		}
	}
	return counter.Err()
}

// perPair is the number of steps that the tests take for each pair of values, without random draws.
const perPair = 20

// correctAll corrects the p of each test and decides the verdict of each pair. An undefined test counts in the corrections as p =
// 1.
func (out *SignificanceOutput) correctAll() {
	for _, test := range allTests {
		chances := lists.Map(out.Pairs, func(p SignificancePair) float64 { return *cmp.Or(*p.uncorrected.of(test), new(1.0)) })
		for _, c := range corrections {
			for i, adjusted := range c.adjust(chances) {
				if p := &out.Pairs[i]; *p.uncorrected.of(test) != nil {
					*c.of(p).of(test) = &adjusted
				}
			}
		}
	}
	for i := range out.Pairs {
		p := &out.Pairs[i]
		by := &p.uncorrected
		if c, ok := corrections[out.Correction]; ok {
			by = c.of(p)
		}
		p.P = *by.of(out.Test)
		p.Different = p.P != nil && *p.P < significanceLevel
	}
}

// testResult stores the p of a test and returns its result. If the test is not defined for the values, it stores the reason and
// returns nil.
func testResult[R any](p *SignificancePair, test string, result *R, chance *float64, err error) *R {
	if err != nil { // the arguments are valid, so the error is about the values
		p.Reasons[test] = strings.TrimPrefix(err.Error(), significance.ErrUndefined.Error()+": ")
		return nil
	}
	if chance != nil {
		*p.uncorrected.of(test) = chance
	}
	return result
}

// average returns the mean of at least one value.
func average(values []float64) float64 {
	var sum measure.Sum
	for _, x := range values {
		sum.Add(x)
	}
	return sum.Total() / float64(len(values))
}
