package chart

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// maxMagnitude is beyond what is measured. Arithmetic on scales could overflow there, so it counts as undefined.
const maxMagnitude = 1e300

func defined(v float64) bool { return math.Abs(v) <= maxMagnitude } // false for NaN

// scale maps values to fractions of an axis.
type scale struct{ low, high float64 }

// at is where a value lies, from 0 to 1; values beyond the ends lie at the ends.
func (s scale) at(v float64) float64 {
	return min(max((v-s.low)/(s.high-s.low), 0), 1)
}

// over widens a scale to have the value, if it has one.
func (s scale) over(v float64) scale {
	if !defined(v) {
		return s
	}
	return scale{min(s.low, v), max(s.high, v)}
}

// apart returns the scale with ends that differ by enough to divide by.
func (s scale) apart() scale {
	if largest := max(math.Abs(s.low), math.Abs(s.high)); s.high-s.low <= max(1e-9*largest, 1e-250) {
		s.high = s.low + max(1, largest)
	}
	return s
}

// axis is a scale from one round number to another, with round numbers between them.
type axis struct {
	scale
	ticks []tick
}

type tick struct {
	value float64
	label string
}

// steps is about how many an axis has: their labels must fit a phone.
const steps = 5

// newAxis has steps of 1, 2 or 5 times a power of ten.
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

// tickLabel has as many decimals as the step.
func tickLabel(v, step float64) string {
	if largest := math.Abs(v); largest >= 1e6 || step < 1e-4 {
		return number(v, 'g', 4)
	}
	return number(v, 'f', max(0, int(math.Ceil(-math.Log10(step)-1e-9))))
}

// shown is a value as people compare it: with four decimals, and fewer where that many digits stand before them.
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

// number has a true minus rather than a hyphen.
func number(v float64, format byte, digits int) string {
	return strings.ReplaceAll(strconv.FormatFloat(v+0, format, digits, 64), "-", "−")
}

// Sizes of text in pixels, as in chart.css.
const (
	headingText = 15.0
	labelText   = 13.0
	smallText   = 12.0
)

// cell is the width of one of a terminal's cells as a part of the size of text: that of common fonts' wider letters.
const cell = 0.6

// textWidth is how wide a text is at most, save in fonts of unusual width.
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

// cellsOf is how many cells a character takes, more where fonts whose letters differ in width have a wide one. What has no
// width takes as much room as a letter, and what has many bytes as much as they would, so that both end.
func cellsOf(character string, width int) float64 {
	switch {
	case strings.ContainsAny(character, "MWmw@%"):
		return 1.6
	case len(character) == 1 && character >= "A" && character <= "Z":
		return 1.2
	}
	return max(float64(width), float64(len(character))/6, 1)
}

// cellsIn returns how many cells fit a width.
func cellsIn(width, size float64) float64 { return width / (cell * size) }

// cluster is how many bytes a character as readers see it may have: those of a family of four with skin colours fit. A
// longer one is a letter with a pile of accents, which would grow into the lines around it.
const cluster = 41

// elide shortens a text to so many cells, between characters as readers see them.
func elide(text string, cells float64) string {
	text = sanitize(text)
	var out strings.Builder
	whole := 0
	used := 0.0
	state := -1 // whole: of out, what leaves a cell for the ellipsis
	for text != "" {
		var character string
		var width int
		character, text, width, state = uniseg.FirstGraphemeClusterInString(text, state)
		if len(character) > cluster {
			_, size := utf8.DecodeRuneInString(character)
			character = character[:size]
		}
		if used += cellsOf(character, width); used > cells {
			return strings.TrimRight(out.String()[:whole], " ") + "…"
		}
		out.WriteString(character)
		if used+1 <= cells {
			whole = out.Len()
		}
	}
	return out.String()
}

// wrap divides a text into at most so many lines of so many cells, after a space or a sign between words where there is one
// in the second half of a line. Only what does not fit the last line is left out.
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

// Isolated keeps the direction of a text, such as the name of a run, from what stands around it: between FIRST STRONG
// ISOLATE and POP DIRECTIONAL ISOLATE of Unicode Standard Annex 9.
func Isolated(text string) string { return "\u2068" + text + "\u2069" }

// tooltipLabel is a label for a tooltip. Names of usual length are not shortened, unless a chart has so many that the page would
// be too large.
func tooltipLabel(text string, of int) string {
	switch {
	case of <= 50:
		return Isolated(elide(text, 200))
	case of <= 100:
		return Isolated(elide(text, 60))
	}
	return Isolated(elide(text, 24))
}
