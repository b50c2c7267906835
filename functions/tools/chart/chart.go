// Package chart draws results, so that people look at them rather than read numbers: bars, heat maps, strips and matrices
// as SVG. A chart stands within a page, whose style has the rules of Style, or alone as a document that brings them along.
// There is no script and no inline style, which the policy of pages would refuse. Labels are texts of users: they stay
// text, are clipped to their place, and never move what is next to them.
//
// Layout is arithmetic on the widths of characters as terminals count them, since the fonts of readers are unknown. Where
// such a guess could fail, texts are cut at the edge of their place instead of running into another.
//
// Charts show all that they are given, which who asks for one bounds: with 200 bars, or 20 runs and 300 topics, none is larger than a
// page may be.
package chart

import (
	"context"
	_ "embed"
	"io"
	"math"
	"strconv"

	"github.com/a-h/templ"
)

//go:generate go run github.com/a-h/templ/cmd/templ@v0.3.977 generate

// MediaType is that of documents.
const MediaType = "image/svg+xml"

// Style is the rules that a page with charts needs.
//
//go:embed chart.css
var Style string

// Caption describes a chart.
type Caption struct {
	ID          string // begins every id in the chart, so it is unique on the page
	Title       string
	Description string // for those who don't see the chart: what is to be learnt from it
}

// Chart is a chart that has been laid out. Rendered as a component it is an element for a page.
type Chart struct {
	Caption
	legend area // what marks mean
	names  area // what stays in place while the body scrolls beneath it
	body   area
}

// area is a part of a chart: in pixels, with the origin at its upper left.
type area struct {
	width, height float64
	fluid         bool // as wide as there is room; width is that of the document
	marks         templ.Component
}

// newChart makes the texts of the caption fit for XML.
func newChart(c Caption) Chart {
	c.Title, c.Description = sanitize(c.Title), sanitize(c.Description)
	return Chart{Caption: c}
}

// Render writes the chart as an element of a page.
func (c Chart) Render(ctx context.Context, w io.Writer) error { return c.element().Render(ctx, w) }

// In a document.
const (
	margin  = 16.0
	heading = 34.0
)

func (c Chart) innerWidth() float64 {
	return max(c.names.width+c.body.width, c.legend.width, 320)
}

func (c Chart) width() float64     { return c.innerWidth() + 2*margin }
func (c Chart) legendTop() float64 { return margin + heading }
func (c Chart) bodyTop() float64   { return c.legendTop() + c.legend.height }

func (c Chart) height() float64 { return c.bodyTop() + c.body.height + margin }

// heading is the title as far as the document has room.
func (c Chart) heading() string { return elide(c.Title, cellsIn(c.innerWidth(), headingText)) }

func (c Chart) id(name string) string  { return c.ID + "-" + name }
func (c Chart) ref(name string) string { return "url(#" + c.id(name) + ")" }

// px writes a length to a tenth of a pixel.
func px(length float64) string { return rounded(length, 10) }

func percent(fraction float64) string { return rounded(100*fraction, 100) + "%" }

func rounded(v, parts float64) string {
	return strconv.FormatFloat(math.Round(v*parts)/parts+0, 'f', -1, 64) // + 0 turns -0 into 0
}

// legendEntry explains a mark.
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
