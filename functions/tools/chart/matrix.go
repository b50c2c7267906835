package chart

import (
	"math"
	"strconv"
	"strings"

	"github.com/a-h/templ"
)

// Comparison is the comparison of two runs.
type Comparison struct {
	P          float64 // NaN if undefined
	AtMost     bool    // P is an upper bound
	Difference float64 // mean of the row's run minus mean of the column's run; NaN if undefined
}

const (
	matrixWidth  = 78.0
	matrixHeight = 44.0
	matrixLines  = 3 // largest number of lines of a heading, enough for names of usual length
)

// significances are the levels that cells distinguish, the strictest first, with their texts.
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
	runs  []string
	heads []runName
	top   float64 // height of the headings of columns
	cells [][]matrixCell
}

type matrixCell struct {
	class, p, difference, tip string
}

// Matrix draws the comparison of each run with each other run. The diagonal is empty.
func Matrix(c Caption, runs []string, cells [][]Comparison) Chart {
	return newMatrix(c, runs, cells).Chart
}

func newMatrix(c Caption, runs []string, cells [][]Comparison) *matrix {
	m := &matrix{Chart: newChart(c), runs: runs}
	var widest float64
	m.heads, widest, _ = newHeadings(m.runs, true, matrixLines)
	m.top = widest + 16
	m.names = area{width: widest + 10, marks: side(m.heads, m.top, matrixHeight)}
	for row := range m.runs {
		var line []matrixCell
		for column := range m.runs {
			line = append(line, m.cell(row, column, cells[row][column]))
		}
		m.cells = append(m.cells, line)
	}
	var entries []legendEntry
	for _, s := range significances {
		text := s.text
		if s.stars != "" {
			text = s.stars + " " + text
		}
		entries = append(entries, legendEntry{text: text, mark: swatch(s.class, ""), width: 14})
	}
	m.legend = newLegend(append(entries, legendEntry{text: "below: mean difference, row less column", mark: templ.NopComponent}))
	size := float64(len(m.runs))
	m.body = area{width: size*matrixWidth + 2, height: m.top + size*matrixHeight + 2, marks: m.marks()}
	return m
}

func (m *matrix) left(column int) float64 { return float64(column) * matrixWidth }
func (m *matrix) y(row int) float64       { return m.top + float64(row)*matrixHeight }

func (m *matrix) cell(row, column int, v Comparison) matrixCell {
	if row == column {
		return matrixCell{class: "same"}
	}
	c := matrixCell{class: "p0", p: "–", difference: "–"}
	said := "p undefined"
	if defined(v.P) {
		for _, s := range significances {
			if v.P < s.below {
				c.class, c.p = s.class, Probability(v.P, 3)+s.stars
				sign := "p = "
				if v.AtMost {
					sign = "p ≤ "
				}
				said = sign + Probability(v.P, 4) + ", " + s.text
				if bound, found := strings.CutPrefix(Probability(v.P, 4), "<"); found {
					said = "p < " + bound
				}
				break
			}
		}
	}
	if defined(v.Difference) {
		c.difference = signed(v.Difference)
	}
	cells := float64(rowCells)
	if len(m.runs) > 10 { // keeps the page small
		cells = 8
	}
	c.tip = numbered(m.runs, row, cells) + " – " + numbered(m.runs, column, cells) + ": " + said + ", difference " + c.difference
	return c
}

// Probability formats a p value with the given decimals. A p below a level of significance is never rounded up to the level.
func Probability(p float64, decimals int) string {
	fixed := func(v float64) string { return strconv.FormatFloat(v, 'f', decimals, 64) }
	if least := math.Pow10(-decimals); p < least {
		return "<" + fixed(least)
	}
	text := fixed(p)
	for _, s := range significances {
		if p < s.below && text == fixed(s.below) {
			return "<" + text
		}
	}
	return text
}

func signed(v float64) string {
	text := shown(v)
	if v > 0 && text != shown(0) {
		return "+" + text
	}
	return text
}
