package chart

import "github.com/a-h/templ"

// keyEntry says what a mark means.
type keyEntry struct {
	before, text string
	mark         templ.Component // drawn around the middle of its left edge
	width        float64         // of the mark
	x, y         float64
}

// A key is no wider than a phone.
const (
	keyWidth = 340.0
	keyPitch = 20.0
	keySpace = 10.0 // below it
)

// newKey lets entries flow into lines.
func newKey(entries []keyEntry) pane {
	var x, y, widest float64
	for i := range entries {
		e := &entries[i]
		width := e.width + textWidth(e.before, smallText) + textWidth(e.text, smallText) + 12
		if x > 0 && x+width > keyWidth {
			x, y = 0, y+keyPitch
		}
		e.x, e.y = x, y+keyPitch/2
		x += width + 8
		widest = max(widest, x)
	}
	return pane{width: widest, height: y + keyPitch + keySpace, marks: key(entries)}
}

// markAt is where the mark stands, after the text before it.
func (e keyEntry) markAt() float64 {
	if e.before == "" {
		return e.x
	}
	return e.x + textWidth(e.before, smallText) + 6
}

func (e keyEntry) textAt() float64 {
	if e.width == 0 {
		return e.x
	}
	return e.markAt() + e.width + 6
}
