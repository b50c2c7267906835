package chart

import (
	"math"
	"slices"
	"strconv"
)

// Grid holds values by row and column: of runs by topic, or for example of labels by label.
type Grid struct {
	Rows    []string    // runs
	Columns []string    // topics
	Values  [][]float64 // by row, then column; NaN where undefined
	// LowerIsBetter says that lower values are better, for example errors.
	LowerIsBetter bool
	// Hard and Outliers say what strips mark: hard columns, and for each column the rows that are outliers.
	Hard     []bool
	Outliers [][]int
	// Counts are the numbers that Confusion writes into cells.
	Counts [][]int
	// Percent makes HeatMap write values into cells in percent, if there are at most maxTooltips cells.
	Percent bool
}

func (g *Grid) at(row, column int) (float64, bool) {
	v := g.Values[row][column]
	return v, defined(v)
}

// scale returns the smallest scale with 0, 1 and all values.
func (g *Grid) scale() scale {
	s := scale{0, 1}
	for _, row := range g.Values {
		for _, v := range row {
			s = s.over(v)
		}
	}
	return s
}

// columns is the layout of columns side by side. It shows as many labels as have room.
type columns struct {
	pitch  float64
	labels []label
	height float64 // height of the labels
	right  float64 // end of the last label
	turned bool    // labels run upwards
}

// label is the shown text of a column, and its full text.
type label struct {
	text, full string
	at         float64 // left end of the text; the middle of the line if the label is turned
}

const (
	columnCells = 14  // largest width of a turned label
	labelGap    = 6.0 // between labels side by side
	turnedPitch = 15.0
)

// newColumns makes columns narrower the more there are. With counts, each column is wide enough for its counts and has a label.
func newColumns(names []string, counts [][]int) columns {
	c := columns{pitch: 8}
	for _, w := range []struct {
		most  int
		pitch float64
	}{{24, 28}, {60, 16}, {150, 11}} {
		if len(names) <= w.most {
			c.pitch = w.pitch
			break
		}
	}
	for _, n := range slices.Concat(counts...) {
		c.pitch = max(c.pitch, textWidth(strconv.Itoa(n), smallText)+8)
	}
	var widest float64
	texts := make([]string, len(names))
	for i, name := range names {
		texts[i] = elide(name, columnCells)
		widest = max(widest, textWidth(texts[i], smallText))
	}
	between := widest + labelGap
	c.height = 20
	c.turned = widest > 2*c.pitch && widest > 40 || counts != nil && between > c.pitch
	if c.turned {
		between, c.height = turnedPitch, widest+16 // leaves room for fonts with wide letters
	}
	for i := 0; i < len(names); i += max(1, int(math.Ceil(between/c.pitch))) {
		l := label{Isolated(texts[i]), tooltipLabel(names[i], len(names)+len(counts)), c.middle(i)}
		if !c.turned {
			// A label that is wider than its column starts at the left of the column.
			width := textWidth(texts[i], smallText)
			l.at = c.left(i) + max(0, c.pitch-width)/2
			c.right = max(c.right, l.at+width)
		}
		c.labels = append(c.labels, l)
	}
	return c
}

func (c columns) left(i int) float64   { return float64(i) * c.pitch }
func (c columns) middle(i int) float64 { return c.left(i) + c.pitch/2 }
func (c columns) width(n int) float64  { return max(c.left(n), c.right) + 8 }

const (
	rowCells    = 19   // of a line of a heading, so that a phone has room for the cells beside it
	headingLine = 14.0 // distance of two lines
)

// runName is the heading of a row. For runs it begins with the number of the run, which distinguishes names that are cut to the
// same text. Headings of labels have no number, because labels can be numbers.
type runName struct {
	lines []string
	full  string
}

// newHeadings divides the headings of rows into at most the given lines. It returns the width and the lines that they need.
func newHeadings(names []string, numbers bool, most int) (heads []runName, width float64, lines int) {
	for i, name := range names {
		number := ""
		if numbers {
			number = strconv.Itoa(i+1) + " "
		}
		h := runName{full: number + tooltipLabel(name, len(names)), lines: wrap(number+name, rowCells, most)}
		for j, line := range h.lines {
			width = max(width, textWidth(line, smallText))
			h.lines[j] = Isolated(line)
		}
		heads, lines = append(heads, h), max(lines, len(h.lines))
	}
	return heads, width, lines
}

// y returns the baseline of a line. All lines together are centred around 0.
func (h runName) y(line int) float64 {
	return (float64(line)-float64(len(h.lines)-1)/2)*headingLine + 4
}

// numbered returns the number and the name of a run. The name is shortened so that both take the given cells.
func numbered(names []string, run int, cells float64) string {
	number := strconv.Itoa(run+1) + " "
	return number + Isolated(elide(names[run], cells-float64(len(number))))
}
