// Package predictions reads what evaluators of single values compare: files that give each example's id one value, a label, a number or
// an array. It joins a run to the truth by id, never by row, so that the order of lines says nothing, and
// every example of the truth has exactly one prediction or the run is refused.
//
// # Formats
//
// jsonl has one JSON object a line; blank lines are passed over. csv is RFC 4180 in UTF-8, with a first line that
// names the fields, and commas or tabs between the fields; a quoted field may go over several lines, and the line of its diagnostics is the
// one where the record starts. In both, fields other than the two named by the Format are ignored.
//
// # Equality
//
// Ids and labels are compared as text, byte by byte. A JSON number stands for the text it is written with and true and
// false for these words, so the label 0 is the label "0" and also the csv field 0, but 1 is not 1.0. Neither may be
// empty or null; spaces count.
package predictions

import (
	"context"
	"slices"

	"assay/shared/measure"
	"assay/shared/measure/fields"
	"assay/shared/measure/steps"
)

// fieldsOf are the names of the fields that are read, that of the id first.
func fieldsOf(f measure.Format) []string {
	return slices.DeleteFunc([]string{f.IDField, f.ValueField}, func(name string) bool { return name == "" })
}

// Values is the type of the values in ValueField.
type Values int

const (
	// Labels are strings, numbers or booleans, each standing for the text it is written with.
	Labels Values = iota
	// Clusters are written as Labels are; those of a run have other names than those of the truth, and are not compared with them.
	Clusters
	// Numbers are finite decimal numbers, without quotes in jsonl.
	Numbers
	// Sets are any number of labels, none of them twice, in any order: in jsonl an array, and in csv a field in which the separator of the
	// format separates them, empty where there are none.
	Sets
	// Classes are Labels whose runs have Scores.
	Classes
	// Scores are finite numbers: one for each example, or one for each class, the same ones in all examples. In jsonl these are members of
	// an object, and in csv columns: all but that of the id, where there is none with the name of the ValueField.
	Scores
	// Probabilities are Scores from 0 to 1, which sum to 1 over the classes.
	Probabilities
	// Arrays are those of JSON, which a Take takes.
	Arrays
	// References are texts with which the one text of a run is compared: in jsonl a string or an array of strings, in csv one text. Any may
	// be empty, and so may the array. Runs against them have Texts.
	References
	// Texts are strings, which may be empty.
	Texts
)

// Take takes the valid JSON array of an example, and returns what is wrong with it. The array is valid until it returns.
type Take func(file string, line, index int, array []byte) (fault string)

// What a file may hold at most. The bounds keep the memory that an untrusted file can take at about half a gigabyte.
const (
	MaxExamples = 5_000_000
	MaxLabels   = 10_000    // different ones in a truth, and as many in a run
	MaxText     = 1024      // bytes of an id or a label
	MaxSet      = 1000      // labels of an example
	maxAssigned = 1 << 26   // labels of all examples and the examples themselves
	maxScores   = 1 << 25   // scores of a run
	maxIDs      = 128 << 20 // bytes of all ids of the truth together

	MaxLongText   = 64 << 10  // bytes of one of the References or Texts
	MaxReferences = 100       // of one example
	maxTexts      = 256 << 20 // bytes of all texts of a truth together, and of those of a run
	maxTextLine   = 1 << 20   // bytes of a line with texts
)

// Truth is the ground truth that every run is compared with. It does not change, and any number of runs may be read against it
// at the same time.
type Truth struct {
	format measure.Format
	values Values
	runs   Values // of its runs
	limits limits
	origin measure.Origin

	ids     *ids // nil when they are not known
	unnamed bool // its labels are not known
	places  sourceLines
	labels  labels
	codes   []int32   // by example, for Labels
	sets    sets      // for Sets
	scores  scores    // for Scores, of which none are kept
	numbers []float64 // by example, for Numbers
	texts   texts     // for References
	take    Take      // for Arrays
}

// limits are the bounds of one Truth and its runs; tests lower them.
type limits struct{ examples, labels, ids, assigned, scores, texts int }

// ReadTruth reads a truth that stands in one or more files. Faults of the files go to the report, and a truth whose
// report has errors must not be used; the error is one of reading or of the context.
func ReadTruth(ctx context.Context, format measure.Format, values Values, files []measure.File, report *measure.Report) (*Truth, error) {
	t := newTruth(format, values)
	err := t.read(ctx, files, report)
	return t, err
}

// ReadArrays is ReadTruth of Arrays.
func ReadArrays(ctx context.Context, format measure.Format, take Take, files []measure.File, report *measure.Report) (*Truth, error) {
	t := newTruth(format, Arrays)
	t.take = take
	err := t.read(ctx, files, report)
	return t, err
}

func newTruth(format measure.Format, values Values) *Truth {
	return &Truth{
		format: format,
		values: values,
		runs:   values,
		limits: limits{examples: MaxExamples, labels: MaxLabels, ids: maxIDs, assigned: maxAssigned, scores: maxScores, texts: maxTexts},
		origin: measure.OfTruth,
		ids:    newIDs(),
		texts:  texts{ends: []uint32{0}, last: []uint32{0}},
	}
}

func (t *Truth) read(ctx context.Context, files []measure.File, report *measure.Report) error {
	if len(files) == 0 {
		report.Errorf("", 0, "there is no file; expected at least one")
	}
	counter := steps.Of(ctx)
	for _, content := range files {
		f := &file{name: content.Name, format: t.format, values: t.values, report: report, counter: counter}
		t.places.files = append(t.places.files, f.name)
		if err := f.read(ctx, content.Content, func(e example) bool { return t.add(f, e) }); err != nil {
			return err
		}
	}
	t.places = sourceLines{} // of use while ids are added alone
	return nil
}

// add takes one example, and returns false when there is room for no more.
func (t *Truth) add(f *file, e example) bool {
	if t.ids.len() >= t.limits.examples {
		f.errorf(e.line, "this is one example too many; expected at most %d", t.limits.examples)
		return false
	}
	if t.ids.bytes+len(e.id) > t.limits.ids {
		f.errorf(e.line, "the ids up to here have more than %d bytes together; give shorter ones", t.limits.ids)
		return false
	}
	index, isNew := t.ids.add(e.id)
	if !isNew {
		f.errorf(e.line, "the id %s was given before, %s; expected every id once", fields.Quote(e.id), t.places.describe(uint32(index+1)))
		return true
	}
	t.places.add(e.line)
	switch t.values {
	case Numbers:
		t.numbers = append(t.numbers, e.number)
		return true
	case References:
		return t.texts.add(e.texts) <= t.limits.texts || f.tooMuchText(e.line, t.limits.texts)
	case Texts:
		return true
	case Sets:
		t.sets.starts = append(t.sets.starts, 0)
		return !e.sound || t.sets.put(f, e, index, t.limits.assigned, t.code)
	case Arrays:
		f.taken(t.take, e, index)
		return true
	case Scores, Probabilities:
		return !e.sound || t.scores.put(f, e, index, t.limits.scores, t.code)
	case Labels, Clusters, Classes:
	}
	code, ok := int32(0), true
	if e.sound {
		code, ok = t.code(f, e.line, e.label)
	}
	t.codes = append(t.codes, code)
	return ok
}

// code returns the code of a label; false when there are too many.
func (t *Truth) code(f *file, line int, label []byte) (code int32, ok bool) {
	if code = t.labels.find(label); code >= 0 {
		return code, true
	}
	if len(t.labels.names) >= t.limits.labels {
		f.tooManyLabels(line, t.limits.labels)
		return 0, false
	}
	return t.labels.add(label), true
}

// taken has an array taken.
func (f *file) taken(take Take, e example, index int) {
	if !e.sound {
		return
	}
	if fault := take(f.name, e.line, index, e.label); fault != "" {
		f.errorf(e.line, "%s", fault)
	}
}

func (f *file) tooManyLabels(line, limit int) {
	of, hint := "labels", ", or use regression for numbers"
	if f.values == Clusters {
		of, hint = "clusters", ""
	}
	f.errorf(line, "%q has more than %d different %s up to here; check that it is the field meant%s", f.format.ValueField, limit, of, hint)
}

// Bytes is about how much memory the truth takes.
func (t *Truth) Bytes() int64 {
	const perLabel = 2*16 + 16 // in the list and in the index, and what the index takes besides
	n := block*len(t.ids.blocks) + 4*cap(t.ids.ends) + 8*cap(t.ids.slots) + 4*cap(t.codes) + 8*cap(t.numbers) +
		4*cap(t.sets.starts) + 2*cap(t.sets.codes) + t.texts.bytes()
	for _, name := range t.labels.names {
		n += perLabel + len(name)
	}
	return int64(n)
}

// Len is the number of examples.
func (t *Truth) Len() int {
	if t.ids == nil {
		return len(t.sets.starts) // of a sample
	}
	return t.ids.len()
}

// Labels are the different labels in the order in which they were read. The index of a label is its code.
func (t *Truth) Labels() []string { return t.labels.names }

// Codes has the label code of each example; nil for Numbers.
func (t *Truth) Codes() []int32 { return t.codes }

// Set has the label codes of an example, for Sets, in ascending order.
func (t *Truth) Set(i int) []int16 { return t.sets.at(i) }

// Numbers has the number of each example; nil for Labels.
func (t *Truth) Numbers() []float64 { return t.numbers }
