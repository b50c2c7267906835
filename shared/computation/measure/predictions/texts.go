package predictions

import (
	"context"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/fields"
	"assay/shared/computation/measure/steps"
)

// texts holds the references of all examples.
type texts struct {
	all  []byte   // all texts, one after another
	ends []uint32 // 0, and the end of each text in all
	last []uint32 // 0, and for each example the number of texts of the examples up to it
}

// add adds the texts of the next example. It returns the memory of all texts so far, including their ends, because empty texts take memory
// too.
func (t *texts) add(list [][]byte) int {
	for _, text := range list {
		t.all = append(t.all, text...)
		t.ends = append(t.ends, uint32(len(t.all)))
	}
	t.last = append(t.last, uint32(len(t.ends)-1))
	return len(t.all) + 4*len(t.ends)
}

func (t *texts) bytes() int { return cap(t.all) + 4*cap(t.ends) + 4*cap(t.last) }

// References appends the references of an example to a list. Callers must not change the texts, which are not copies.
func (t *Gold) References(index int, list [][]byte) [][]byte {
	for i := t.texts.last[index]; i < t.texts.last[index+1]; i++ {
		list = append(list, t.texts.all[t.texts.ends[i]:t.texts.ends[i+1]])
	}
	return list
}

// TextEvaluator evaluates the texts of one run. It does not keep the texts.
type TextEvaluator interface {
	// Compare compares a text with the references of the example with the index. A fault goes to the report and ends the reading.
	Compare(index int, text []byte) (fault string)
	// Evaluation returns the evaluation after the last text, or the error of the steps counter.
	Evaluation() (measure.Scores, error)
}

// TextComputation returns the computation of an evaluator that compares texts with references, one at a time. start returns a new
// TextEvaluator for a run, which counts its steps. stepsOf estimates these steps.
func TextComputation(version string, stepsOf func([]measure.Measure, *Gold) int,
	start func(context.Context, *steps.Counter, []measure.Measure, *Gold) TextEvaluator) measure.Computation {
	return computation(version, References, func([]measure.Measure) Values { return Texts },
		func(ctx context.Context, asked []measure.Measure, t *Gold, files []measure.File, report *measure.Report) (measure.Scores, error) {
			counter := steps.Of(ctx)
			e := start(ctx, counter, asked, t)
			if err := (&Run{truth: t, counter: counter, compare: e.Compare}).read(ctx, files, report); err != nil || report.Failed() {
				return measure.Scores{}, err
			}
			return e.Evaluation()
		}, stepsOf)
}

// ID returns the id of an example.
func (t *Gold) ID(index int) string { return string(t.ids.at(index)) }

func (r *Run) compareText(f *file, e example, index int) bool {
	r.text += len(e.texts[0])
	if r.text > r.truth.limits.texts {
		return f.tooMuchText(e.line, r.truth.limits.texts)
	}
	if fault := r.compare(index, e.texts[0]); fault != "" {
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
	if len(list) > MaxReferences {
		f.errorf(e.line, "%q has %d texts; expected at most %d", f.format.ValueField, len(list), MaxReferences)
		return
	}
	for _, text := range list {
		if !f.bounded(e.line, f.format.ValueField, text, MaxLongText) {
			return
		}
	}
	e.texts, e.sound = list, true
}

// setArray reads the texts of a valid JSON array.
func (f *file) setArray(e *example, array []byte) {
	var list [][]byte
	for element := range fields.Elements(array) {
		text, ok := f.content(e.line, f.format.ValueField, element, valueKinds[Texts])
		if !ok {
			return
		}
		list = append(list, text)
		if len(list) > MaxReferences {
			break
		}
	}
	f.setTexts(e, list...)
}
