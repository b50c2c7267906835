package predictions

import (
	"bytes"
	"context"
	"slices"

	"assay/shared/measure"
	"assay/shared/measure/fields"
	"assay/shared/measure/mismatch"
)

// Run has the predictions for the examples of a truth, in the order of the truth.
type Run struct {
	truth   *Truth
	places  sourceLines
	joined  int // examples that have a prediction
	unknown int // predictions whose id the truth does not have
	samples []string
	next    int    // index after that of the last id
	added   labels // labels that the truth does not have; their codes follow those of the truth
	// used says which labels of the truth the run has, by code; with the added ones there are distinct of them.
	used     []bool
	distinct int
	codes    []int32
	numbers  []float64
}

// ReadRun reads a run that stands in one or more files. Faults of the files go to the report, as do the ids of the truth
// that no file has; a run whose report has errors must not be used. The error is one of reading or of the context.
func (t *Truth) ReadRun(ctx context.Context, files []measure.File, report *measure.Report) (*Run, error) {
	r := &Run{truth: t, places: sourceLines{list: make([]sourceLine, t.Len())}}
	if t.values == Numbers {
		r.numbers = make([]float64, t.Len())
	} else {
		r.codes = make([]int32, t.Len())
		r.used = make([]bool, len(t.labels.names))
	}
	for _, content := range files {
		f := &file{name: content.Name, format: t.format, values: t.values, report: report}
		r.places.files = append(r.places.files, f.name)
		if err := f.read(ctx, content.Content, func(e example) bool { return r.add(f, e) }); err != nil {
			return nil, err
		}
	}
	r.compareIDs(report)
	r.compareLabels(report)
	return r, nil
}

// add takes one prediction, and returns false when there is room for no more labels.
func (r *Run) add(f *file, e example) bool {
	index := 0
	if r.truth.ids != nil {
		if index = r.find(e.id); index < 0 {
			return r.addUnknown(f, e)
		}
		if r.places.list[index].line > 0 {
			f.errorf(e.line, "the id %s was given before, %s; expected every id once", fields.Quote(e.id), r.places.describe(index))
			return true
		}
		r.places.list[index] = r.places.at(e.line)
		r.joined++
	}
	if !e.sound || r.truth.origin != measure.OfTruth || r.truth.values == Labels && r.truth.labels.names == nil {
		return true
	}
	if r.truth.values == Numbers {
		r.numbers[index] = e.number
		return true
	}
	code, ok := r.code(f, e)
	if ok && len(r.codes) > 0 {
		r.codes[index] = code
	}
	return ok
}

// code returns the code of the example's label; false when the run has too many, however many of them the truth has.
func (r *Run) code(f *file, e example) (code int32, ok bool) {
	code = r.truth.labels.find(e.label)
	known := int32(len(r.used))
	switch {
	case code >= 0 && r.used[code]:
		return code, true
	case code < 0:
		if code = r.added.find(e.label); code >= 0 {
			return known + code, true
		}
	}
	if r.distinct == r.truth.limits.labels {
		f.tooManyLabels(e.line, r.truth.limits.labels)
		return 0, false
	}
	r.distinct++
	if code >= 0 {
		r.used[code] = true
		return code, true
	}
	cause := ""
	if len(r.added.names) < measure.MaxDiagnostics {
		cause = mismatch.Explain([]string{string(e.label)}, slices.Values(r.truth.labels.names))
	}
	f.report.Warnf(f.name, e.line, "the truth has no label %s; every prediction of it counts as wrong%s", fields.Quote(e.label), cause)
	return known + r.added.add(e.label), true
}

// find returns the index of an id; -1 when the truth does not have it. Runs mostly keep the order of the truth, so what
// follows the last id is tried first: it is at hand, while a look into the table waits for memory.
func (r *Run) find(id []byte) int {
	index := r.next
	if index >= r.truth.Len() || !bytes.Equal(r.truth.ids.at(index), id) {
		index = r.truth.ids.find(id)
	}
	r.next = index + 1
	return index
}

// Labels are the labels of the truth and, after them, those that only the run has. The index of a label is its code.
func (r *Run) Labels() []string {
	return append(r.truth.labels.names[:len(r.truth.labels.names):len(r.truth.labels.names)], r.added.names...)
}

// Codes has the label code predicted for each example of the truth; nil for Numbers.
func (r *Run) Codes() []int32 { return r.codes }

// Numbers has the number predicted for each example of the truth; nil for Labels.
func (r *Run) Numbers() []float64 { return r.numbers }
