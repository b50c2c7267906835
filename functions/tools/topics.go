package tools

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"assay/functions/tools/chart"
	"assay/functions/tools/inputs"
	"assay/functions/tools/percentile"
	"assay/functions/tools/significance"
	"assay/shared/edge/webpage"
	"assay/shared/language/lists"
	"assay/shared/language/plural"
	"assay/shared/language/problem"

	"github.com/a-h/templ"
)

// TopicsInput selects the runs and the measure to show by topic.
type TopicsInput struct {
	Runs    []inputs.RunReference  `json:"runs" minItems:"1" maxItems:"20" doc:"the runs"`
	Truth   *inputs.TruthReference `json:"truth,omitempty" doc:"the ground truth; by default, stored runs have the values of their evaluations"`
	Measure string                 `json:"measure,omitempty" maxLength:"100" doc:"a measure with values per topic, in the grammar of ir-measures; default the measure that ranks" example:"AP"`
	Sort    string                 `json:"sort,omitempty" enum:"hardest,topic,spread" doc:"hardest (the default): the worst mean first; topic: by name; spread: the topics on which runs differ most first"`
	Limit   int                    `json:"limit,omitempty" minimum:"1" maximum:"300" doc:"number of topics of the answer; default 100"`
}

// TopicsOutput describes how runs do on each topic.
type TopicsOutput struct {
	MeasureUsed
	Count    int          `json:"count" doc:"number of topics for which a run has a value; the answer may have fewer"`
	Sort     string       `json:"sort"`
	Mean     float64      `json:"mean" doc:"mean of the means of the topics"`
	HardFrom float64      `json:"hardFrom" doc:"the tenth percentile of the means of all topics, counted from the worst. Topics with a worse mean are hard, and so are topics with the worst mean of all"`
	Runs     []TopicsRun  `json:"runs" doc:"in the order asked for"`
	Topics   []TopicsLine `json:"topics" doc:"in the order of sort"`
}

// TopicsRun is one of the runs.
type TopicsRun struct {
	MeasuredRun
	Mean *float64 `json:"mean" doc:"mean over the topics for which the run has a value; null if it has none"`
}

// TopicsLine is a topic.
type TopicsLine struct {
	Topic    string     `json:"topic"`
	Values   []*float64 `json:"values" doc:"values of the runs, in the order of runs; null for a run without a value"`
	Mean     float64    `json:"mean" doc:"mean of the values"`
	Min      float64    `json:"min"`
	Max      float64    `json:"max"`
	Spread   float64    `json:"spread" doc:"max minus min"`
	Outliers []int      `json:"outliers" doc:"indices of the runs whose values lie more than 1.5 interquartile ranges beyond the quartiles; empty for fewer than four values"`
	Hard     bool       `json:"hard" doc:"whether the mean is worse than hardFrom, or the worst of all"`
}

// The orders of topics.
const (
	sortHardest = "hardest"
	sortTopic   = "topic"
	sortSpread  = "spread"
)

const (
	// hardShare is the share of topics that are hard.
	hardShare = 0.1
	// minValuesForOutliers is the least number of values whose quartiles can find an outlier.
	minValuesForOutliers = 4
)

var topicsTool = define(metadata{
	name: "topics", kind: "comparison", problems: valueProblems, summary: "Show how runs do on each topic",
	description: "Shows which topics are hard, and on which of them runs differ: the values of each run by topic, their mean, least, " +
		"greatest and spread, and outliers: runs that lie more than 1.5 interquartile ranges beyond the quartiles. A topic is hard if its mean " +
		"over the runs is worse than the tenth percentile of the topics' means, or than the ninetieth if less is better. Topics that share " +
		"the worst mean are hard even if they are more than one in ten, unless all topics share it.\n\n" +
		"The page has a heat map of runs and topics, how the runs spread on each topic, and a table; as `image/svg+xml` the answer is the " +
		"heat map.",
}, TopicsInput{Runs: exampleRuns, Truth: exampleTruth, Measure: "nDCG@10"},
	func(ctx context.Context, resolver *inputs.Resolver, in TopicsInput) (compute[TopicsOutput], error) {
		results, err := resolver.Results(ctx, oneMeasureRequest(in.Runs, in.Truth, in.Measure))
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context) (out TopicsOutput, err error) {
			out = TopicsOutput{MeasureUsed: measureUsed(results), Sort: cmp.Or(in.Sort, sortHardest)}
			values, err := results.Values(ctx)
			if err != nil {
				return out, err
			}
			v, err := valuesByTopic(results, values)
			if err == nil {
				err = v.require(out.Measure, values, "name a measure that is a mean over them, or compare the runs by the tool significance")
			}
			switch {
			case err != nil:
				return out, err
			case v.hidden:
				return out, problem.Forbidden.New("Values of single examples reveal the truth, so only the organizers of the task see them. " +
					"The tool significance compares the runs without showing them. With a truth of your own you can use this tool, too.")
			}
			by, topics := v.by, v.topics
			for i, r := range results.Runs {
				shown := TopicsRun{MeasuredRun: measuredRun(r)}
				if len(by[i]) > 0 {
					shown.Mean = new(average(inTopicOrder(by[i])))
				}
				out.Runs = append(out.Runs, shown)
			}
			out.describeTopics(by, topics)
			out.Topics = out.Topics[:min(cmp.Or(in.Limit, 100), len(out.Topics))]
			return out, nil
		}, nil
	})

// describeTopics fills in all topics in order.
func (out *TopicsOutput) describeTopics(by []map[string]float64, topics []string) {
	var means []float64
	for _, topic := range topics {
		line := describeTopic(topic, by)
		out.Topics, means = append(out.Topics, line), append(means, line.Mean)
	}
	out.Count, out.Mean = len(topics), average(means)
	slices.Sort(means)
	share := hardShare
	worst := means[0]
	rounding := significance.Rounding(means)
	if out.LowerIsBetter {
		share, worst = 1-hardShare, means[len(means)-1]
	}
	out.HardFrom = percentile.Of(means, share)
	for i := range out.Topics {
		t := &out.Topics[i]
		beyond := math.Abs(t.Mean-out.HardFrom) > rounding && t.Mean < out.HardFrom != out.LowerIsBetter
		t.Hard = beyond || math.Abs(t.Mean-worst) <= rounding && means[len(means)-1]-means[0] > rounding
	}
	slices.SortStableFunc(out.Topics, func(a, b TopicsLine) int {
		byName := compareTopics(a.Topic, b.Topic)
		switch out.Sort {
		case sortTopic:
			return byName
		case sortSpread:
			return cmp.Or(cmp.Compare(b.Spread, a.Spread), byName)
		}
		if out.LowerIsBetter {
			return cmp.Or(cmp.Compare(b.Mean, a.Mean), byName)
		}
		return cmp.Or(cmp.Compare(a.Mean, b.Mean), byName)
	})
}

// describeTopic describes a topic for which at least one run has a value.
func describeTopic(topic string, by []map[string]float64) TopicsLine {
	line := TopicsLine{Topic: topic, Outliers: []int{}, Min: math.Inf(1), Max: math.Inf(-1)}
	var values []float64
	for _, run := range by {
		var value *float64
		if x, ok := run[topic]; ok {
			value, values = &x, append(values, x)
			line.Min, line.Max = min(line.Min, x), max(line.Max, x)
		}
		line.Values = append(line.Values, value)
	}
	line.Mean, line.Spread = average(values), line.Max-line.Min
	if len(values) < minValuesForOutliers {
		return line
	}
	slices.Sort(values)
	low, high := percentile.Of(values, 0.25), percentile.Of(values, 0.75)
	fence := 1.5*(high-low) + significance.Rounding(values) // equal values may differ by rounding
	for i, v := range line.Values {
		if v != nil && (*v < low-fence || *v > high+fence) {
			line.Outliers = append(line.Outliers, i)
		}
	}
	return line
}

// compareTopics orders names as people count: numbers by their value, then all other names.
func compareTopics(a, b string) int {
	x, y := strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	switch digits, more := isNumber(a), isNumber(b); {
	case digits && more:
		return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y), cmp.Compare(a, b))
	case digits:
		return -1
	case more:
		return 1
	}
	return cmp.Compare(a, b)
}

func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// Bounds that keep a page small.
const (
	maxTopicCells = 1000 // values in the table; with more it summarizes the values of each topic
	maxStrips     = 120  // topics whose spread is drawn
)

func (out TopicsOutput) page() (string, templ.Component) {
	return "Topics by " + out.Measure, topicsPage(&out)
}

func (out TopicsOutput) chart() chart.Chart { return out.heatMap() }

// grid returns the values in the form that charts take.
func (out *TopicsOutput) grid(topics []TopicsLine) chart.Grid {
	g := chart.Grid{
		LowerIsBetter: out.LowerIsBetter,
		Rows:          lists.Map(out.Runs, func(r TopicsRun) string { return r.Name }), Values: make([][]float64, len(out.Runs)),
	}
	for _, t := range topics {
		g.Columns = append(g.Columns, t.Topic)
		g.Hard = append(g.Hard, t.Hard)
		g.Outliers = append(g.Outliers, t.Outliers)
		for i, v := range t.Values {
			g.Values[i] = append(g.Values[i], orNaN(v))
		}
	}
	return g
}

func (out *TopicsOutput) heatMap() chart.Chart {
	return chart.HeatMap(chart.Caption{
		ID: "heat", Title: out.Measure + " by run and topic" + out.part(), Description: out.order() + " The table has the same topics.",
	}, out.grid(out.Topics))
}

// part says how many topics are shown. It is empty if all are shown.
func (out *TopicsOutput) part() string {
	if len(out.Topics) == out.Count {
		return ""
	}
	return fmt.Sprintf(" (%d of %s)", len(out.Topics), plural.Count(out.Count, "topic"))
}

func (out *TopicsOutput) strips() chart.Chart {
	return chart.Strips(chart.Caption{
		ID: "strips", Title: "How " + out.Measure + " spreads on each topic", Description: out.order() + " The table has the same topics.",
	}, out.grid(out.Topics[:min(maxStrips, len(out.Topics))]))
}

// stripsPart says how many topics have their spread drawn. It is empty if all have.
func (out *TopicsOutput) stripsPart() string {
	if len(out.Topics) <= maxStrips {
		return ""
	}
	return fmt.Sprintf(", the first %d", maxStrips)
}

// order says which topics are shown, and how they are sorted.
func (out *TopicsOutput) order() string {
	which := "All " + plural.Count(out.Count, "topic")
	if out.Count == 1 {
		which = "The one topic"
	}
	if len(out.Topics) < out.Count {
		which = fmt.Sprintf("%d of %s", len(out.Topics), plural.Count(out.Count, "topic"))
	}
	return which + map[string]string{
		sortHardest: ", the hardest first.", sortTopic: ", by name.", sortSpread: ", those that the runs differ on most first.",
	}[out.Sort]
}

// withValues reports whether the table has room for the values of all runs.
func (out *TopicsOutput) withValues() bool { return len(out.Runs)*len(out.Topics) <= maxTopicCells }

// outliers names the outlier runs of a topic.
func (out *TopicsOutput) outliers(t *TopicsLine) []phrase {
	return runPhrases(t.Outliers, func(run int) phrase { return phrase{out.Runs[run].Name, run + 1} })
}

func (t *TopicsLine) isOutlier(run int) bool { return slices.Contains(t.Outliers, run) }

func (out *TopicsOutput) summary() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s on %s; on average %s is %s.", plural.Count(len(out.Runs), "run"), plural.Count(out.Count, "topic"), out.Measure,
		webpage.Decimals(out.Mean))
	from, side := webpage.Decimals(out.HardFrom), "below"
	if out.LowerIsBetter {
		side = "above"
	}
	hard, mean := 0, "of "+from+", the worst of all"
	for _, t := range out.Topics {
		if t.Hard {
			hard++
			if webpage.Decimals(t.Mean) != from {
				mean = side + " " + from + ", or the worst of all"
			}
		}
	}
	if hard > 0 {
		fmt.Fprintf(&b, " Hard: %s, with a mean over the runs %s.", plural.Count(hard, "topic"), mean)
	}
	return b.String()
}
