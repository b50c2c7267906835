package tools

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"assay/functions/tools/chart"
	"assay/functions/tools/significance"
	"assay/shared/edge/webpage"
	"assay/shared/language/lists"
	"assay/shared/language/plural"

	"github.com/a-h/templ"
)

// phrase is a part of a sentence: fixed words, or the name of a run. A page isolates names from the text around them.
type phrase struct {
	text string
	run  int // number of the run, from 1; 0: fixed words
}

// runPhrases lists the names of runs, separated by commas.
func runPhrases(runs []int, name func(run int) phrase) (words []phrase) {
	for i, run := range runs {
		if i > 0 {
			words = append(words, phrase{text: ", "})
		}
		words = append(words, name(run))
	}
	return words
}

func plainText(words []phrase) string {
	return strings.Join(lists.Map(words, func(w phrase) string { return w.text }), "")
}

// maxNamedRuns bounds the runs for which the table of pairs shows names and p by every correction. For more runs it shows numbers
// instead of names, and only p by Holm's correction. Otherwise the page would grow large.
const maxNamedRuns = 12

func (out *SignificanceOutput) showsNames() bool { return len(out.Runs) <= maxNamedRuns }

// pColumnCount returns the number of columns for the p of a test.
func (out *SignificanceOutput) pColumnCount() int {
	if out.showsNames() {
		return 4
	}
	return 2
}

// pHeading returns the heading of values of p. They are upper bounds if the answer is rounded.
func (out *SignificanceOutput) pHeading() string {
	if out.Rounded {
		return "p at most"
	}
	return "p"
}

// pairTest describes the columns of a test in the table of pairs.
type pairTest struct {
	test, heading string
	columns       []string // headings of the columns other than those of p
	cells         func(*SignificancePair) []string
}

// pairTests returns the tests that the table shows.
func (out *SignificanceOutput) pairTests() []pairTest {
	all := []pairTest{
		{byT, "Paired t-test", []string{"t"}, func(p *SignificancePair) []string { return []string{signed(&p.T.Statistic)} }},
		{byWilcoxon, "Wilcoxon", []string{"W+", "W−"}, func(p *SignificancePair) []string {
			return []string{rankSum(p.Wilcoxon.Plus), rankSum(p.Wilcoxon.Minus)}
		}},
		{byRandomization, "Randomization", nil, func(*SignificancePair) []string { return nil }},
		{byMcNemar, "McNemar", []string{"First alone", "Second alone"}, func(p *SignificancePair) []string {
			return []string{strconv.Itoa(p.McNemar.First), strconv.Itoa(p.McNemar.Second)}
		}},
		{byBootstrap, "Bootstrap", []string{"from", "to"}, func(p *SignificancePair) []string {
			return []string{signed(&p.Bootstrap.Interval.Low), signed(&p.Bootstrap.Interval.High)}
		}},
	}
	return slices.DeleteFunc(all, func(t pairTest) bool {
		switch {
		case out.Rounded || out.Test == byBootstrap:
			return t.test != out.Test
		case t.test == byMcNemar:
			return !slices.ContainsFunc(out.Pairs, func(p SignificancePair) bool { return p.McNemar != nil })
		default:
			return t.test == byBootstrap
		}
	})
}

// figures returns the cells of a test of the pair, or dashes if the test is not defined.
func (out *SignificanceOutput) figures(p *SignificancePair, t pairTest) []string {
	if out.Rounded || *p.uncorrected.of(t.test) == nil {
		return slices.Repeat([]string{"–"}, len(t.columns))
	}
	return t.cells(p)
}

// maxNamedPairs is the largest number of pairs that a sentence names individually.
const maxNamedPairs = 4

// conclude says in words which runs differ.
func (out *SignificanceOutput) conclude() []phrase {
	var different []*SignificancePair
	unknown := 0
	for i := range out.Pairs {
		switch p := &out.Pairs[i]; {
		case p.Different:
			different = append(different, p)
		case p.unknown():
			unknown++
		}
	}
	rest := len(out.Pairs) - len(different) - unknown
	var s []phrase
	say := func(format string, args ...any) { s = append(s, phrase{text: fmt.Sprintf(format, args...)}) }
	switch {
	case unknown == len(out.Pairs):
		say("Nothing can be said of %s on %s", plural.Count(len(out.Runs), "run"), out.paired())
	case len(different) == 0 && unknown > 0:
		say("%s cannot be distinguished on %s", plural.Count(rest, "pair"), out.paired())
	case len(different) == 0 && len(out.Pairs) == 1:
		say("The two runs cannot be distinguished on %s", out.paired())
	case len(different) == 0:
		say("No two of %s can be distinguished on %s", plural.Count(len(out.Runs), "run"), out.paired())
	case len(different) <= maxNamedPairs:
		for i, p := range different {
			if i > 0 {
				say("; ")
			}
			better := p.First
			worse := p.Second
			mean := ""
			if out.direction(p) < 0 != out.LowerIsBetter {
				better, worse = worse, better
			}
			if out.direction(p)*p.Difference < 0 {
				mean = " by the ranks of the differences, though not by the mean"
			}
			s = append(s, out.runPhrase(better), phrase{text: " is better than "}, out.runPhrase(worse), phrase{text: mean})
		}
		if rest > 0 {
			say("; %s cannot be distinguished on %s", plural.Count(rest, "other pair"), out.paired())
		}
	default:
		s = append(s, out.concludeBest(len(different))...)
	}
	say("%s", out.verdict(rest))
	if unknown > 0 {
		say(" Of %s the test is not defined, %s.", plural.Count(unknown, "pair"), out.whyUndefined())
	}
	if least := out.lowestP(); least >= significanceLevel {
		say(" No difference could have been: with %s, %s and this correction no p is below %s. %s.",
			out.paired(), plural.Count(len(out.Pairs), "pair"), probability(&least), out.advice())
	}
	return s
}

// verdict names the test, the correction and the bound of p. Exact values of p can be below the bound where rounded ones are not, so it
// says this if the test does not distinguish some pairs.
func (out *SignificanceOutput) verdict(undistinguished int) string {
	p, more := "p", ""
	if out.Rounded {
		p = "p, rounded up here,"
	}
	if out.Rounded && undistinguished > 0 {
		more = " Organizers see exact p, which can distinguish more pairs."
	}
	return fmt.Sprintf(" (%s, %s, %s below %v).%s", testNames[out.Test], correctionNames[out.Correction], p, significanceLevel, more)
}

// advice says how to reach a lowestP below significanceLevel. Fewer runs have fewer pairs to correct for, which helps if lowestOfPair is
// below the level. A test that tries all combinations of signs needs more topics, and a test that draws samples needs more samples.
func (out *SignificanceOutput) advice() string {
	way := "with more rounds"
	if out.Test == byRandomization && out.Topics <= significance.ExactRandomization {
		way = "on more " + out.unit + "s"
	}
	if out.correctsPairs() && len(out.Pairs) > 1 && out.lowestOfPair() < significanceLevel {
		return "Compare fewer runs, or compare " + way
	}
	return "Compare the runs " + way
}

// correctsPairs reports whether the correction raises the lowest p with the number of pairs. The correction of Benjamini and Hochberg
// does not raise a p that all pairs share.
func (out *SignificanceOutput) correctsPairs() bool {
	return out.Correction == byHolm || out.Correction == byBonferroni
}

// whyUndefined explains why a test is not defined for runs that differ.
func (out *SignificanceOutput) whyUndefined() string {
	if out.Test == byBootstrap {
		return "since too few samples have a value of both runs"
	}
	return "since all differences are the same; use the randomization test"
}

func (out *SignificanceOutput) runPhrase(run int) phrase { return phrase{out.Runs[run].Name, run + 1} }

// unknown reports whether the test that decides the verdict is undefined although the runs differ.
func (p *SignificancePair) unknown() bool { return p.P == nil && p.Difference != 0 }

// direction is positive if the test finds greater values in the first run of the pair. Wilcoxon's test compares ranks, which can
// contradict the means.
func (out *SignificanceOutput) direction(p *SignificancePair) float64 {
	if out.Test == byWilcoxon && p.Wilcoxon != nil {
		return p.Wilcoxon.Plus - p.Wilcoxon.Minus
	}
	return p.Difference
}

// concludeBest compares the best run with the others. It is used if there are too many pairs to name them all.
func (out *SignificanceOutput) concludeBest(different int) []phrase {
	best := out.bestFirst()[0]
	var same []int
	ahead := true // whether best is better than all runs that differ from it
	for i := range out.Pairs {
		p := &out.Pairs[i]
		switch {
		case p.First != best && p.Second != best:
		case p.unknown() || p.Different && out.direction(p)*p.Difference < 0:
			ahead = false
		case p.Different:
		case p.First == best:
			same = append(same, p.Second)
		default:
			same = append(same, p.First)
		}
	}
	s := []phrase{{text: fmt.Sprintf("%d of %s can be distinguished. ", different, plural.Count(len(out.Pairs), "pair"))}, out.runPhrase(best)}
	switch {
	case len(same) == 0 && !ahead:
		return append(s, phrase{text: " has the best mean"})
	case len(same) == 0:
		return append(s, phrase{text: " is better than every other run"})
	case len(same) > maxNamedPairs:
		return append(s, phrase{text: ", which has the best mean, cannot be distinguished from " + plural.Count(len(same), "other run")})
	}
	s = append(s, phrase{text: ", which has the best mean, cannot be distinguished from "})
	return append(s, runPhrases(same, out.runPhrase)...)
}

// paired says how many topics or examples the values are paired over.
func (out *SignificanceOutput) paired() string { return plural.Count(out.Topics, out.unit) }

// lowestP returns the lowest p that the randomization test or the bootstrap can find with these settings. It returns 0 for other
// tests.
func (out *SignificanceOutput) lowestP() float64 {
	least := out.lowestOfPair()
	if out.correctsPairs() {
		least *= float64(len(out.Pairs))
	}
	return min(1, least)
}

// lowestOfPair is lowestP without the correction for the number of pairs.
func (out *SignificanceOutput) lowestOfPair() float64 {
	switch {
	case out.Test == byBootstrap && !out.Rounded:
		return 2 / float64(out.Rounds+1)
	case out.Test != byRandomization:
		return 0
	case out.Topics > significance.ExactRandomization:
		return min(math.Ldexp(2, -significance.ExactRandomization), 1/float64(out.Rounds+1))
	default:
		return math.Ldexp(2, -out.Topics) // all differences have one sign
	}
}

var (
	testNames = map[string]string{byT: "paired t-test", byWilcoxon: "Wilcoxon's signed-rank test", byRandomization: "randomization test",
		byMcNemar: "McNemar's test", byBootstrap: "paired bootstrap"}
	correctionNames = map[string]string{byHolm: "Holm's correction", byBonferroni: "Bonferroni's correction",
		byBH: "the correction of Benjamini and Hochberg", byNone: "not corrected"}
)

func (out SignificanceOutput) page() (string, templ.Component) {
	return "Differences of " + plural.Count(len(out.Runs), "run") + " by " + out.Measure, significancePage(&out)
}

func (out SignificanceOutput) chart() chart.Chart { return out.matrix() }

// matrix draws p and the difference of each pair.
func (out *SignificanceOutput) matrix() chart.Chart {
	names := make([]string, len(out.Runs))
	cells := make([][]chart.Comparison, len(out.Runs))
	for i, r := range out.Runs {
		names[i], cells[i] = r.Name, make([]chart.Comparison, len(out.Runs))
	}
	for _, p := range out.Pairs {
		chance := orNaN(p.P)
		cells[p.First][p.Second] = chart.Comparison{P: chance, AtMost: out.Rounded, Difference: p.Difference}
		cells[p.Second][p.First] = chart.Comparison{P: chance, AtMost: out.Rounded, Difference: -p.Difference}
	}
	return chart.Matrix(chart.Caption{
		ID: "matrix", Title: out.Measure + ": " + out.pHeading() + " and differences",
		Description: "The table of pairs has the same numbers.",
	}, names, cells)
}

// means draws the means with their intervals, the best first.
func (out *SignificanceOutput) means() chart.Chart {
	var all []chart.Bar
	for _, i := range out.bestFirst() {
		r := out.Runs[i]
		all = append(all, chart.Bar{Label: fmt.Sprintf("%d. %s", i+1, r.Name), Value: r.Mean, Interval: (*chart.Interval)(&r.Interval)})
	}
	return chart.Bars(chart.Caption{
		ID: "means", Title: out.valueName() + " of each run with 95 % intervals", Description: "The table of runs has the same numbers.",
	}, all)
}

// valueName names the value that each run has.
func (out *SignificanceOutput) valueName() string {
	if out.Test == byBootstrap {
		return out.Measure
	}
	return "Mean " + out.Measure
}

// bestFirst returns the indices of the runs, the best first.
func (out *SignificanceOutput) bestFirst() []int {
	order := make([]int, len(out.Runs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		if out.LowerIsBetter {
			i, j = j, i
		}
		return cmp.Compare(out.Runs[j].Mean, out.Runs[i].Mean)
	})
	return order
}

// signed formats a value with a sign as wide as a digit. It returns a dash for nil.
func signed(v *float64) string {
	if v == nil {
		return "–"
	}
	text := webpage.Decimals(math.Abs(*v))
	switch {
	case text == webpage.Decimals(0):
		return text
	case *v < 0:
		return "−" + text
	}
	return "+" + text
}

// probability formats a p with four digits, as in charts. It returns a dash for nil.
func probability(p *float64) string {
	if p == nil {
		return "–"
	}
	return chart.Probability(*p, 4)
}

// rankSum formats a sum of ranks. Such a sum can have a fraction, because tied values share their mean rank.
func rankSum(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// omittedTopics says how many topics lack a value of some run. It is empty if there are none.
func (out *SignificanceOutput) omittedTopics() string {
	if out.LeftOut == 0 {
		return ""
	}
	return fmt.Sprintf("; %s that only some have left out", plural.Count(out.LeftOut, out.unit))
}

// method explains how p was computed.
func (out *SignificanceOutput) method() string {
	exact, only := 0, ""
	if out.Rounded {
		only = "Others than the organizers are shown one test."
	}
	for _, p := range out.Pairs {
		if p.Randomization != nil && p.Randomization.Exact {
			exact++
		}
	}
	drew := fmt.Sprintf("drew %d combinations of signs for each pair", out.Rounds)
	switch {
	case out.Test == byBootstrap:
		return fmt.Sprintf("The bootstrap measured the runs on %d samples of the %ss. %s", out.Rounds, out.unit, only)
	case out.Rounded:
		return only
	case exact == len(out.Pairs):
		drew = "counted all combinations of signs"
	case exact > 0:
		drew += ", or counted all where they are fewer"
	}
	return fmt.Sprintf("The t-tests have %s of freedom, and the randomization test %s.", plural.Count(out.Topics-1, "degree"), drew)
}
