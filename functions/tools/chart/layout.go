package chart

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// maxMagnitude bounds the values that a chart shows. Larger values count as undefined, because arithmetic on scales could
// overflow.
const maxMagnitude = 1e300

func defined(v float64) bool { return math.Abs(v) <= maxMagnitude } // false for NaN

// scale maps values to fractions of an axis.
type scale struct{ low, high float64 }

// at returns the position of a value from 0 to 1. Values outside the scale are at its ends.
func (s scale) at(v float64) float64 {
	return min(max((v-s.low)/(s.high-s.low), 0), 1)
}

// over extends the scale to contain the value, if the value is defined.
func (s scale) over(v float64) scale {
	if !defined(v) {
		return s
	}
	return scale{min(s.low, v), max(s.high, v)}
}

// apart returns the scale with ends that differ by enough to divide by the difference.
func (s scale) apart() scale {
	if largest := max(math.Abs(s.low), math.Abs(s.high)); s.high-s.low <= max(1e-9*largest, 1e-250) {
		s.high = s.low + max(1, largest)
	}
	return s
}

// axis is a scale between two round numbers, with round numbers as ticks.
type axis struct {
	scale
	ticks []tick
}

type tick struct {
	value float64
	label string
}

// steps is about the number of steps of an axis. The labels of the ticks must fit a phone.
const steps = 5

// newAxis returns an axis whose steps are 1, 2 or 5 times a power of ten.
func newAxis(s scale) axis {
	s = s.apart()
	rough := (s.high - s.low) / steps
	power := math.Pow(10, math.Floor(math.Log10(rough)))
	step := 10 * power
	for _, times := range []float64{1, 2, 5} {
		if times*power >= rough*(1-1e-9) {
			step = times * power
			break
		}
	}
	first, last := math.Floor(s.low/step+1e-9), math.Ceil(s.high/step-1e-9)
	var a axis
	for i := first; i <= last; i++ {
		a.ticks = append(a.ticks, tick{i * step, tickLabel(i*step, step)})
	}
	a.scale = scale{first * step, last * step}
	return a
}

// tickLabel formats a tick with as many decimals as the step has.
func tickLabel(v, step float64) string {
	if largest := math.Abs(v); largest >= 1e6 || step < 1e-4 {
		return number(v, 'g', 4)
	}
	return number(v, 'f', max(0, int(math.Ceil(-math.Log10(step)-1e-9))))
}

// shown formats a value for comparison: with four decimals, or fewer for values of 10 and more.
func shown(v float64) string {
	switch size := math.Abs(v); {
	case !defined(v):
		return "undefined"
	case size >= 1e6:
		return number(v, 'g', 4)
	case size >= 1000:
		return number(v, 'f', 0)
	case size >= 100:
		return number(v, 'f', 1)
	case size >= 10:
		return number(v, 'f', 2)
	case size < 0.00005:
		v = 0 // never -0.0000
	}
	return number(v, 'f', 4)
}

// number formats a value with a minus sign instead of a hyphen.
func number(v float64, format byte, digits int) string {
	return strings.ReplaceAll(strconv.FormatFloat(v+0, format, digits, 64), "-", "−")
}

// Sizes of text in pixels. chart.css has the same sizes.
const (
	headingText = 15.0
	labelText   = 13.0
	smallText   = 12.0
)

// cell is the width of a terminal's cell as a part of the size of text. It is the width of the wider letters of common fonts.
const cell = 0.6

// textWidth estimates the largest width of a text. Only unusually wide fonts exceed it.
func textWidth(text string, size float64) float64 {
	cells, state := 0.0, -1
	for text != "" {
		var character string
		var width int
		character, text, width, state = uniseg.FirstGraphemeClusterInString(text, state)
		cells += cellsOf(character, width)
	}
	return cells * cell * size
}

// cellsOf returns the cells of a character. Letters that are wide in proportional fonts have more than one. Characters without
// width have at least one cell, and characters of many bytes have more, so that every text ends within its place.
func cellsOf(character string, width int) float64 {
	switch {
	case strings.ContainsAny(character, "MWmw@%"):
		return 1.6
	case len(character) == 1 && character >= "A" && character <= "Z":
		return 1.2
	}
	return max(float64(width), float64(len(character))/6, 1)
}

// cellsIn returns the number of cells in a width.
func cellsIn(width, size float64) float64 { return width / (cell * size) }

// cluster bounds the bytes of a character (grapheme cluster). An emoji of a family of four with skin colours fits. Longer
// characters are letters with many accents, which would reach into the lines around them.
const cluster = 41

// elide shortens a text to the given cells. It cuts between grapheme clusters.
func elide(text string, cells float64) string {
	text = sanitize(text)
	var out strings.Builder
	whole := 0
	used := 0.0
	state := -1 // whole: length of the part of out that leaves a cell for the ellipsis
	for text != "" {
		var character string
		var width int
		character, text, width, state = uniseg.FirstGraphemeClusterInString(text, state)
		if len(character) > cluster {
			_, size := utf8.DecodeRuneInString(character)
			character = character[:size]
		}
		used += cellsOf(character, width)
		if used > cells {
			return strings.TrimRight(out.String()[:whole], " ") + "…"
		}
		out.WriteString(character)
		if used+1 <= cells {
			whole = out.Len()
		}
	}
	return out.String()
}

// wrap divides a text into at most most lines of the given cells. It breaks after a space or a punctuation character in the
// second half of a line, if there is one. It cuts only the last line.
func wrap(text string, cells float64, most int) (lines []string) {
	for text = sanitize(text); len(lines) < most-1; {
		line := strings.TrimSuffix(elide(text, cells+1), "…")
		if elide(text, cells) == text || len(line) >= len(text) || !strings.HasPrefix(text, line) {
			break
		}
		if i := strings.LastIndexAny(line, " -_.:/"); i > len(line)/2 {
			line = line[:i+1]
		}
		lines = append(lines, strings.TrimSpace(line))
		text = strings.TrimSpace(text[len(line):])
	}
	return append(lines, elide(text, cells))
}

// sanitize removes characters that XML does not allow, and control characters that would reorder the labels next to the text.
func sanitize(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t', r == '\n', r == '\r', r == '\u2028', r == '\u2029':
			return ' '
		case r < ' ', r >= 0x7f && r < 0xa0, r == 0xfffe, r == 0xffff:
			return utf8.RuneError
		case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
			return -1
		}
		return r
	}, text)
}

// Isolated keeps the direction of a text, such as the name of a run, from affecting the text around it. It puts the text between
// FIRST STRONG ISOLATE and POP DIRECTIONAL ISOLATE of Unicode Standard Annex 9.
func Isolated(text string) string { return "\u2068" + text + "\u2069" }

// tooltipLabel shortens a label for a tooltip. Charts with few labels keep names of usual length. Charts with many shorten them,
// so that the page stays small. of is the number of labels.
func tooltipLabel(text string, of int) string {
	switch {
	case of <= 50:
		return Isolated(elide(text, 200))
	case of <= 100:
		return Isolated(elide(text, 60))
	}
	return Isolated(elide(text, 24))
}
