package tools

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"assay/functions/tools/inputs"
	"assay/functions/tools/significance"
	"assay/shared/computation/measure/steps"
	"assay/shared/edge/webpage"
	"assay/shared/language/problem"
	"assay/shared/testing/nightlytest"

	"github.com/a-h/templ"
	"pgregory.net/rapid"
)

// fieldError returns the pointer and the detail of an error that names one member of the input. It returns an empty text for
// other errors.
func fieldError(err error) string {
	var e *problem.Error
	if !errors.As(err, &e) || e.Kind != problem.Invalid || len(e.Fields) != 1 {
		return ""
	}
	return e.Fields[0].Pointer + " " + e.Fields[0].Detail
}

// TestBootstrapRounds_AreBounded checks the largest number of values, and one more.
func TestBootstrapRounds_AreBounded(t *testing.T) {
	for draws, want := range map[int]int{0: 10_000, 1: 10_000, 20_000: 10_000, 40_000: 5000, maxDraws / 100: 100, maxDraws/100 + 1: 0,
		maxDraws + 1: 0} {
		if got := bootstrapRounds(draws); got != want {
			t.Errorf("%d draws: %d rounds, want %d", draws, got, want)
		}
	}
	if bootstrapRounds(inputs.MaxValues) == 0 {
		t.Error("there is no time for as many values as inputs have at most")
	}
	values := map[string]float64{}
	for i := range maxDraws/100/200 + 1 {
		values[fmt.Sprint(i)] = 1
	}
	out := LeaderboardOutput{Entries: make([]LeaderboardEntry, 200)}
	all := make([]map[string]float64, 200)
	for i := range all {
		all[i] = values
	}
	if got := fieldError(out.computeIntervals(t.Context(), all, 1)); !strings.HasPrefix(got, "/limit ") ||
		!strings.Contains(got, "fewer than these 200 entries") {
		t.Errorf("%q", got)
	}
}

// TestCompareSamples_TakesAShare checks that no more runs are measured at once than there are processors, and the problem at the
// deadline.
func TestCompareSamples_TakesAShare(t *testing.T) {
	var now, most atomic.Int64
	all := slices.Repeat([]sampled{{0.5, func(*steps.Counter, []int) *float64 {
		for n := now.Add(1); ; {
			if m := most.Load(); n <= m || most.CompareAndSwap(m, n) {
				break
			}
		}
		runtime.Gosched()
		now.Add(-1)
		return new(0.5)
	}}}, maxRuns)
	runs := slices.Repeat([]*inputs.Run{{}}, maxRuns)
	compare := func(ctx context.Context, topics int) error {
		out := SignificanceOutput{MeasureUsed: MeasureUsed{Measure: "MCC"}, Topics: topics, unit: "example"}
		return out.compareSamples(ctx, SignificanceInput{}, runs, all, false)
	}
	if err := compare(t.Context(), 500); err != nil || most.Load() > int64(runtime.GOMAXPROCS(0)) {
		t.Errorf("%d runs are measured at a time, %v", most.Load(), err)
	}
	over, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	for topics, ctx := range map[int]context.Context{5: over, 20_000: t.Context()} {
		want := fmt.Sprintf("/runs there is no time to measure 20 runs by MCC on samples of %d examples", topics)
		if got := fieldError(compare(ctx, topics)); !strings.HasPrefix(got, want) {
			t.Errorf("%q", got)
		}
	}
}

func TestRandomizationRounds_AreBounded(t *testing.T) {
	for _, tt := range []struct {
		asked, pairs, topics, want int
		says                       string
	}{
		{0, 1, 50, 10_000, ""},
		{100_000, 190, 100, 100_000, ""},
		{0, 190, 100_000, 105, ""},
		{105, 190, 100_000, 105, ""},
		{106, 190, 100_000, 0, "/rounds there is time for 105 rounds of 190 pairs of runs on 100000 topics: ask for no more"},
		{0, 190, 106_000, 0, "/runs there is no time to test 190 pairs of runs on 106000 topics: name fewer runs"},
		{100, 190, 106_000, 0, "/runs there is no time to test 190 pairs of runs on 106000 topics: name fewer runs"},
		{0, 1, 3_000_000_000, 0, "/runs there is no time to test 1 pair of runs"},
	} {
		got, err := randomizationRounds(tt.asked, tt.pairs, tt.topics)
		if got != tt.want || (err != nil) != (tt.says != "") || err != nil && !strings.HasPrefix(fieldError(err), tt.says) {
			t.Errorf("%d rounds of %d pairs on %d topics: %d, %v %q", tt.asked, tt.pairs, tt.topics, got, err, fieldError(err))
		}
	}
}

// TestCliques_AgreeWithExhaustiveSearch compares with an exhaustive search on graphs of any shape.
func TestCliques_AgreeWithExhaustiveSearch(t *testing.T) {
	nightlytest.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 9).Draw(t, "vertices")
		joined := make([]uint64, n)
		for i := range n {
			for j := range i {
				if rapid.Bool().Draw(t, "joined") {
					joined[i] |= 1 << j
					joined[j] |= 1 << i
				}
			}
		}
		clique := func(set uint64) bool {
			for rest := set; rest != 0; rest &= rest - 1 {
				v := bits.TrailingZeros64(rest)
				if set&^(joined[v]|1<<v) != 0 {
					return false
				}
			}
			return true
		}
		var want []uint64
		for set := range uint64(1) << n {
			maximal := clique(set)
			for v := range n {
				maximal = maximal && (set>>v&1 == 1 || !clique(set|1<<v))
			}
			if maximal {
				want = append(want, set)
			}
		}
		got := cliques(joined, 1000)
		if !slices.IsSortedFunc(got, func(a, b uint64) int { return int(int64(bits.Reverse64(b)>>1) - int64(bits.Reverse64(a)>>1)) }) {
			t.Fatalf("%b are not in order", got)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Fatalf("%b, want %b", got, want)
		}
		if len(want) > 1 && cliques(joined, len(want)-1) != nil {
			t.Fatal("there are more than asked for, and some are given")
		}
	})
}

// TestLeaderboard_GroupsOfEqualDifferences compares two runs by the values of their topics. Differences that are equal except for rounding
// distinguish the runs, like differences that are nearly equal. One topic does not.
func TestLeaderboard_GroupsOfEqualDifferences(t *testing.T) {
	const shifted = "Where two differ by the same value on each topic, the statistic is infinite and p is 0."
	const untested = "Two with fewer than two common topics are not tested, and share a letter."
	for name, c := range map[string]struct {
		a, b   map[string]float64
		groups string
		note   string
	}{
		"equal but for rounding": {map[string]float64{"1": .3, "2": .8}, map[string]float64{"1": .2, "2": .7}, "a b", shifted},
		"nearly equal":           {map[string]float64{"1": 1, "2": .99, "3": 1}, map[string]float64{"1": 0, "2": 0, "3": 0}, "a b", ""},
		"better than that":       {map[string]float64{"1": 1, "2": 1, "3": 1}, map[string]float64{"1": 0, "2": 0, "3": 0}, "a b", shifted},
		"no difference":          {map[string]float64{"1": 1, "2": 1}, map[string]float64{"1": 1, "2": 1}, "a a", ""},
		"one topic":              {map[string]float64{"1": 1}, map[string]float64{"1": 0}, "a a", untested},
		"one common topic":       {map[string]float64{"1": 1, "2": 1}, map[string]float64{"1": 0, "3": 0}, "a a", untested},
	} {
		t.Run(name, func(t *testing.T) {
			out := LeaderboardOutput{Entries: make([]LeaderboardEntry, 2)}
			if err := out.assignGroups(t.Context(), []map[string]float64{c.a, c.b}); err != nil {
				t.Fatal(err)
			}
			if got := out.Entries[0].Group + " " + out.Entries[1].Group; got != c.groups {
				t.Errorf("the groups are %q, want %q", got, c.groups)
			}
			for _, note := range []string{shifted, untested} {
				if strings.Contains(out.describeGroups(), note) != (note == c.note) {
					t.Errorf("the note is %q", out.describeGroups())
				}
			}
		})
	}
}

// TestSignificance_ConcludesByTheTest checks verdicts that do not follow from the means: ranks that contradict them, and tests
// without p.
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
			all = append(all, SignificanceRun{MeasuredRun: MeasuredRun{Name: string(rune('A' + i))}, Mean: mean})
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
		out := SignificanceOutput{Test: byWilcoxon, Correction: byHolm, Topics: 7, unit: "topic", Runs: c.runs, Pairs: c.pairs,
			MeasureUsed: MeasureUsed{LowerIsBetter: c.less}}
		if got := plainText(out.conclude()); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, c.want)
		}
	}
}

// TestTopics_RoundingMakesNoOutlier compares runs whose values equal .3 except for rounding. Equal quartiles leave no room for a
// difference. The same holds for the tenth percentile of the means.
func TestTopics_RoundingMakesNoOutlier(t *testing.T) {
	const above = 0.30000000000000004
	by := make([]map[string]float64, 7)
	var topics []string
	for topic := range 11 {
		topics = append(topics, fmt.Sprint(topic))
		for run := range by {
			if topic == 0 {
				by[run] = map[string]float64{"one differs": []float64{.3, .31}[run/6]}
			}
			by[run][fmt.Sprint(topic)] = above
			if topic == 0 && run != 2 {
				by[run][fmt.Sprint(topic)] = .3
			}
		}
	}
	out := TopicsOutput{Sort: sortTopic}
	out.describeTopics(by, topics)
	for _, line := range out.Topics {
		if line.Hard || len(line.Outliers) > 0 {
			t.Errorf("hard from %v: %+v", out.HardFrom, line)
		}
	}
	if line := describeTopic("one differs", by); fmt.Sprint(line.Outliers) != "[6]" {
		t.Errorf("%+v", line)
	}
	// R's quantile() returns the quartiles 2, 4 and 8, so the fences are -7 and 17.
	by = []map[string]float64{{"in": 8, "out": 8}, {"in": -7, "out": 1}, {"in": 4, "out": 4}, {"in": 2, "out": 2}, {"in": 17, "out": 17.1}}
	if in, out := describeTopic("in", by).Outliers, describeTopic("out", by).Outliers; len(in) > 0 || fmt.Sprint(out) != "[4]" {
		t.Errorf("%v and %v stand out", in, out)
	}
}

// TestTopics_WorstAreHard gives the worst mean first to more than one topic in ten, and then to all.
func TestTopics_WorstAreHard(t *testing.T) {
	for worst, want := range map[int]int{1: 1, 3: 3, 10: 0} {
		for _, better := range []float64{.5, -.5} { // than 0, which is the worst
			by, topics := []map[string]float64{{}}, []string{}
			for topic := range 10 {
				topics = append(topics, fmt.Sprint(topic))
				by[0][topics[topic]] = []float64{0, better}[min(1, topic/worst)]
			}
			out := TopicsOutput{Sort: sortTopic, MeasureUsed: MeasureUsed{LowerIsBetter: better < 0}}
			out.describeTopics(by, topics)
			hard := len(slices.DeleteFunc(out.Topics, func(line TopicsLine) bool { return !line.Hard }))
			if hard != want {
				t.Errorf("%d of 10 topics are the worst, others have %v; %d are hard from %v, want %d", worst, better, hard, out.HardFrom, want)
			}
		}
	}
}

// Pages distinguish runs whose names are cut to the same text, and explain what makes a topic hard.
func TestPages_DistinguishClippedNames(t *testing.T) {
	long := strings.Repeat("Tina Team: BM25 ", 20)
	named := func(name string) MeasuredRun { return MeasuredRun{Name: name} }
	zero := 0.
	topics := TopicsOutput{MeasureUsed: MeasureUsed{Measure: "AP"}, Count: 2, Sort: sortHardest, HardFrom: 0, Runs: []TopicsRun{
		{MeasuredRun: named(long + "one")}, {MeasuredRun: named(long + "two")}, {MeasuredRun: named("c")}, {MeasuredRun: named("d")}},
		Topics: []TopicsLine{{Topic: "1", Values: []*float64{&zero, &zero, &zero, &zero}, Outliers: []int{0, 1}, Hard: true}}}
	different := SignificanceOutput{
		Test: byT, Runs: []SignificanceRun{{MeasuredRun: named(long + "one")}, {MeasuredRun: named(long + "two")}},
		Pairs: []SignificancePair{{First: 0, Second: 1, Different: true, Difference: 1}},
	}
	different.phrases = different.conclude()
	diffir := DiffirOutput{Measure: "AP", Runs: []DiffirRun{{MeasuredRun: named(long + "one")}, {MeasuredRun: named(long + "two")},
		{MeasuredRun: named("c")}}}
	for _, c := range []struct {
		page templ.Component
		most int
		n    int
	}{
		{topicsPage(&topics), 24, 2},                         // heading and outlier
		{significancePage(&different), 100, 1},               // the conclusion
		{significancePage(&different), 24, 1},                // the table of pairs
		{diffirTopics(diffirView{diffir, 0}), maxRunName, 1}, // heading
	} {
		var b strings.Builder
		if err := c.page.Render(t.Context(), &b); err != nil {
			t.Fatal(err)
		}
		for _, number := range []string{"1", "2"} {
			if got := strings.Count(b.String(), number+" <bdi>"+webpage.Truncate(long, c.most)+"</bdi>"); got != c.n {
				t.Errorf("run %s stands %d times within %d bytes, want %d", number, got, c.most, c.n)
			}
		}
	}
	v := diffirView{diffir, 0}
	if got := v.runNames([]string{long + "one", long + "two"}); !strings.HasPrefix(got, "1 ") || !strings.Contains(got, ", 2 ") {
		t.Errorf("a document is gone from %s", got)
	}
	var means strings.Builder
	if err := different.means().Render(t.Context(), &means); err != nil || !strings.Contains(means.String(), "1. Tina") ||
		!strings.Contains(means.String(), "2. Tina") {
		t.Errorf("%v: %s", err, means.String())
	}
	if got := topics.summary(); !strings.Contains(got, "Hard: 1 topic, with a mean over the runs of 0.0000, the worst of all.") {
		t.Error(got)
	}
	topics.HardFrom = 0.1
	if got := topics.summary(); !strings.Contains(got, "with a mean over the runs below 0.1000, or the worst of all.") {
		t.Error(got)
	}
}
