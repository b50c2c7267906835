package chart

import (
	"math"
	"slices"
	"strings"

	"assay/functions/tools/percentile"
)

const (
	stripHeight = 220.0 // of the plot
	stripTop    = 10.0
	stripFoot   = 16.0 // marks of hard topics, between plot and labels
)

type strips struct {
	Chart
	Grid
	columns columns
	axis    axis
	topics  []topic
	median  float64 // of all values; NaN without values
	paths   []stripPath
}

// stripPath holds all marks of a kind, and their class.
type stripPath struct{ class, d string }

// topic describes how runs spread on a topic.
type topic struct {
	values               []float64 // ascending
	median               float64
	best, worst          int // indices of runs
	hard                 bool
	bestValue, lastValue float64
}

// Strips draws a column for each topic, with a dot for each value. Best and worst runs, outliers and hard topics have their own
// marks.
func Strips(c Caption, g Grid) Chart { return newStrips(c, g).Chart }

func newStrips(c Caption, g Grid) *strips {
	s := &strips{Chart: newChart(c), Grid: g, columns: newColumns(g.Columns, nil), axis: newAxis(g.scale()), median: math.NaN()}
	var all []float64
	for column := range s.Columns {
		t := s.topic(column)
		s.topics = append(s.topics, t)
		all = append(all, t.values...)
	}
	slices.Sort(all)
	if len(all) > 0 {
		s.median = percentile.Of(all, 0.5)
	}
	s.paths = s.draw()
	s.legend = newLegend(s.entries())
	s.names = area{width: s.axisWidth(), marks: s.sideAxis()}
	s.body = area{width: s.columns.width(len(s.Columns)), height: stripTop + stripHeight + stripFoot + s.columns.height + 4, marks: s.marks()}
	return s
}

func (s *strips) better(v, than float64) bool {
	if s.LowerIsBetter {
		return v < than
	}
	return v > than
}

// topic gathers the values of a column.
func (s *strips) topic(column int) topic {
	t := topic{best: -1, worst: -1, hard: column < len(s.Hard) && s.Hard[column]}
	for row := range s.Rows {
		v, ok := s.at(row, column)
		if !ok {
			continue
		}
		t.values = append(t.values, v)
		if t.best < 0 || s.better(v, t.bestValue) {
			t.best, t.bestValue = row, v
		}
		if t.worst < 0 || s.better(t.lastValue, v) {
			t.worst, t.lastValue = row, v
		}
	}
	slices.Sort(t.values)
	if len(t.values) > 0 {
		t.median = percentile.Of(t.values, 0.5)
	}
	return t
}

func (s *strips) y(v float64) float64 { return stripTop + (1-s.axis.at(v))*stripHeight }

// draw gathers the marks of each kind in one path. Later paths cover earlier ones.
func (s *strips) draw() []stripPath {
	var spans, middles, dots, worst, best, outliers, hard strings.Builder
	for i := range s.topics {
		t := &s.topics[i]
		if len(t.values) == 0 {
			continue
		}
		x := s.columns.middle(i)
		spans.WriteString("M" + px(x) + " " + px(s.y(t.values[0])) + "V" + px(s.y(t.values[len(t.values)-1])))
		column := "M" + px(x) + " 0" // start of the first dot; each later dot is relative to the one before, which saves bytes
		y := 0.0
		half := min(s.columns.pitch/2-1, 6)
		middles.WriteString("M" + px(x-half) + " " + px(s.y(t.median)) + "h" + px(2*half))
		for row := range s.Rows {
			v, ok := s.at(row, i)
			at := "M" + px(x) + " " + px(s.y(v))
			switch {
			case !ok:
			case i < len(s.Outliers) && slices.Contains(s.Outliers[i], row):
				outliers.WriteString(at + diamond)
			case row == t.best:
				best.WriteString(at + dot)
			case row == t.worst:
				worst.WriteString(at + dot)
			default:
				next := math.Round(s.y(v))
				dots.WriteString(column + "m0 " + px(next-y) + dot)
				column, y = "", next
			}
		}
		if t.hard {
			hard.WriteString("M" + px(x) + " " + px(stripTop+stripHeight+5) + triangle)
		}
	}
	size := "wide"
	if s.columns.pitch < 14 {
		size = "slim"
	}
	return []stripPath{
		{"span", spans.String()},
		{"middle", middles.String()},
		{"dot " + size, dots.String()},
		{"ring " + size, worst.String()},
		{"hole " + size, worst.String()},
		{"best " + size, best.String()},
		{"outlier", outliers.String()},
		{"hard", hard.String()},
	}
}

// Marks relative to their middle. A dot is a line without length and with round ends.
const (
	dot      = "h0"
	diamond  = "m0-4.5l4.5 4.5l-4.5 4.5l-4.5-4.5z"
	triangle = "l4 7h-8z"
)

func (s *strips) entries() []legendEntry {
	return []legendEntry{
		{text: "best run", mark: shape("best wide", "M5 0"+dot), width: 10},
		{text: "worst run", mark: ring("M5 0" + dot), width: 10},
		{text: "others", mark: shape("dot wide", "M5 0"+dot), width: 10},
		{text: "median", mark: shape("middle", "M0 0h12"), width: 12},
		{text: "outlier", mark: shape("outlier", "M5 0"+diamond), width: 10},
		{text: "median of all", mark: shape("overall", "M0 0h16"), width: 16},
		{text: "hard", mark: shape("hard", "M5-3"+triangle), width: 10},
	}
}

func (s *strips) axisWidth() float64 {
	var widest float64
	for _, t := range s.axis.ticks {
		widest = max(widest, textWidth(t.label, smallText))
	}
	return widest + 10
}

func (s *strips) tooltip(i int) string {
	t, name := &s.topics[i], tooltipLabel(s.Columns[i], len(s.Columns))
	if len(t.values) == 0 {
		return name + ": undefined for every run"
	}
	cells := float64(rowCells)
	if len(s.Columns) > 100 {
		name, cells = Isolated(elide(s.Columns[i], columnCells)), 8
	}
	tip := name + ": median " + shown(t.median) +
		", best " + shown(t.bestValue) + " " + numbered(s.Rows, t.best, cells) +
		", worst " + shown(t.lastValue) + " " + numbered(s.Rows, t.worst, cells)
	if t.hard {
		tip += ", hard"
	}
	return tip
}
