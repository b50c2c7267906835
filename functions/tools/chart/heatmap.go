package chart

import (
	"math"
	"slices"
	"strconv"

	"github.com/a-h/templ"
)

const (
	levels   = 10 // classes h0 to h9 in chart.css
	rampStep = 12
	cellGap  = 2.0
	rowLines = 2 // largest number of lines of a heading
	// maxTooltips bounds the cells that have tooltips. In larger heat maps, all cells of a level are one path, which keeps the
	// chart small.
	maxTooltips = 600
)

type heatMap struct {
	Chart
	Grid
	columns columns
	scale   scale
	top     float64
	pitch   float64 // distance of two rows
}

// HeatMap draws a cell for each value. Higher values differ more from the colour of the paper.
func HeatMap(c Caption, g Grid) Chart { return newHeatMap(c, g).Chart }

// Confusion draws a confusion matrix: rows are true labels, columns are predicted labels. Colours show the share of a count in
// its row.
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
			shares[column] = float64(n) / float64(total) // NaN for a label without examples
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

// rangeEnd formats an end of the scale with up to four digits.
func rangeEnd(v float64) string { return number(v, 'g', 4) }

// level returns the number of the colour of a value.
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

// figure returns the number that a cell of counts or percent contains.
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

// class returns the class of the colour of a cell. It is empty for undefined cells, which are hatched.
func (h *heatMap) class(row, column int) string {
	if v, ok := h.at(row, column); ok {
		return "h" + strconv.Itoa(h.level(v))
	}
	return ""
}

// paths returns a path for each class. The path goes through the middle of every cell of the class and is as wide as a row.
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
