package chart

import "math"

// Bar is a line of a leaderboard.
type Bar struct {
	Label    string
	Value    float64   // NaN when it is undefined
	Interval *Interval // of confidence, 95 %; nil when there is none
	Group    string    // letters; bars that share one cannot be distinguished
	Note     string    // a word or two, such as "baseline"
}

// Interval is a range of values.
type Interval struct{ Low, High float64 }

// Layout of a bar: its texts stand above it, so that it has the whole width on a phone too.
const (
	barPitch  = 42.0 // from bar to bar
	barText   = 13.0 // baseline of the texts
	barTop    = 20.0
	barHeight = 10.0
	axisSpace = 24.0
	barsWidth = 760.0 // of the document
)

// A label may take so much of the width before it fades, and has so many cells.
const (
	labelPart  = 0.68
	labelCells = 44
	noteCells  = 14
	groupCells = 8
)

// manyBars get an axis above them too, as the one below is out of sight.
const manyBars = 12

const nothingToShow = "There is nothing to show yet."

type bars struct {
	Chart
	axis    axis
	rows    []barRow
	top     float64
	letters float64 // width of the column of groups, 0 without
}

type barRow struct {
	label, note, group string
	value, tip         string
	y                  float64
	defined            bool
	x, width           float64 // of the bar, as fractions
	whisker            *Interval
}

// Bars draws horizontal bars in the order given, from zero, with intervals as whiskers.
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
	if of > 50 { // for the weight of the page
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

// anchor keeps the labels at the ends of an axis within it.
func anchor(at float64) string {
	switch {
	case at <= 0:
		return "start"
	case at >= 1:
		return "end"
	}
	return "middle"
}
