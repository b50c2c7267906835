package predictions

import (
	"bytes"
	"cmp"
	"slices"

	"assay/shared/measure"
	"assay/shared/measure/fields"
)

// splitLabels takes the labels that a field of csv has.
func (f *file) splitLabels(e *example, text []byte) {
	f.labels = f.labels[:0]
	if len(text) > 0 {
		for label := range bytes.SplitSeq(text, []byte(cmp.Or(f.format.Separator, measure.DefaultSeparator))) {
			if !f.addLabel(e, label) {
				return
			}
		}
	}
	e.labels, e.sound = f.labels, true
}

// setLabels takes the labels in a JSON array.
func (f *file) setLabels(e *example, array []byte) {
	f.labels = f.labels[:0]
	for element := range fields.Elements(array) {
		label, ok := f.content(e.line, f.format.ValueField, element, labelKinds)
		if !ok || !f.addLabel(e, label) {
			return
		}
	}
	e.labels, e.sound = f.labels, true
}

func (f *file) addLabel(e *example, label []byte) bool {
	if len(f.labels) == MaxSet {
		f.errorf(e.line, "%q has more than %d labels; expected at most as many", f.format.ValueField, MaxSet)
		return false
	}
	f.labels = append(f.labels, label)
	return f.bounded(e.line, f.format.ValueField, label, MaxText)
}

// sets has the label codes of each example.
type sets struct {
	starts []uint32 // by example, where it begins in codes; empty when no set is kept
	codes  []int32  // of each example how many it has, and then those, in ascending order
}

func (s *sets) at(i int) []int32 {
	start := s.starts[i] + 1
	return s.codes[start:][:s.codes[start-1]]
}

// put takes the labels of an example, whose codes code returns, and returns false when there is room for no more.
func (s *sets) put(f *file, e example, index, limit int, code func(f *file, line int, label []byte) (int32, bool)) bool {
	start := len(s.codes)
	if start+len(e.labels) >= limit {
		f.errorf(e.line, "the examples up to here have more than %d labels together; expected fewer", limit)
		return false
	}
	s.codes = append(s.codes, int32(len(e.labels)))
	for _, label := range e.labels {
		c, ok := code(f, e.line, label)
		if !ok {
			return false
		}
		s.codes = append(s.codes, c)
	}
	set := s.codes[start+1:]
	slices.Sort(set)
	for i, c := range set {
		if i > 0 && c == set[i-1] {
			first := slices.IndexFunc(e.labels, func(label []byte) bool {
				other, _ := code(f, e.line, label)
				return other == c
			})
			f.errorf(e.line, "%q has the label %s twice; expected every label once", f.format.ValueField, fields.Quote(e.labels[first]))
			break
		}
	}
	if len(s.starts) == 0 {
		s.codes = s.codes[:start]
	} else {
		s.starts[index] = uint32(start)
	}
	return true
}
