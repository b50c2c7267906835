package chart

import (
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

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

// room is how many cells fit a width.
func room(width, size float64) float64 { return width / (cell * size) }

// cluster is how many bytes a character as readers see it may have: those of a family of four with skin colours fit. A
// longer one is a letter with a pile of accents, which would grow into the lines around it.
const cluster = 41

// fit shortens a text to so many cells, between characters as readers see them.
func fit(text string, cells float64) string {
	text = clean(text)
	var out strings.Builder
	whole, used, state := 0, 0.0, -1 // whole: of out, what leaves a cell for the ellipsis
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
	for text = clean(text); len(lines) < most-1; {
		line := strings.TrimSuffix(fit(text, cells+1), "…")
		if fit(text, cells) == text || len(line) >= len(text) || !strings.HasPrefix(text, line) {
			break
		}
		if i := strings.LastIndexAny(line, " -_.:/"); i > len(line)/2 {
			line = line[:i+1]
		}
		lines, text = append(lines, strings.TrimSpace(line)), strings.TrimSpace(text[len(line):])
	}
	return append(lines, fit(text, cells))
}

// clean removes from a text what XML cannot carry, and what would reorder the labels next to it.
func clean(text string) string {
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

// full is a label for a tooltip. It is whole for names of usual length, save where a chart has so many that a page would
// weigh too much.
func full(text string, of int) string {
	switch {
	case of <= 50:
		return Isolated(fit(text, 200))
	case of <= 100:
		return Isolated(fit(text, 60))
	}
	return Isolated(fit(text, 24))
}
