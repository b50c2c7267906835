package chart

import (
	"math"
	"strconv"
	"strings"
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
