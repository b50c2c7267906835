package decisions

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"assay/shared/computation/measure"
)

// Numbers returns the labels as numbers, by code. If a label that occurs is not a number, it returns the first such label instead.
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

// Places numbers the labels that occur in their order: numeric if all are numbers, otherwise the order of their bytes.
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

// Classes compares predicted with true labels. All labels must occur. It returns nil if there are no labels, or more than
// measure.MaxClasses. pairs calls add with each pair of a true and a predicted label of each example.
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
