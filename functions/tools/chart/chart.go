// Package chart draws results as SVG: bars, heat maps, strips and matrices. A chart is an element of a page whose style has the
// rules of Style, or a document that contains these rules. Charts have no script and no inline style, because the policy of pages
// refuses both. Labels are texts of users: they are escaped, clipped to their place, and never move their neighbours.
//
// The layout estimates the width of a character in the way of terminals, because the fonts of readers are unknown. Where such an
// estimate may fail, a text is cut at the edge of its place and does not run into other texts.
//
// Charts show all values that they are given. The caller bounds them: with 200 bars, or 20 runs and 300 topics, each chart stays
// below the largest size of a page.
package chart

import (
	"context"
	_ "embed"
	"io"
	"math"
	"strconv"

	"github.com/a-h/templ"
)

// The go:generate directive of package tools, the parent folder, writes the Go files of the templates here.

// MediaType is the media type of a chart's document.
const MediaType = "image/svg+xml"

// Style contains the CSS rules for charts.
//
//go:embed chart.css
var Style string

// Caption describes a chart.
type Caption struct {
	ID          string // prefix of every id in the chart, unique on the page
	Title       string
	Description string // for readers who cannot see the chart: its message
}

// Chart is a chart with its layout. As a component it renders an element for a page.
type Chart struct {
	Caption
	legend area // meaning of the marks
	names  area // stays in place while the body scrolls
	body   area
}

// area is a part of a chart, in pixels, with the origin at its upper left.
type area struct {
	width, height float64
	fluid         bool // takes the available width; width is the width in a document
	marks         templ.Component
}

// newChart returns a chart with this caption, without characters that XML does not allow.
func newChart(c Caption) Chart {
	c.Title, c.Description = sanitize(c.Title), sanitize(c.Description)
	return Chart{Caption: c}
}

// Render writes the chart as an element of a page.
func (c Chart) Render(ctx context.Context, w io.Writer) error { return c.element().Render(ctx, w) }

// Sizes in a document.
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

// heading returns the title, shortened to the width of the document.
func (c Chart) heading() string { return elide(c.Title, cellsIn(c.innerWidth(), headingText)) }

func (c Chart) id(name string) string  { return c.ID + "-" + name }
func (c Chart) ref(name string) string { return "url(#" + c.id(name) + ")" }

// px formats a length with a precision of a tenth of a pixel.
func px(length float64) string { return rounded(length, 10) }

func percent(fraction float64) string { return rounded(100*fraction, 100) + "%" }

func rounded(v, parts float64) string {
	return strconv.FormatFloat(math.Round(v*parts)/parts+0, 'f', -1, 64) // + 0 turns -0 into 0
}

// legendEntry explains a mark.
type legendEntry struct {
	before, text string
	mark         templ.Component // drawn around the middle of the mark's left edge
	width        float64         // of the mark
	x, y         float64
}

// Layout of a legend, which is no wider than a phone.
const (
	legendWidth = 340.0
	legendPitch = 20.0
	legendSpace = 10.0 // below the legend
)

// newLegend arranges entries in lines.
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

// markAt returns the left edge of the mark, after the text before it.
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
