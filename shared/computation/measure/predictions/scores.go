package predictions

import (
	"math"
	"slices"

	"assay/shared/computation/measure/bounds"
	"assay/shared/computation/measure/fields"
	"assay/shared/language/lists"
	"assay/shared/language/plural"
)

// tolerance is the allowed difference of a sum of probabilities from 1. Probabilities in files are mostly rounded.
const tolerance = 0.01 + 1e-9

// classes returns the names of the csv columns with scores. It reports invalid names, and returns nil.
func (f *file) classes(header []string) (classes [][]byte) {
	if n := len(header) - 1; n > bounds.Set { // before the names are compared with each other
		f.refuseNumber(n)
		return nil
	}
	for i, name := range header {
		if name == f.format.IDField {
			continue
		}
		if name == "" {
			f.errorf(1, "column %d has no name in the first line; name it like its label, or leave it out", i+1)
			return nil
		}
		if slices.Contains(header[:i], name) {
			f.errorf(1, "the first line names the class %s twice; expected it once", fields.Quote([]byte(name)))
			return nil
		}
		classes = append(classes, []byte(name))
		if !f.bounded(1, "a name in the first line", []byte(name), bounds.Name) {
			return nil
		}
	}
	if len(classes) == 0 {
		f.refuseNumber(0)
	}
	return classes
}

// refuseNumber reports that the first line names n classes.
func (f *file) refuseNumber(n int) {
	f.errorf(1, "the first line names %d classes and no field %q; expected that field, or a column for each of at most %d classes", n,
		f.format.ValueField, bounds.Set)
}

// setRow reads the scores in a csv record, from all columns except the column of the id.
func (f *file) setRow(e *example, record [][]byte, id int, classes [][]byte) {
	f.scores = f.scores[:0]
	for i, text := range record {
		if i == id {
			continue
		}
		class := classes[len(f.scores)]
		if !f.addScore(e, class, text) {
			return
		}
	}
	e.labels = classes
	e.scores = f.scores
	e.sound = true
}

// setScores reads the scores in a JSON object.
func (f *file) setScores(e *example, object []byte) {
	f.labels, f.scores = f.labels[:0], f.scores[:0]
	for key, value := range fields.Members(object) {
		class, ok := f.content(e.line, "a class of ", key, valueKinds[Texts])
		if !ok || !f.addLabel(e, class) {
			return
		}
		text, ok := f.content(e.line, "a score of ", value, valueKinds[Numbers])
		if !ok || !f.addScore(e, nil, text) {
			return
		}
	}
	if len(f.scores) == 0 {
		f.errorf(e.line, "%q has no class; expected a score for each", f.format.ValueField)
		return
	}
	e.labels = f.labels
	e.scores = f.scores
	e.sound = true
}

// addScore adds the score of a class. column names the class if it has a column, and is nil otherwise.
func (f *file) addScore(e *example, column, text []byte) bool {
	x, ok := f.number(e.line, column, text)
	f.scores = append(f.scores, x)
	return ok
}

// scores holds the scores of all examples.
type scores struct {
	starts []uint32  // by example, the start of its scores in rows; empty if scores are not kept
	rows   []float64 // the scores of one example after another, in the order of the classes
	// The classes in the order of the first example. They are empty if examples have only one score.
	names   []string
	codes   []int32
	columns map[string]int // index by name; nil before the first example
	ofFile  int            // file.columns of the first file

	sumsToOne   bool // the scores of some example sum to 1
	sumReported bool // another sum was reported
}

// coder returns the code of a label. ok is false if there are too many labels, which it reports.
type coder func(f *file, line int, label []byte) (code int32, ok bool)

// put adds the scores of an example, unless they have a fault, which it reports. It returns false if the reading must end: at a limit, or
// if the first example has no usable classes.
func (s *scores) put(f *file, e example, index, limit int, code coder) (more bool) {
	if s.columns == nil && !s.begin(f, e, code) {
		return false
	}
	if !s.check(f, e) {
		return true
	}
	start := len(s.rows)
	if start+len(e.scores) > limit {
		f.errorf(e.line, "the examples up to here have more than %d scores together; expected fewer", limit)
		return false
	}
	s.rows = append(s.rows, e.scores...)
	if !s.arrange(f, e, s.rows[start:]) {
		return true
	}
	if len(s.starts) > 0 {
		s.starts[index] = uint32(start)
	} else {
		s.rows = s.rows[:start]
	}
	return true
}

// check reports scores that are not the probabilities that the dataset needs, and another number of scores than in the first example.
func (s *scores) check(f *file, e example) bool {
	if f.values == Probabilities && !s.areProbabilities(f, e) {
		return false
	}
	if len(e.labels) != len(s.names) {
		f.errorf(e.line, "the example has scores for %s, and the first one for %d; expected the same in all, or one score alone",
			plural.Count(len(e.labels), "label"), len(s.names))
		return false
	}
	return true
}

// begin sets the classes to those of the first example. It returns false if a class is named twice or there are too many labels.
func (s *scores) begin(f *file, e example, code coder) bool {
	s.columns = make(map[string]int, len(e.labels))
	line := e.line
	s.ofFile = f.columns
	if s.ofFile > 0 {
		line = 1 // it names the classes
	}
	for i, class := range e.labels {
		c, ok := code(f, line, class)
		if !ok {
			return false
		}
		name := string(class)
		if _, twice := s.columns[name]; twice {
			f.errorf(e.line, "%q has the class %s twice; expected every class once", f.format.ValueField, fields.Quote(class))
			return false
		}
		s.columns[name] = i
		s.names = append(s.names, name)
		s.codes = append(s.codes, c)
	}
	s.rows = make([]float64, 0, min(len(s.starts)*len(e.scores), bounds.Items))
	return true
}

// arrange puts the scores of an example, which row holds in the example's own order, into the order of the classes. It reports unknown and
// repeated classes, and returns false.
func (s *scores) arrange(f *file, e example, row []float64) bool {
	if slices.EqualFunc(e.labels, s.names, func(class []byte, name string) bool { return string(class) == name }) {
		return true
	}
	for i := range row {
		row[i] = math.NaN() // no score yet
	}
	for i, class := range e.labels {
		column, ok := s.columns[string(class)]
		switch {
		case !ok:
			only := ""
			if len(s.names) == 1 {
				only = "; if the only class of an example is its label, write the label itself"
			}
			f.errorf(e.line, "the first example has no score for the class %s; expected the same classes in all%s", fields.Quote(class), only)
			return false
		case !math.IsNaN(row[column]):
			f.errorf(e.line, "%q has the class %s twice; expected every class once", f.format.ValueField, fields.Quote(class))
			return false
		}
		row[column] = e.scores[i]
	}
	return true
}

// areProbabilities reports scores that are not probabilities from 0 to 1 with the sum 1.
func (s *scores) areProbabilities(f *file, e example) bool {
	if f.outside.add(f, e) {
		return false
	}
	sum := 0.0
	for _, x := range e.scores {
		sum += x
	}
	if len(e.labels) == 0 || math.Abs(sum-1) <= tolerance {
		s.sumsToOne = true
		return true
	}
	s.reportSum(f, e, sum)
	return false
}

// reportSum reports a sum that is not 1. While no example has the right sum, a class is probably missing in all examples, so it reports
// only the first sum.
func (s *scores) reportSum(f *file, e example, sum float64) {
	if s.sumReported && !s.sumsToOne {
		return
	}
	s.sumReported = true
	names := lists.Map(e.labels, func(class []byte) string { return string(class) })
	f.errorf(e.line, "the scores of the classes %s sum to %.4g; expected probabilities that sum to 1, which some of the measures need",
		fields.JoinFirst(names, len(names)), sum)
}
