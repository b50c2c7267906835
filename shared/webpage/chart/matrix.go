package chart

import (
	"math"
	"strconv"

	"github.com/a-h/templ"
)

// Comparison is of two runs.
type Comparison struct {
	P          float64 // NaN when it is undefined
	Difference float64 // of the means: the run of the row less that of the column; NaN when it is undefined
}

const (
	matrixWidth  = 78.0
	matrixHeight = 44.0
	matrixTop    = 26.0
)

// significances are the levels that are told apart, the strictest first, with what cells say of them.
var significances = []struct {
	below              float64
	class, stars, text string
}{
	{0.001, "p3", "***", "p < 0.001"},
	{0.01, "p2", "**", "p < 0.01"},
	{0.05, "p1", "*", "p < 0.05"},
	{math.Inf(1), "p0", "", "not significant"},
}

type matrix struct {
	Chart
	runs   []string
	across []label
	cells  [][]matrixCell
}

type matrixCell struct {
	class, p, difference, tip string
}

// Matrix draws the comparison of each run with each other, by row and column. The diagonal is left empty.
func Matrix(c Caption, runs []string, cells [][]Comparison) Chart {
	m := matrix{Chart: newChart(c)}
	if len(runs) < 2 {
		m.note = "There is nothing to compare yet."
		runs = nil
	}
	m.runs = shorten(&m.Chart, runs, MaxRuns, "runs")
	names := numbered(m.runs)
	rows, width := newRows(names, matrixTop, matrixHeight)
	m.names = pane{width: width, marks: side(rows)}
	for i, name := range names {
		m.across = append(m.across, label{
			text: isolated(fit(name, room(matrixWidth-6, smallText))), full: full(name, len(names)), at: m.left(i),
		})
	}
	for row := range m.runs {
		var line []matrixCell
		for column := range m.runs {
			line = append(line, m.cell(row, column, cells))
		}
		m.cells = append(m.cells, line)
	}
	var entries []keyEntry
	for _, s := range significances {
		text := s.text
		if s.stars != "" {
			text = s.stars + " " + text
		}
		entries = append(entries, keyEntry{text: text, mark: swatch(s.class, ""), width: 14})
	}
	m.key = newKey(append(entries, keyEntry{text: "below: mean difference, row less column", mark: templ.NopComponent}))
	m.body = pane{
		width: float64(len(m.runs))*matrixWidth + 2, height: matrixTop + float64(len(m.runs))*matrixHeight + 2, marks: m.marks(),
	}
	return m.Chart
}

func (m *matrix) left(column int) float64 { return float64(column) * matrixWidth }
func (m *matrix) y(row int) float64       { return matrixTop + float64(row)*matrixHeight }

// cell is what the matrix says of two runs.
func (m *matrix) cell(row, column int, all [][]Comparison) matrixCell {
	if row == column {
		return matrixCell{class: "same"}
	}
	v := Comparison{math.NaN(), math.NaN()}
	if row < len(all) && column < len(all[row]) {
		v = all[row][column]
	}
	c := matrixCell{class: "p0", p: "–", difference: "–"}
	said := "p undefined"
	if defined(v.P) {
		for _, s := range significances {
			if v.P < s.below {
				c.class, c.p = s.class, probability(v.P)+s.stars
				said = "p = " + shown(v.P) + ", " + s.text
				break
			}
		}
	}
	if defined(v.Difference) {
		c.difference = signed(v.Difference)
	}
	c.tip = isolated(fit(m.runs[row], rowCells)) + " – " + isolated(fit(m.runs[column], rowCells)) + ": " + said + ", difference " + c.difference
	return c
}

// probability is a p value as papers print it.
func probability(p float64) string {
	if p < 0.001 {
		return "<0.001"
	}
	return strconv.FormatFloat(p, 'f', 3, 64)
}

// signed is a difference with its sign, a true minus rather than a hyphen.
func signed(v float64) string {
	text := shown(math.Abs(v))
	switch {
	case text == shown(0):
		return text
	case v < 0:
		return "−" + text
	}
	return "+" + text
}
