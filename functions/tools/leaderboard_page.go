package tools

import (
	"fmt"
	"slices"
	"strings"

	"assay/functions/tools/chart"
	"assay/functions/tools/inputs"
	"assay/shared/domain/record"
	"assay/shared/language/lists"
	"assay/shared/language/plural"

	"github.com/a-h/templ"
)

// Bounds that keep a page small. The answer as JSON has everything.
const (
	maxPageBars   = 50
	maxTableCells = 1500 // cells of the table
)

func (out LeaderboardOutput) page() (string, templ.Component) {
	return "Leaderboard of " + out.Task.Name, leaderboardToolPage(&out)
}

func (out LeaderboardOutput) chart() chart.Chart { return out.bars(len(out.Entries)) }

// bars draws the values of the first entries.
func (out *LeaderboardOutput) bars(most int) chart.Chart {
	var all []chart.Bar
	names := inputs.DistinctNames(lists.Map(out.Entries, func(e LeaderboardEntry) string {
		return inputs.RunLabel(record.TeamName(e.Team, e.Alias), e.Run())
	}))
	for i, e := range out.Entries[:min(most, len(out.Entries))] {
		const leftToRight = "\u200e" // the rank comes first, even if the name reads from right to left
		b := chart.Bar{Label: names[i], Note: e.Mark(), Value: orNaN(e.Measures[out.Measure]),
			Interval: (*chart.Interval)(e.Interval), Group: e.Group}
		if e.Rank > 0 {
			b.Label = fmt.Sprintf("%s%d. %s", leftToRight, e.Rank, b.Label)
		}
		if b.Note == "" && e.Baseline && e.Team != record.BaselineTeam {
			b.Note = "baseline"
		}
		all = append(all, b)
	}
	return chart.Bars(chart.Caption{
		ID: "bars", Title: out.Measure + " on " + out.Dataset.Name, Description: "The table has the same numbers.",
	}, all)
}

func (out *LeaderboardOutput) grouped() bool {
	return slices.ContainsFunc(out.Entries, func(e LeaderboardEntry) bool { return e.Group != "" })
}

func (out *LeaderboardOutput) withIntervals() bool {
	return slices.ContainsFunc(out.Entries, func(e LeaderboardEntry) bool { return e.Interval != nil })
}

// groupsNote explains the groups, or why there are none.
func (out *LeaderboardOutput) groupsNote() string {
	switch {
	case len(out.Entries) < 2:
		return ""
	case out.Compared < 2 && out.Links.Significance != "":
		return "There are no groups by " + out.Measure + ", which is of all examples together: every test of each pair says which of the first " +
			"entries can be distinguished."
	case out.Compared < 2:
		return "Nothing says which entries can be distinguished, since " + out.Measure + " has no values per topic or example here."
	case !out.grouped():
		return "Which of the first " + plural.Count(out.Compared, "entry") +
			" can be distinguished is too entangled for groups; the test of each pair shows it."
	}
	return out.GroupsNote
}

// describeGroups says what the letters of the entries mean. It is empty without letters.
func (out *LeaderboardOutput) describeGroups() string {
	if !out.grouped() {
		return ""
	}
	pairs := out.Compared * (out.Compared - 1) / 2
	test := "A paired t-test"
	unit := "topic"
	rounding := ""
	if out.hidden {
		rounding = "p is rounded up here, but not where organizers compare runs, and "
		test = "McNemar’s test of right and wrong labels or a paired t-test"
		unit = "example"
	}
	of := "each two entries"
	if out.Compared < len(out.Entries) {
		of = "each two of the first " + plural.Count(out.Compared, "entry") + " with values by " + unit
	}
	undefined := ""
	if out.shifted {
		undefined += " Where two differ by the same value on each " + unit + ", the statistic is infinite and p is 0."
	}
	if out.untested {
		undefined += " Two with fewer than two common " + unit + "s are not tested, and share a letter."
	}
	return fmt.Sprintf("Of the entries with letters, two that share none differ at the level of %v. Two that share a letter may differ as "+
		"well: %sa comparison of fewer runs is corrected for fewer pairs. %s compared %s over the %ss that both have, with Holm’s correction "+
		"for %s.%s", significanceLevel, rounding, test, of, unit, plural.Count(pairs, "pair"), undefined)
}

// pageURL returns the address of the page with these settings.
func (out *LeaderboardOutput) pageURL(measure string, against int64, best bool) string {
	in := LeaderboardInput{DatasetID: out.Dataset.ID, Measure: measure, Final: out.Final}
	if against > 0 {
		in.Against = &against
	}
	if !best {
		in.Best = &best
	}
	if out.public() {
		in.View = out.View
	}
	return resultURL("leaderboard", in)
}

func (out *LeaderboardOutput) public() bool { return out.View == record.PublicView }

func (out LeaderboardOutput) viewURL(view string) string {
	out.View = view
	return out.pageURL(out.Measure, out.Against, out.Best)
}

// versions returns the newest truth versions with which ranks can be compared.
func (out *LeaderboardOutput) versions() (all []int64) {
	const most = 5
	for v := out.TruthVersion - 1; v >= 1 && len(all) < most; v-- {
		all = append(all, v)
	}
	return all
}

// columns returns the measures of the table, the sorting measure first. It leaves out measures that would make the table too
// large.
func (out *LeaderboardOutput) columns() []record.Column {
	var shown []record.Column
	if out.Measure != "" {
		shown = append(shown, out.column())
	}
	for _, c := range out.Columns {
		if c.Key != out.Measure && (len(shown)+1)*len(out.Entries) <= maxTableCells {
			shown = append(shown, c)
		}
	}
	return shown
}

// column returns the column that sorts the entries. It is zero if the reader can sort by none.
func (out *LeaderboardOutput) column() (none record.Column) {
	for _, c := range out.Columns {
		if c.Key == out.Measure {
			return c
		}
	}
	return none
}

// kind returns a word for the change of the rank. Entries without a rank have no change.
func (c *LeaderboardChange) kind() string {
	switch {
	case c.Absent:
		return "new"
	case c.Difference == 0:
		return "the same"
	case c.Difference > 0:
		return "up"
	}
	return "down"
}

// arrow and words describe how the rank changed.
func (c *LeaderboardChange) arrow() string {
	return map[string]string{"up": "▲ ", "down": "▼ "}[c.kind()]
}

func (c *LeaderboardChange) words() string {
	if c.Difference == 0 {
		return c.kind()
	}
	return fmt.Sprintf("%s %d from %d", c.kind(), max(c.Difference, -c.Difference), c.Rank)
}

// changes counts the kinds of rank changes in a sentence.
func (out *LeaderboardOutput) changes() string {
	counts := map[string]int{}
	for _, e := range out.Entries {
		if e.Change != nil {
			counts[e.Change.kind()]++
		}
	}
	var parts []string
	for _, kind := range []string{"up", "down", "the same", "new"} {
		if n := counts[kind]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, kind))
		}
	}
	return fmt.Sprintf("Ranks since %s, among the entries of both: %s.", record.TruthVersionName(out.Against), strings.Join(parts, ", "))
}

func (out *LeaderboardOutput) baselines() bool {
	return slices.ContainsFunc(out.Entries, func(e LeaderboardEntry) bool { return e.Baseline })
}
