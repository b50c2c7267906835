package chart

import "strconv"

const (
	rowCells    = 19   // of a line of a heading, so that a phone has room for what it labels
	headingLine = 14.0 // from line to line
)

// runName is the heading of a run, which begins with its number: that distinguishes names that are cut to the same text.
type runName struct {
	lines []string
	full  string
}

// newRunHeadings divides the headings of runs into so many lines at most, and returns the width and the number of lines they need.
func newRunHeadings(names []string, most int) (heads []runName, width float64, lines int) {
	for i, name := range names {
		number := strconv.Itoa(i+1) + " "
		h := runName{full: number + full(name, len(names)), lines: wrap(number+name, rowCells, most)}
		for j, line := range h.lines {
			width = max(width, textWidth(line, smallText))
			h.lines[j] = Isolated(line)
		}
		heads, lines = append(heads, h), max(lines, len(h.lines))
	}
	return heads, width, lines
}

// y is where a line stands, with all of them around 0.
func (h runName) y(line int) float64 {
	return (float64(line)-float64(len(h.lines)-1)/2)*headingLine + 4
}

// numbered is the name of a run after its number, shortened to so many cells.
func numbered(names []string, run int, cells float64) string {
	number := strconv.Itoa(run+1) + " "
	return number + Isolated(fit(names[run], cells-float64(len(number))))
}
