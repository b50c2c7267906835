package tools

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"assay/functions/tools/chart"
	"assay/shared/lists"
	"assay/shared/plural"
	"assay/shared/webpage"

	"github.com/a-h/templ"
)

// What a page has at most, so that it stays small.
const (
	maxTopicCells = 1000 // values in the table; with more it summarizes the values of each topic
	maxStrips     = 120  // topics whose spread is drawn
)

func (out TopicsOutput) page() (string, templ.Component) {
	return "Topics by " + out.Measure, topicsPage(&out)
}

func (out TopicsOutput) chart() chart.Chart { return out.heatMap() }

// grid is the values as charts take them.
func (out *TopicsOutput) grid(topics []TopicsLine) chart.Grid {
	g := chart.Grid{
		LowerIsBetter: out.LowerIsBetter, High: 1,
		Rows: lists.Map(out.Runs, func(r TopicsRun) string { return r.Name }), Values: make([][]float64, len(out.Runs)),
	}
	for _, t := range topics {
		g.Columns, g.Hard = append(g.Columns, t.Topic), append(g.Hard, t.Hard)
		g.Low, g.High = min(g.Low, t.Min), max(g.High, t.Max)
		for i, v := range t.Values {
			x := math.NaN()
			if v != nil {
				x = *v
			}
			g.Values[i] = append(g.Values[i], x)
		}
	}
	return g
}

func (out *TopicsOutput) heatMap() chart.Chart {
	return chart.HeatMap(chart.Caption{
		ID: "heat", Title: out.Measure + " by run and topic" + out.part(), Description: out.order() + " The table has the same topics.",
	}, out.grid(out.Topics))
}

// part says how many of the topics are shown, when that is not all.
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

// stripsPart says how many of the topics have their spread drawn.
func (out *TopicsOutput) stripsPart() string {
	if len(out.Topics) <= maxStrips {
		return ""
	}
	return fmt.Sprintf(", the first %d", maxStrips)
}

// order says which topics there are, and how they are sorted.
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

func (out *TopicsOutput) hardCount() (n int) {
	for _, t := range out.Topics {
		if t.Hard {
			n++
		}
	}
	return n
}

// withValues reports whether the table has room for the values of all runs.
func (out *TopicsOutput) withValues() bool { return len(out.Runs)*len(out.Topics) <= maxTopicCells }

// outliers names the runs that stand out on a topic.
func (out *TopicsOutput) outliers(t *TopicsLine) []phrase {
	return runPhrases(t.Outliers, func(run int) phrase { return phrase{out.Runs[run].Name, run + 1} })
}

func (t *TopicsLine) isOutlier(run int) bool { return slices.Contains(t.Outliers, run) }

// hardSide says in which direction a mean is bad.
func (out *TopicsOutput) hardSide() string {
	if out.LowerIsBetter {
		return "above"
	}
	return "below"
}

func (out *TopicsOutput) summary() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s on %s; on average %s is %s.", plural.Count(len(out.Runs), "run"), plural.Count(out.Count, "topic"), out.Measure,
		webpage.Decimals(out.Mean))
	if n := out.hardCount(); n > 0 {
		from := webpage.Decimals(out.HardFrom)
		mean := out.hardSide() + " " + from + ", or the worst of all"
		if !slices.ContainsFunc(out.Topics, func(t TopicsLine) bool { return t.Hard && webpage.Decimals(t.Mean) != from }) {
			mean = "of " + from + ", the worst of all"
		}
		fmt.Fprintf(&b, " Hard: %s, with a mean over the runs %s.", plural.Count(n, "topic"), mean)
	}
	return b.String()
}
