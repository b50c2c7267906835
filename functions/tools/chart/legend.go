package chart

import "github.com/a-h/templ"

// legendEntry says what a mark means.
type legendEntry struct {
	before, text string
	mark         templ.Component // drawn around the middle of its left edge
	width        float64         // of the mark
	x, y         float64
}

// A key is no wider than a phone.
const (
	legendWidth = 340.0
	legendPitch = 20.0
	legendSpace = 10.0 // below it
)

// newLegend lets entries flow into lines.
func newLegend(entries []legendEntry) area {
	var x, y, widest float64
	for i := range entries {
		e := &entries[i]
		width := e.width + textWidth(e.before, smallText) + textWidth(e.text, smallText) + 12
		if x > 0 && x+width > legendWidth {
			x, y = 0, y+legendPitch
		}
		e.x, e.y = x, y+legendPitch/2
		x += width + 8
		widest = max(widest, x)
	}
	return area{width: widest, height: y + legendPitch + legendSpace, marks: key(entries)}
}

// markAt is where the mark stands, after the text before it.
func (e legendEntry) markAt() float64 {
	if e.before == "" {
		return e.x
	}
	return e.x + textWidth(e.before, smallText) + 6
}

func (e legendEntry) textAt() float64 {
	if e.width == 0 {
		return e.x
	}
	return e.markAt() + e.width + 6
}
