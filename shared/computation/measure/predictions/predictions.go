// Package predictions reads files that have one value for the id of each example: a label, a number, an array and others. It joins a run
// to the truth by id, so the order of lines does not matter. A run must have exactly one prediction for every example of the truth.
//
// # Formats
//
// jsonl has one JSON object a line. Blank lines are ignored. csv is RFC 4180 in UTF-8. Its first line names the fields, and commas, tabs or
// semicolons separate the fields. A quoted field may have several lines; diagnostics name the first line of the record. In both formats,
// only the two fields that the Format names are read.
//
// # Equality
//
// Ids and labels are compared as text, byte by byte. The text of a JSON number, true or false is its source text. So the label 0 equals the
// label "0" and the csv field 0, but 1 differs from 1.0. Ids and labels must not be empty or null. Spaces count.
package predictions

import (
	"context"
	"slices"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/bounds"
	"assay/shared/computation/measure/steps"
)

// fieldsOf returns the names of the fields that are read, first the field of the id.
func fieldsOf(f measure.Format) []string {
	return slices.DeleteFunc([]string{f.IDField, f.ValueField}, func(name string) bool { return name == "" })
}

// Values is the type of the values in ValueField.
type Values int

const (
	// Labels are strings, numbers or booleans. Each stands for its source text.
	Labels Values = iota
	// Clusters are written like Labels. The names of clusters in a run and in the truth are unrelated. Each example may have a cluster of its
	// own.
	Clusters
	// Numbers are finite decimal numbers, without quotes in jsonl.
	Numbers
	// Sets are any number of different labels in any order: in jsonl an array, in csv a field with the format's separator between labels. An
	// empty field is the empty set.
	Sets
	// Classes are Labels of a truth whose runs have Scores.
	Classes
	// Scores are finite numbers: one for each example, or one for each class. All examples must have the same classes. In jsonl, scores of
	// classes are members of an object. In csv they are columns: if no column has the name of the ValueField, every column except the id is
	// a class.
	Scores
	// Probabilities are Scores from 0 to 1, which sum to 1 over the classes.
	Probabilities
	// Arrays are JSON arrays. A Take reads them.
	Arrays
	// References are the texts with which the text of a run is compared: in jsonl a string or an array of strings, in csv one text. Texts and
	// the array may be empty. Runs have Texts.
	References
	// Texts are strings, which may be empty.
	Texts
)

// Take reads the valid JSON array of an example, and returns its fault or "". text is the content of the member TextField, or nil. Both are
// valid until Take returns.
type Take func(file string, line, index int, array, text []byte) (fault string)

// TextField is the member of an example with Arrays that may have its text.
const TextField = "text"

// Gold is the ground truth (labels, numbers, texts) that runs are compared with. It does not change, and any number of runs may be read
// against it at the same time.
type Gold struct {
	format  measure.Format
	options measure.Options
	values  Values
	runs    Values // values of its runs
	limits  limits
	origin  measure.Origin

	ids       *ids // nil if the ids are unknown
	unnamed   bool // the labels are unknown
	places    sourceLines
	repeats   int                // items whose id was given before
	twice     measure.Diagnostic // the first fault about such an item
	labels    labels
	codes     []int32       // by example, for Labels and Clusters
	clusters  *ids          // the names of Clusters
	sets      sets          // for Sets
	scores    scores        // for Scores; keeps none
	numbers   []float64     // by example, for Numbers
	texts     texts         // for References
	take      Take          // for Arrays
	inspector TextInspector // while files are read
}

// limits are the limits of one Truth and its runs; tests lower them.
type limits struct{ examples, labels, ids, assigned, scores, texts int }

// ReadGold reads a truth from one or more files. Faults of the files go to the report. If the report has errors, the truth must not be
// used. The error is from reading or the context.
func ReadGold(ctx context.Context, format measure.Format, values Values, files []measure.File, report *measure.Report) (*Gold, error) {
	return readInspected(ctx, format, measure.Options{}, values, noInspector{}, files, report)
}

// readInspected reads a truth like ReadGold, with options. If the report has no errors, it adds the warnings of the inspector.
func readInspected(ctx context.Context, format measure.Format, options measure.Options, values Values, inspector TextInspector,
	files []measure.File, report *measure.Report) (*Gold, error) {
	t := newTruth(format, values)
	t.options = options
	t.inspector = inspector
	err := t.read(ctx, files, report)
	t.inspector = noInspector{}
	if err == nil && !report.Failed() {
		warn(inspector, files, report)
	}
	return t, err
}

// ReadArrays reads a truth of Arrays like ReadGold, with options.
func ReadArrays(ctx context.Context, format measure.Format, options measure.Options, take Take, files []measure.File,
	report *measure.Report) (*Gold, error) {
	t := newTruth(format, Arrays)
	t.options = options
	t.take = take
	err := t.read(ctx, files, report)
	return t, err
}

func newTruth(format measure.Format, values Values) *Gold {
	return &Gold{
		format: format,
		values: values,
		runs:   values,
		limits: limits{
			examples: bounds.Items, labels: bounds.Labels, ids: bounds.IDs, assigned: bounds.Assigned, scores: bounds.Scores, texts: bounds.Texts,
		},
		origin:    measure.OfTruth,
		ids:       newIDs(),
		clusters:  newIDs(),
		inspector: noInspector{},
		texts:     newTexts(),
	}
}

func (t *Gold) read(ctx context.Context, files []measure.File, report *measure.Report) error {
	if len(files) == 0 {
		report.Errorf("", 0, "there is no file; expected at least one")
	}
	counter := steps.Of(ctx)
	for _, content := range files {
		f := &file{name: content.Name, format: t.format, options: t.options, values: t.values, report: report, counter: counter,
			inspector: t.inspector}
		t.places.files = append(t.places.files, f.name)
		if err := f.read(ctx, content.Content, func(e example) bool { return t.add(f, e) }); err != nil {
			return err
		}
	}
	t.explainRepeated(report)
	if t.options.Only != nil && t.Len() == 0 && !report.Failed() {
		report.Errorf(files[0].Name, 0, "%s", measure.NothingSelected)
	}
	t.places = sourceLines{} // only needed while ids are added
	return nil
}

// add adds one example. It returns false if a limit ends the reading.
func (t *Gold) add(f *file, e example) bool {
	if t.ids.len() >= t.limits.examples {
		f.errorf(e.line, "this is one example too many; expected at most %d", t.limits.examples)
		return false
	}
	if t.ids.size+len(e.id) > t.limits.ids {
		f.errorf(e.line, "the ids up to here have more than %d bytes together; give shorter ones", t.limits.ids)
		return false
	}
	index, isNew := t.ids.add(e.id)
	if !isNew {
		return t.addRepeated(f, e, index)
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
	switch {
	case !e.sound:
	case t.values == Clusters:
		code, ok = f.cluster(t.clusters, e, t.limits.ids)
	default:
		code, ok = t.code(f, e.line, e.label)
	}
	t.codes = append(t.codes, code)
	return ok
}

// code returns the code of a label. ok is false if there are too many labels.
func (t *Gold) code(f *file, line int, label []byte) (code int32, ok bool) {
	code = t.labels.find(label)
	if code >= 0 {
		return code, true
	}
	if len(t.labels.names) >= t.limits.labels {
		f.tooManyLabels(line, t.limits.labels)
		return 0, false
	}
	return t.labels.add(label), true
}

// taken calls take with the array of an example, and reports its fault.
func (f *file) taken(take Take, e example, index int) {
	if !e.sound {
		return
	}
	if fault := take(f.name, e.line, index, e.label, e.text); fault != "" {
		f.errorf(e.line, "%s", fault)
	}
}

// cluster returns the code of the cluster of an example. ok is false if the names of the clusters are too long.
func (f *file) cluster(all *ids, e example, limit int) (code int32, ok bool) {
	if all.size+len(e.label) > limit {
		f.errorf(e.line, "the clusters up to here have names of more than %d bytes together; give shorter ones", limit)
		return 0, false
	}
	index, _ := all.add(e.label)
	return int32(index), true
}

func (f *file) tooManyLabels(line, limit int) {
	f.errorf(line, "%q has more than %d different labels up to here; check that it is the field meant, or use regression for numbers",
		f.format.ValueField, limit)
}

// Bytes estimates the memory of the truth.
func (t *Gold) Bytes() int64 {
	const perLabel = 2*16 + 16 // its name in the list and in the index, and the rest of the index
	n := t.ids.bytes() + t.clusters.bytes() + 4*cap(t.codes) + 8*cap(t.numbers) +
		4*cap(t.sets.starts) + 2*cap(t.sets.codes) + t.texts.bytes()
	for _, name := range t.labels.names {
		n += perLabel + len(name)
	}
	return int64(n)
}

// Len returns the number of examples.
func (t *Gold) Len() int {
	if t.ids == nil {
		return len(t.sets.starts) // a sample has no ids
	}
	return t.ids.len()
}

// Labels returns the different labels in the order in which they were read. The index of a label is its code.
func (t *Gold) Labels() []string { return t.labels.names }

// Clusters returns the number of different Clusters. Their codes are below it.
func (t *Gold) Clusters() int { return t.clusters.len() }

// Codes returns the label or cluster code of each example. It is nil for Numbers.
func (t *Gold) Codes() []int32 { return t.codes }

// Set returns the label codes of an example of Sets, in ascending order.
func (t *Gold) Set(i int) []int16 { return t.sets.at(i) }

// Numbers returns the number of each example. It is nil for Labels.
func (t *Gold) Numbers() []float64 { return t.numbers }
