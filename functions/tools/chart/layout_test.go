package chart

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"assay/shared/testing/nightlytest"

	"github.com/rivo/uniseg"
	"pgregory.net/rapid"
)

func TestAxis_HasRoundTicks(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		want      string
	}{
		{0, 1, "0.0 0.2 0.4 0.6 0.8 1.0"},
		{0, 0.62, "0.0 0.2 0.4 0.6 0.8"},
		{0, 0.05, "0.00 0.01 0.02 0.03 0.04 0.05"},
		{-0.3, 0.41, "−0.4 −0.2 0.0 0.2 0.4 0.6"},
		{0, 1234, "0 500 1000 1500"},
		{0, 0, "0.0 0.2 0.4 0.6 0.8 1.0"},
		{7, 7, "6 8 10 12 14"},
		{0, 4e7, "0 1e+07 2e+07 3e+07 4e+07"},
	} {
		var got []string
		for _, tick := range newAxis(scale{c.low, c.high}).ticks {
			got = append(got, tick.label)
		}
		if got := strings.Join(got, " "); got != c.want {
			t.Errorf("the axis from %v to %v has %q, want %q", c.low, c.high, got, c.want)
		}
	}
}

// The axis contains every value, and has few ticks in ascending order.
func TestAxis_CoversItsRange(t *testing.T) {
	nightlytest.Check(t, func(t *rapid.T) {
		value := rapid.Float64Range(-maxMagnitude, maxMagnitude)
		s := scale{}.over(value.Draw(t, "one")).over(value.Draw(t, "another"))
		a := newAxis(s)
		if n := len(a.ticks); n < 2 || n > 9 {
			t.Fatalf("%d ticks", n)
		}
		for i, tick := range a.ticks {
			if at := a.at(tick.value); math.IsNaN(at) || i > 0 && tick.value <= a.ticks[i-1].value {
				t.Fatalf("tick %d of %v is %v, at %v", i, s, tick.value, at)
			}
		}
		if slack := 1e-6 * (a.high - a.low); a.low > s.low+slack || a.high < s.high-slack {
			t.Fatalf("the axis of %v is %v", s, a.scale)
		}
	})
}

func TestShown_RoundsValues(t *testing.T) {
	for v, want := range map[float64]string{
		0.42314: "0.4231", 0: "0.0000", math.Copysign(0, -1): "0.0000", -0.00001: "0.0000", -0.5: "−0.5000", 12.345: "12.35",
		640: "640.0", 1234.5: "1234", 1e9: "1e+09", math.Inf(1): "undefined", -1e301: "undefined",
	} {
		if got := shown(v); got != want {
			t.Errorf("%v is shown as %q, want %q", v, got, want)
		}
	}
	if got := shown(math.NaN()); got != "undefined" {
		t.Errorf("NaN is shown as %q", got)
	}
}

// TestMatrix_DoesNotCrossLevelsByRounding shows p values near levels of significance. A p below a level is not shown as the
// level.
func TestMatrix_DoesNotCrossLevelsByRounding(t *testing.T) {
	for _, c := range []struct {
		p, difference                float64
		first, below, class, tooltip string
	}{
		{0, 0, "<0.001***", "0.0000", "p3", "p < 0.0001"},
		{1. / 10_001, 0, "<0.001***", "0.0000", "p3", "p < 0.0001"},
		{1. / 10_000, .1, "<0.001***", "+0.1000", "p3", "p = 0.0001, p < 0.001"},
		{.00099999, 0, "<0.001***", "0.0000", "p3", "p < 0.0010"},
		{.001, -.1, "0.001**", "−0.1000", "p2", "p = 0.0010, p < 0.01"},
		{10. / 10_001, 0, "<0.001***", "0.0000", "p3", "p < 0.0010"},
		{.0096, 0, "<0.010**", "0.0000", "p2", "p = 0.0096, p < 0.01"},
		{.01, 0, "0.010*", "0.0000", "p1", "p = 0.0100, p < 0.05"},
		{.0496, 0, "<0.050*", "0.0000", "p1", "p = 0.0496, p < 0.05"},
		{.04999, 0, "<0.050*", "0.0000", "p1", "p < 0.0500"},
		{.05, 1e-9, "0.050", "0.0000", "p0", "p = 0.0500, not significant"},
		{1, 12, "1.000", "+12.00", "p0", "p = 1.0000, not significant"},
		{math.NaN(), math.NaN(), "–", "–", "p0", "p undefined"},
	} {
		pair := Comparison{P: c.p, Difference: c.difference}
		got := newMatrix(Caption{ID: "c"}, []string{"one", "two"}, [][]Comparison{{{}, pair}, {{}, {}}}).cells[0][1]
		if got.p != c.first || got.difference != c.below || got.class != c.class || !strings.Contains(got.tip, ": "+c.tooltip+", difference") {
			t.Errorf("p = %v: %+v, want %+v", c.p, got, c)
		}
	}
	bound := newMatrix(Caption{ID: "c"}, []string{"one", "two"}, [][]Comparison{{{}, {P: .04, AtMost: true}}, {{}, {}}}).cells[0][1]
	if !strings.Contains(bound.tip, ": p ≤ 0.0400, p < 0.05") {
		t.Errorf("an upper bound of p is %q", bound.tip)
	}
}

func TestElide_ShortensTexts(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"ten chars.", "ten chars."},
		{"eleven char", "eleven ch…"},
		{"nine char and more", "nine char…"},
		{"WWWWWWW", "WWWWW…"},
		{"検索モデル", "検索モデル"},
		{"検索モデル改", "検索モデ…"},
		{"👩‍🔬👩🏽‍🚀👩‍🔬👩🏽‍🚀👩‍🔬👩🏽‍🚀", "👩‍🔬👩🏽‍🚀👩‍🔬👩🏽‍🚀…"},
		{"line\nline", "line line"},
		{"a\u202eb\x00\xff", "ab\ufffd\ufffd"},
		{"Z" + strings.Repeat("\u0301", 40), "Z"},
		{strings.Repeat("\u200b", 40), strings.Repeat("\u200b", 9) + "…"},
	} {
		if got := elide(c.text, 10); got != c.want {
			t.Errorf("%q becomes %q, want %q", c.text, got, c.want)
		}
	}
}

// No text grows beyond its place, in width or in bytes, or contains characters that XML does not allow.
func TestElide_KeepsWithinItsCells(t *testing.T) {
	nightlytest.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		cells := rapid.IntRange(1, 60).Draw(t, "cells")
		got := elide(text, float64(cells))
		if !utf8.ValidString(got) || strings.ContainsFunc(got, func(r rune) bool { return r < ' ' }) {
			t.Fatalf("%q becomes %q", text, got)
		}
		if textWidth(got, 1/cell) > float64(cells)+1e-9 && uniseg.GraphemeClusterCount(got) > 1 {
			t.Fatalf("%q needs %v cells, not %d", got, textWidth(got, 1/cell), cells)
		}
		if len(got) > (cells+1)*cluster {
			t.Fatalf("%d bytes for %d cells", len(got), cells)
		}
	})
}

// Every mark of every chart lies within its plot for all values.
func TestCharts_KeepValuesWithinThePlot(t *testing.T) {
	value := rapid.OneOf(rapid.Float64(), rapid.Float64Range(-2, 2), rapid.Just(math.NaN()), rapid.Just(math.Inf(-1)))
	within := func(t *rapid.T, what string, at, low, high float64) {
		if !(at >= low-1e-6 && at <= high+1e-6) {
			t.Fatalf("%s is at %v, not from %v to %v", what, at, low, high)
		}
	}
	nightlytest.Check(t, func(t *rapid.T) {
		g := Grid{
			Rows: make([]string, rapid.IntRange(1, 6).Draw(t, "rows")), Columns: make([]string, rapid.IntRange(1, 40).Draw(t, "columns")),
			LowerIsBetter: rapid.Bool().Draw(t, "lower"),
		}
		for range g.Rows {
			g.Values = append(g.Values, rapid.SliceOfN(value, len(g.Columns), len(g.Columns)).Draw(t, "values"))
		}
		s := newStrips(Caption{ID: "c"}, g)
		h := newHeatMap(Caption{ID: "c"}, g)
		for row := range g.Rows {
			for column := range g.Columns {
				if v, ok := g.at(row, column); ok {
					within(t, "a dot", s.y(v), stripTop, stripTop+stripHeight)
					within(t, "a level", float64(h.level(v)), 0, levels-1)
				}
			}
		}
		var all []Bar
		for _, line := range g.Values {
			for _, v := range line {
				all = append(all, Bar{Value: v, Interval: &Interval{v - 1, value.Draw(t, "end")}})
			}
		}
		for _, r := range newBars(Caption{ID: "c"}, all).rows {
			within(t, "a bar", r.x, 0, 1)
			within(t, "its end", r.x+r.width, 0, 1)
			if r.whisker != nil {
				within(t, "a whisker", r.whisker.Low, 0, 1)
				within(t, "its end", r.whisker.High, r.whisker.Low, 1)
			}
		}
	})
}

func TestStrips_MarkTheBestAndOutliers(t *testing.T) {
	g := Grid{Rows: make([]string, 3), Columns: []string{"one"}, Values: [][]float64{{8}, {1}, {4}}}
	if q := newStrips(Caption{ID: "c"}, g).topics[0]; q.best != 0 || q.worst != 1 {
		t.Errorf("best is %d, worst %d", q.best, q.worst)
	}
	g.LowerIsBetter, g.Outliers = true, [][]int{{0}}
	s := newStrips(Caption{ID: "c"}, g)
	if q := s.topics[0]; q.best != 1 || q.worst != 0 || !slices.ContainsFunc(s.paths, func(p stripPath) bool {
		return p.class == "outlier" && strings.Count(p.d, diamond) == 1
	}) {
		t.Errorf("of errors, best is %d, worst %d, and the marks are %+v", q.best, q.worst, s.paths)
	}
}

// The labels of columns do not overlap and stay within the chart.
func TestColumns_LabelsDoNotOverlap(t *testing.T) {
	for _, n := range []int{1, 20, 24, 25, 60, 61, 150, 151, 300} {
		for _, name := range []string{"1", "301", "q-301", "a topic with a long name"} {
			names := make([]string, n)
			for i := range names {
				names[i] = name
			}
			c := newColumns(names, nil)
			width := textWidth(elide(name, columnCells), smallText)
			for i, l := range c.labels {
				if end := l.at + width; !c.turned && end > c.width(n) || l.at < 0 {
					t.Errorf("label %d of %d columns %q ends at %v of %v", i, n, name, end, c.width(n))
				}
				if need := min(width, 12); i > 0 && l.at-c.labels[i-1].at < need {
					t.Errorf("labels of %d columns %q overlap", n, name)
				}
			}
		}
	}
}

// TestConfusion_HasRoomForCountsAndLabels checks that each row and column has a label without a number, and that colours show
// shares of rows.
func TestConfusion_HasRoomForCountsAndLabels(t *testing.T) {
	for _, n := range []int{2, 24, 25, 50} {
		for _, label := range []string{"1", "neutral", "a label with a long name"} {
			for _, most := range []int{1, 5_000_000} {
				counts := make([][]int, n)
				for i := range counts {
					counts[i] = make([]int, n)
				}
				counts[0][0], counts[0][1] = 3*most, most
				h := newConfusion(Caption{ID: "c"}, slices.Repeat([]string{label}, n), counts)
				if len(h.columns.labels) != n || h.columns.pitch < textWidth(strconv.Itoa(3*most), smallText) {
					t.Errorf("%d columns %q of counts up to %d have %d labels, %v apart", n, label, 3*most, len(h.columns.labels), h.columns.pitch)
				}
				if h.class(0, 0) != "h7" || h.class(0, 1) != "h2" || h.class(1, 1) != "" {
					t.Errorf("3 and 1 of 4 are %s and %s, and 0 of 0 is %s", h.class(0, 0), h.class(0, 1), h.class(1, 1))
				}
				var b strings.Builder
				if err := h.Render(t.Context(), &b); err != nil {
					t.Fatal(err)
				}
				_, cells, _ := strings.Cut(b.String(), "paint-order")
				if shown := fmt.Sprintf(">%d</text>", 3*most); strings.Contains(b.String(), "1 "+label) || strings.Count(cells, "</text>") != 2 ||
					!strings.Contains(cells, shown) {
					t.Errorf("%d labels %q and counts up to %d: %.3000s", n, label, 3*most, cells)
				}
			}
		}
	}
}

// comparisons returns the comparisons of runs that do not differ.
func comparisons(runs int) [][]Comparison {
	all := make([][]Comparison, runs)
	for i := range all {
		all[i] = make([]Comparison, runs)
	}
	return all
}

// TestMatrix_WrapsHeadings draws names of usual length. Names that do not fit one line are divided into lines.
func TestMatrix_WrapsHeadings(t *testing.T) {
	names := []string{"team of ada: bm25_rm3_title+description", "short", "aVeryLongNameWithoutAnySpacesInIt_v2", "x"}
	m := newMatrix(Caption{ID: "c"}, names, comparisons(len(names)))
	for i, h := range m.heads {
		joined := ""
		for _, line := range h.lines {
			line = strings.Trim(line, "\u2068\u2069")
			if textWidth(line, smallText) > m.names.width {
				t.Errorf("%q does not fit", line)
			}
			joined += line
		}
		if want := strconv.Itoa(i+1) + names[i]; len(h.lines) > matrixLines ||
			strings.ReplaceAll(joined, " ", "") != strings.ReplaceAll(want, " ", "") {
			t.Errorf("%q has the lines %q", names[i], h.lines)
		}
	}
	long := newMatrix(Caption{ID: "c"}, []string{strings.Repeat("unbroken", 20), "x"}, comparisons(2)).heads[0].lines
	if len(long) != matrixLines || !strings.Contains(long[2], "…") {
		t.Errorf("a name without end has the lines %q", long)
	}
}

// Wherever a chart shows names of runs that are cut to the same text, their numbers distinguish them.
func TestCharts_DistinguishClippedNames(t *testing.T) {
	long := strings.Repeat("Tina Team: BM25 ", 20)
	g := Grid{Rows: []string{long + "one", long + "two"}, Columns: []string{"t"}, Values: [][]float64{{0}, {1}}}
	h := newHeatMap(Caption{ID: "c"}, g)
	m := newMatrix(Caption{ID: "c"}, g.Rows, comparisons(2))
	for _, pair := range [][2]string{
		{h.tooltip(0, 0), strings.Replace(h.tooltip(1, 0), "1.0000", "0.0000", 1)},
		{fmt.Sprint(m.heads[0]), fmt.Sprint(m.heads[1])},
		{numbered(g.Rows, 0, 8), numbered(g.Rows, 1, 8)},
	} {
		if pair[0] == pair[1] {
			t.Errorf("%q is the same for both runs", pair[0])
		}
	}
	var b strings.Builder
	if err := h.Render(t.Context(), &b); err != nil || strings.Count(b.String(), ">\u20681 Tina Team:") != 1 ||
		strings.Count(b.String(), ">\u20682 Tina Team:") != 1 {
		t.Errorf("%v: the headings of the heat map are %s", err, b.String())
	}
	if tip := newStrips(Caption{ID: "c"}, g).tooltip(0); !strings.Contains(tip, "best 1.0000 2 \u2068Tina") ||
		!strings.Contains(tip, "worst 0.0000 1 \u2068Tina") {
		t.Errorf("strips say %q", tip)
	}
}
