package classification

import "assay/shared/measure"

// classes compares predicted with true labels, as Evaluate has them; nil where more than measure.MaxClasses labels occur.
func classes(names []string, truth, predicted []int32) *measure.Classes {
	if len(names) > measure.MaxClasses {
		return nil
	}
	t := newCounts(names, truth, predicted)
	places := (&ordinal{counts: t}).places()
	c := &measure.Classes{Labels: make([]measure.Class, len(names)), Matrix: make([][]int, len(names))}
	for code, l := range t.Counts {
		c.Labels[places[code]] = measure.Class{
			Label: names[code], Precision: l.Precision(), Recall: l.Recall(), F1: l.F(1), Support: int(l.Actual)}
		c.Matrix[code] = make([]int, len(names))
	}
	for i, code := range truth {
		c.Matrix[places[code]][places[predicted[i]]]++
	}
	return c
}
