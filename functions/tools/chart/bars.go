package chart

import "math"

// Bar is a line of a leaderboard.
type Bar struct {
	Label    string
	Value    float64   // NaN if undefined
	Interval *Interval // 95 % confidence interval; nil if there is none
	Group    string    // letters; two bars with letters of which they share none differ significantly
	Note     string    // a word or two, such as "baseline"
}

// Interval is a range of values.
type Interval struct{ Low, High float64 }

// Layout of a bar. Its texts stand above it, so that the bar has the whole width on a phone, too.
const (
	barPitch  = 42.0 // distance of two bars
	barText   = 13.0 // baseline of the texts
	barTop    = 20.0
	barHeight = 10.0
	axisSpace = 24.0
	barsWidth = 760.0 // of the document
)

// Space of the texts. A label fades at labelPart of the width. The other constants are the cells of each text.
const (
	labelPart  = 0.68
	labelCells = 44
	noteCells  = 14
	groupCells = 8
)

// manyBars is the number of bars above which a second axis stands above the bars, because the axis below is out of sight.
const manyBars = 12

const nothingToShow = "There is nothing to show yet."

type bars struct {
	Chart
	axis    axis
	rows    []barRow
	top     float64
	letters float64 // width of the column of groups; 0 without groups
}

type barRow struct {
	label, note, group string
	value, tip         string
	y                  float64
	defined            bool
	x, width           float64 // of the bar, as fractions of the axis
	whisker            *Interval
}

// Bars draws horizontal bars from zero in the given order. Whiskers show the intervals.
func Bars(c Caption, all []Bar) Chart { return newBars(c, all).Chart }

func newBars(c Caption, all []Bar) *bars {
	if len(all) == 0 {
		c.Description += " " + nothingToShow
	}
	b := &bars{Chart: newChart(c)}
	var range0 scale
	for i := range all {
		range0 = range0.over(all[i].Value)
		if i := all[i].Interval; i != nil && defined(i.Low) && defined(i.High) {
			range0 = range0.over(i.Low).over(i.High)
		}
		if all[i].Group != "" {
			b.letters = max(b.letters, textWidth(elide(all[i].Group, groupCells), labelText)+10)
		}
	}
	b.axis = newAxis(range0)
	if len(all) > manyBars {
		b.top = axisSpace
	}
	for i := range all {
		b.rows = append(b.rows, b.row(&all[i], b.top+float64(i)*barPitch, len(all)))
	}
	b.body = area{width: barsWidth, height: b.bottom() + axisSpace, fluid: true, marks: b.marks()}
	return b
}

func (b *bars) bottom() float64 { return b.top + float64(len(b.rows))*barPitch }

func (b *bars) row(v *Bar, y float64, of int) barRow {
	r := barRow{note: elide(v.Note, noteCells), group: elide(v.Group, groupCells), value: shown(v.Value), y: y, defined: defined(v.Value)}
	cells := float64(labelCells)
	if r.note != "" {
		cells -= noteCells
	}
	tipCells := 200.0
	if of > 50 { // keeps the page small
		cells, tipCells = cells-8, 40
	}
	r.label = Isolated(elide(v.Label, cells))
	r.tip = Isolated(elide(v.Label, tipCells)) + ": " + r.value
	if r.defined {
		from, to := b.axis.at(0), b.axis.at(v.Value)
		r.x, r.width = min(from, to), math.Abs(to-from)
	}
	if i := v.Interval; i != nil && defined(i.Low) && defined(i.High) {
		r.whisker = &Interval{b.axis.at(min(i.Low, i.High)), b.axis.at(max(i.Low, i.High))}
		r.tip += ", 95 % interval " + shown(i.Low) + " to " + shown(i.High)
	}
	if r.group != "" {
		r.tip += ", group " + r.group
	}
	if r.note != "" && of <= 50 {
		r.tip += ", " + Isolated(r.note)
	}
	return r
}

// anchor returns the text anchor of a label. Labels at the ends of an axis stay within the axis.
func anchor(at float64) string {
	switch {
	case at <= 0:
		return "start"
	case at >= 1:
		return "end"
	}
	return "middle"
}
