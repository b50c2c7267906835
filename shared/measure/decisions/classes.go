package decisions

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"assay/shared/measure"
)

// Numbers returns the numbers that the labels are, by code, or the first label that occurs and is none.
func (l Labels) Numbers() (values []float64, other string) {
	values = make([]float64, len(l.Names))
	for code, name := range l.Names {
		x, err := strconv.ParseFloat(name, 64)
		if l.Counts[code].Occurs() > 0 && (err != nil || math.IsNaN(x) || math.IsInf(x, 0)) {
			return nil, name
		}
		values[code] = x
	}
	return values, ""
}

// Places numbers the labels that occur in their order: that of numbers where all are numbers, and else of their bytes.
func (l Labels) Places() []int64 {
	var codes []int
	for code := range l.Names {
		if l.Counts[code].Occurs() > 0 {
			codes = append(codes, code)
		}
	}
	compare := func(a, b int) int { return cmp.Compare(l.Names[a], l.Names[b]) }
	if values, other := l.Numbers(); other == "" {
		compare = func(a, b int) int {
			return cmp.Or(cmp.Compare(values[a], values[b]), cmp.Compare(l.Names[a], l.Names[b]))
		}
	}
	slices.SortFunc(codes, compare)
	places := make([]int64, len(l.Names))
	for place, code := range codes {
		places[code] = int64(place)
	}
	return places
}

// Classes compares predicted with true labels, all of which occur; nil where there are none, or more than measure.MaxClasses. pairs adds
// each true label of each example with each predicted one.
func (l Labels) Classes(pairs func(add func(actual, predicted int))) *measure.Classes {
	n := len(l.Names)
	if n == 0 || n > measure.MaxClasses {
		return nil
	}
	places := l.Places()
	c := &measure.Classes{Labels: make([]measure.Class, n), Matrix: make([][]int, n)}
	for code, of := range l.Counts {
		c.Labels[places[code]] = measure.Class{
			Label: l.Names[code], Precision: of.Precision(), Recall: of.Recall(), F1: of.F(1), Support: int(of.Actual)}
		c.Matrix[code] = make([]int, n)
	}
	pairs(func(actual, predicted int) { c.Matrix[places[actual]][places[predicted]]++ })
	return c
}
