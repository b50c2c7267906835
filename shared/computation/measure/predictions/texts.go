package predictions

import (
	"context"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/bounds"
	"assay/shared/computation/measure/fields"
	"assay/shared/computation/measure/steps"
)

// texts holds the references of all examples. With "ab" and "c" for one example, and "d" for the next, it is:
//
//	all       abcd
//	starts    0 2 3 4    text i is all[starts[i]:starts[i+1]]
//	examples  0 2 3      example i has the texts from examples[i] to before examples[i+1]
type texts struct {
	all      []byte
	starts   []uint32
	examples []uint32
}

func newTexts() texts { return texts{starts: []uint32{0}, examples: []uint32{0}} }

// add adds the texts of the next example. It returns the memory of all texts so far, including their starts, because empty texts take
// memory too.
func (t *texts) add(list [][]byte) int {
	for _, text := range list {
		t.all = append(t.all, text...)
		t.starts = append(t.starts, uint32(len(t.all)))
	}
	t.examples = append(t.examples, uint32(len(t.starts)-1))
	return len(t.all) + 4*len(t.starts)
}

// appendTo appends the texts of an example to a list.
func (t *texts) appendTo(list [][]byte, example int) [][]byte {
	for i := t.examples[example]; i < t.examples[example+1]; i++ {
		list = append(list, t.all[t.starts[i]:t.starts[i+1]])
	}
	return list
}

func (t *texts) bytes() int { return cap(t.all) + 4*cap(t.starts) + 4*cap(t.examples) }

// References appends the references of an example to a list. Callers must not change the texts, which are not copies.
func (t *Gold) References(index int, list [][]byte) [][]byte { return t.texts.appendTo(list, index) }

// TextEvaluator evaluates the texts of one run. It does not keep the texts.
type TextEvaluator interface {
	// Compare compares a text with the references of the example with the index. A fault goes to the report and ends the reading.
	Compare(index int, text []byte) (fault string)
	// Evaluation returns the evaluation after the last text, or the error of the steps counter.
	Evaluation() (measure.Scores, error)
	// Warnings returns what the comparison of the texts with the references has found.
	Warnings() []string
}

// TextInspector looks at each selected text of a truth or of a run on its own.
type TextInspector interface {
	Inspect(text []byte)
	// Warnings returns what the submitter or the organizer should know about the texts so far.
	Warnings() []string
}

// noInspector is the TextInspector of files without texts.
type noInspector struct{}

func (noInspector) Inspect([]byte)     {}
func (noInspector) Warnings() []string { return nil }

func uninspected([]measure.Measure) TextInspector { return noInspector{} }

// warn adds the warnings about the texts of files.
func warn(of interface{ Warnings() []string }, files []measure.File, report *measure.Report) {
	for _, warning := range of.Warnings() {
		report.Warnf(files[0].Name, 0, "%s", warning)
	}
}

// TextComputation returns the computation of an evaluator that compares texts with references, one at a time. start returns a new
// TextEvaluator for a run, which counts its steps. stepsOf estimates these steps. inspect returns a new TextInspector for a truth or a run.
func TextComputation(version string, stepsOf func([]measure.Measure, *Gold) int,
	start func(context.Context, *steps.Counter, []measure.Measure, *Gold) TextEvaluator,
	inspect func([]measure.Measure) TextInspector) measure.Computation {
	runValues := func([]measure.Measure) Values { return Texts }
	inspectAll := func(asked []measure.Measure) TextInspector { return &doubtfulTexts{TextInspector: inspect(asked)} }
	evaluate := func(ctx context.Context, asked []measure.Measure, t *Gold, files []measure.File,
		report *measure.Report) (measure.Scores, error) {
		counter := steps.Of(ctx)
		e := start(ctx, counter, asked, t)
		inspector := inspectAll(asked)
		run := &Run{truth: t, counter: counter, compare: e.Compare, inspector: inspector}
		err := run.read(ctx, files, report, report)
		if err != nil || report.Failed() {
			return measure.Scores{}, err
		}
		warn(inspector, files, report)
		warn(e, files, report)
		return e.Evaluation()
	}
	return computation(version, References, runValues, evaluate, stepsOf, inspectAll)
}

// ID returns the id of an example.
func (t *Gold) ID(index int) string { return string(t.ids.at(index)) }

// compareText passes the text of an example to the TextEvaluator. It returns false if a limit or a fault ends the reading.
func (r *Run) compareText(f *file, e example, index int) bool {
	text := e.texts[0]
	r.text += len(text)
	if r.text > r.truth.limits.texts {
		return f.tooMuchText(e.line, r.truth.limits.texts)
	}
	fault := r.compare(index, text)
	if fault != "" {
		f.errorf(e.line, "%s", fault)
		return false
	}
	return true
}

// tooMuchText reports that the texts exceed the limit, and returns false.
func (f *file) tooMuchText(line, limit int) bool {
	f.errorf(line, "the texts up to here have more than %d bytes together; give fewer or shorter ones", limit)
	return false
}

// setTexts checks the texts of an example.
func (f *file) setTexts(e *example, list ...[]byte) {
	if len(list) > bounds.References {
		f.errorf(e.line, "%q has %d texts; expected at most %d", f.format.ValueField, len(list), bounds.References)
		return
	}
	size := 0
	for _, text := range list {
		if !f.bounded(e.line, f.format.ValueField, text, bounds.Text) {
			return
		}
		size += len(text)
	}
	if size > bounds.ItemText {
		f.errorf(e.line, "%q has texts of %d bytes together; expected at most %d", f.format.ValueField, size, bounds.ItemText)
		return
	}
	e.texts, e.sound = list, true
}

// setArray reads the texts of a valid JSON array.
func (f *file) setArray(e *example, array []byte) {
	var list [][]byte
	for element := range fields.Elements(array) {
		text, ok := f.content(e.line, "an element of ", element, valueKinds[Texts])
		if !ok {
			return
		}
		list = append(list, text)
		if len(list) > bounds.References {
			break
		}
	}
	f.setTexts(e, list...)
}
