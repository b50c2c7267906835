package predictions

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/bounds"
	"assay/shared/computation/measure/fields"
)

// splitLabels reads the labels in a csv field.
func (f *file) splitLabels(e *example, text []byte) {
	f.labels = f.labels[:0]
	if len(text) > 0 {
		separator := separatorOf(f.format)
		for label := range bytes.SplitSeq(text, []byte(separator)) {
			if len(label) == 0 {
				side := "after"
				if len(f.labels) == 0 {
					side = "before"
				}
				f.errorf(e.line, "%q has an empty label %s a separator (%q); expected separators between labels alone", f.format.ValueField,
					side, separator)
				return
			}
			if !f.addLabel(e, label) {
				return
			}
		}
	}
	e.labels, e.sound = f.labels, true
}

func separatorOf(format measure.Format) string {
	return cmp.Or(format.Separator, measure.DefaultSeparator)
}

// usualSeparators are separators that files often have instead of the dataset's separator.
var usualSeparators = [...]string{";", ",", "|", "\t", " "}

// otherSeparator recognizes an unknown label that consists of several labels of the truth with a usual separator between them or as a list
// of Python. It also recognizes a label that the truth has only with others, with a usual separator between them. It returns a clause for a
// diagnostic, which begins with a semicolon, or "" for any other label.
func (r *Run) otherSeparator(label []byte) string {
	if r.truth.values != Sets || r.truth.format.Kind != measure.CSV {
		return ""
	}
	own := separatorOf(r.truth.format)
	isUnknown := func(part []byte) bool { return r.truth.labels.find(bytes.TrimSpace(part)) < 0 }
	if isPythonList(label) {
		isUnknownElement := func(part []byte) bool { return isUnknown(bytes.Trim(part, ` '"`)) }
		if !slices.ContainsFunc(bytes.Split(label[1:len(label)-1], []byte{','}), isUnknownElement) {
			return fmt.Sprintf("; the likely cause: labels are a list as Python prints it; labels are separated by %q, so write them with "+
				"%[1]q between them", own)
		}
	}
	for _, separator := range usualSeparators {
		if parts := bytes.Split(label, []byte(separator)); len(parts) > 1 && !slices.ContainsFunc(parts, isUnknown) {
			return fmt.Sprintf("; the likely cause: labels contain %q, and labels are separated by %q", separator, own)
		}
	}
	return r.joinedInTruth(label)
}

// joinedInTruth is otherSeparator for a label that the truth has only with other labels. It looks only for the first unknown labels.
func (r *Run) joinedInTruth(label []byte) string {
	if len(r.added.names) >= fields.Few {
		return ""
	}
	isPart := func(part string) bool { return strings.TrimSpace(part) == string(label) }
	for _, name := range r.truth.labels.names {
		for _, separator := range usualSeparators {
			if r.counter.Add(len(name)) != nil {
				return ""
			}
			parts := strings.Split(name, separator)
			if len(parts) > 1 && slices.ContainsFunc(parts, isPart) {
				return fmt.Sprintf("; the likely cause: the truth has the label %s, with %q between labels, and labels are separated by %q",
					fields.Quote([]byte(name)), separator, separatorOf(r.truth.format))
			}
		}
	}
	return ""
}

// setLabels reads the labels in a JSON array.
func (f *file) setLabels(e *example, array []byte) {
	f.labels = f.labels[:0]
	for element := range fields.Elements(array) {
		label, ok := f.content(e.line, "an element of ", element, labelKinds)
		if !ok || !f.addLabel(e, label) {
			return
		}
	}
	e.labels, e.sound = f.labels, true
}

func (f *file) addLabel(e *example, label []byte) bool {
	if len(f.labels) == bounds.Set {
		f.errorf(e.line, "%q has more than %d labels; expected at most as many", f.format.ValueField, bounds.Set)
		return false
	}
	f.labels = append(f.labels, label)
	return f.bounded(e.line, f.format.ValueField, label, bounds.Name)
}

// sets holds the label codes of all examples.
type sets struct {
	starts []uint32 // by example, its start in codes; empty if sets are not kept
	codes  []int16  // for each example, the number of its codes and then the codes in ascending order; codes are below 2 * bounds.Labels
}

func (s *sets) at(i int) []int16 {
	start := s.starts[i] + 1
	return s.codes[start:][:s.codes[start-1]]
}

// put adds the labels of an example. It returns false if a limit ends the reading. code returns the code of a label.
func (s *sets) put(f *file, e example, index, limit int, code coder) bool {
	start := len(s.codes)
	if start+len(e.labels) >= limit {
		f.errorf(e.line, "the examples up to here have more than %d labels together; expected fewer", limit)
		return false
	}
	s.codes = append(s.codes, int16(len(e.labels)))
	for _, label := range e.labels {
		c, ok := code(f, e.line, label)
		if !ok {
			return false
		}
		s.codes = append(s.codes, int16(c))
	}
	set := s.codes[start+1:]
	slices.Sort(set)
	for i, c := range set {
		if i > 0 && c == set[i-1] {
			first := slices.IndexFunc(e.labels, func(label []byte) bool {
				other, _ := code(f, e.line, label)
				return other == int32(c)
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
