package chart

import (
	"math"
	"slices"
	"strconv"

	"github.com/a-h/templ"
)

const (
	levels   = 10 // classes h0 to h9 of chart.css
	rampStep = 12
	cellGap  = 2.0
	rowLines = 2 // of a heading at most
	// maxTooltips is how many cells have a tooltip each; of more, cells of a level are one path, which keeps the chart small.
	maxTooltips = 600
)

type heatMap struct {
	Chart
	Grid
	columns columns
	scale   scale
	top     float64
	pitch   float64 // from row to row
}

// HeatMap draws a cell for each value, the further from the colour of the paper the higher.
func HeatMap(c Caption, g Grid) Chart { return newHeatMap(c, g).Chart }

// Confusion draws how many examples of the label of each row are predicted with that of each column. Colours are of the share of the row.
func Confusion(c Caption, labels []string, counts [][]int) Chart {
	return newConfusion(c, labels, counts).Chart
}

func newConfusion(c Caption, labels []string, counts [][]int) *heatMap {
	g := Grid{Rows: labels, Columns: labels, Counts: counts}
	for _, row := range counts {
		total, shares := 0, make([]float64, len(row))
		for _, n := range row {
			total += n
		}
		for column, n := range row {
			shares[column] = float64(n) / float64(total) // undefined of no example
		}
		g.Values = append(g.Values, shares)
	}
	return newHeatMap(c, g)
}

func newHeatMap(c Caption, g Grid) *heatMap {
	h := &heatMap{Chart: newChart(c), Grid: g, scale: g.scale(), columns: newColumns(g.Columns, g.Counts)}
	h.top = h.columns.height
	heads, width, lines := newHeadings(h.Rows, h.Counts == nil, rowLines)
	h.pitch = 8 + headingLine*float64(lines)
	entries := []legendEntry{
		{before: rangeEnd(h.scale.low), text: rangeEnd(h.scale.high), mark: ramp(), width: levels * rampStep},
	}
	undefined := func(v float64) bool { return !defined(v) }
	if slices.ContainsFunc(h.Values, func(row []float64) bool { return slices.ContainsFunc(row, undefined) }) {
		entries = append(entries, legendEntry{text: "undefined", mark: swatch("", h.ref("hatch")), width: 14})
	}
	if h.Counts != nil {
		entries = append(entries, legendEntry{text: "rows: true labels, colours: their shares", mark: templ.NopComponent},
			legendEntry{text: "columns: predicted labels", mark: templ.NopComponent})
	}
	h.legend = newLegend(entries)
	h.names = area{width: width + 10, marks: side(heads, h.top, h.pitch)}
	h.body = area{width: h.columns.width(len(h.Columns)), height: h.top + float64(len(h.Rows))*h.pitch + 4, marks: h.marks()}
	return h
}

// rangeEnd is an end of the scale, as short as it is exact.
func rangeEnd(v float64) string { return number(v, 'g', 4) }

// level is the class of colour of a value.
func (h *heatMap) level(v float64) int { return min(int(h.scale.at(v)*levels), levels-1) }

func (h *heatMap) y(row int) float64 { return h.top + float64(row)*h.pitch }

func (h *heatMap) hasTooltips() bool { return len(h.Rows)*len(h.Columns) <= maxTooltips }

func (h *heatMap) tooltip(row, column int) string {
	if h.Counts != nil {
		return Isolated(elide(h.Rows[row], rowCells)) + ", predicted " + Isolated(elide(h.Columns[column], columnCells)) + ": " +
			strconv.Itoa(h.Counts[row][column])
	}
	value := "undefined"
	if v, ok := h.at(row, column); ok {
		value = shown(v)
	}
	return numbered(h.Rows, row, rowCells) + ", " + Isolated(elide(h.Columns[column], columnCells)) + ": " + value
}

// figure is what a cell of counts or percent has written into it.
func (h *heatMap) figure(row, column int) string {
	v, ok := h.at(row, column)
	switch {
	case h.Percent && ok && h.hasTooltips():
		return strconv.Itoa(int(math.Round(100 * v)))
	case h.Percent || h.Counts[row][column] == 0:
		return ""
	}
	return strconv.Itoa(h.Counts[row][column])
}

// class is the colour of a cell; an undefined one is hatched.
func (h *heatMap) class(row, column int) string {
	if v, ok := h.at(row, column); ok {
		return "h" + strconv.Itoa(h.level(v))
	}
	return ""
}

// paths are, by class, a line through the middle of every cell that has it, as broad as a row.
func (h *heatMap) paths() map[string][]byte {
	paths := map[string][]byte{}
	for row := range h.Rows {
		for first, next := 0, 0; first < len(h.Columns); first = next {
			class := h.class(row, first)
			for next < len(h.Columns) && h.class(row, next) == class {
				next++
			}
			paths[class] = append(paths[class],
				"M"+px(h.columns.left(first))+" "+px(h.y(row)+(h.pitch-cellGap)/2)+"h"+px(h.columns.left(next-first))...)
		}
	}
	return paths
}
