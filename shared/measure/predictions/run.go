package predictions

import (
	"bytes"
	"cmp"
	"context"
	"iter"
	"slices"

	"assay/shared/measure"
	"assay/shared/measure/fields"
	"assay/shared/measure/mismatch"
	"assay/shared/measure/steps"
	"assay/shared/plural"
)

// Run has the predictions for the examples of a truth, in the order of the truth.
type Run struct {
	truth   *Truth
	counter *steps.Counter
	places  sourceLines
	joined  []uint32 // by example, the number of the id of its prediction among the places; 0 when it has none
	unknown int      // predictions whose id the truth does not have
	samples []string
	next    int    // index after that of the last id
	added   labels // labels that the truth does not have; their codes follow those of the truth
	// used says which labels of the truth the run has, by code; with the added ones there are distinct of them.
	used     []bool
	distinct int
	// separator is what otherSeparator returned of the first label of which it returned something.
	separator string
	codes     []int32
	numbers   []float64
	text      int                                         // bytes of all texts
	compare   func(index int, text []byte) (fault string) // for Texts
	sets      sets
	scores    scores
	take      Take // for Arrays
}

// ReadRun reads a run that stands in one or more files. Faults of the files go to the report, as do the ids of the truth
// that no file has; a run whose report has errors must not be used. The error is one of reading or of the context.
func (t *Truth) ReadRun(ctx context.Context, files []measure.File, report *measure.Report) (*Run, error) {
	r := &Run{truth: t, used: make([]bool, len(t.labels.names))}
	switch t.values {
	case Numbers:
		r.numbers = make([]float64, t.Len())
	case Labels, Clusters:
		r.codes = make([]int32, t.Len())
	case Sets:
		r.sets.starts = make([]uint32, t.Len())
	case Classes, Scores, Probabilities:
		r.scores.starts = make([]uint32, t.Len())
	case Arrays, References, Texts: // of which none are kept
	}
	err := r.read(ctx, files, report)
	return r, err
}

// ReadRunArrays is ReadRun of Arrays, which are taken with the index that their example has in the truth.
func (t *Truth) ReadRunArrays(ctx context.Context, take Take, files []measure.File, report *measure.Report) error {
	r := &Run{truth: t, take: take}
	return r.read(ctx, files, report)
}

func (r *Run) read(ctx context.Context, files []measure.File, report *measure.Report) error {
	r.counter = cmp.Or(r.counter, steps.Of(ctx))
	r.joined = make([]uint32, r.truth.Len())
	for _, content := range files {
		f := &file{name: content.Name, format: r.truth.format, values: r.truth.runs, report: report, counter: r.counter}
		r.places.files = append(r.places.files, f.name)
		if err := f.read(ctx, content.Content, func(e example) bool { return r.add(f, e) }); err != nil {
			return err
		}
	}
	r.compareIDs(report)
	r.compareLabels(report)
	return r.counter.Err()
}

// add takes one prediction, and returns false when there is room for no more labels.
func (r *Run) add(f *file, e example) bool {
	index := 0
	if r.truth.ids != nil {
		if index = r.find(e.id); index < 0 {
			return r.addUnknown(f, e)
		}
		if r.joined[index] > 0 {
			f.errorf(e.line, "the id %s was given before, %s; expected every id once", fields.Quote(e.id), r.places.describe(r.joined[index]))
			return true
		}
		r.joined[index] = r.places.add(e.line)
	}
	if e.sound && r.compare != nil {
		return r.compareText(f, e, index)
	}
	if r.take != nil {
		f.taken(r.take, e, index)
		return true
	}
	if !e.sound || r.truth.origin != measure.OfTruth || r.truth.values != Numbers && r.truth.unnamed {
		return true
	}
	switch r.truth.values {
	case Numbers:
		r.numbers[index] = e.number
		return true
	case Sets:
		return r.sets.put(f, e, index, r.truth.limits.assigned, r.code)
	case Classes, Scores, Probabilities:
		return r.scores.put(f, e, index, r.truth.limits.scores, r.code)
	case Arrays, References, Texts:
		return true
	case Labels, Clusters:
	}
	code, ok := r.code(f, e.line, e.label)
	if ok && len(r.codes) > 0 {
		r.codes[index] = code
	}
	return ok
}

// code returns the code of a label; false when the run has too many, however many of them the truth has.
func (r *Run) code(f *file, line int, label []byte) (code int32, ok bool) {
	code = r.truth.labels.find(label)
	known := int32(len(r.used))
	switch {
	case code >= 0 && r.used[code]:
		return code, true
	case code < 0:
		if code = r.added.find(label); code >= 0 {
			return known + code, true
		}
	}
	if r.distinct == r.truth.limits.labels {
		f.tooManyLabels(line, r.truth.limits.labels)
		return 0, false
	}
	r.distinct++
	if code >= 0 {
		r.used[code] = true
		return code, true
	}
	if r.truth.values == Clusters {
		return known + r.added.add(label), true
	}
	cause := ""
	if len(r.added.names) < measure.MaxDiagnostics {
		if r.separator == "" {
			r.separator = r.otherSeparator(label)
			cause = r.separator
		}
		cause = cmp.Or(cause, mismatch.Explain(f.counter, []string{string(label)}, slices.Values(r.truth.labels.names)))
	}
	f.report.Warnf(f.name, line, "the truth has no label %s; every prediction of it counts as wrong%s", fields.Quote(label), cause)
	return known + r.added.add(label), true
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

// Set has the label codes predicted for an example of the truth, for Sets, in ascending order.
func (r *Run) Set(i int) []int16 { return r.sets.at(i) }

// Classes has the label codes of the classes that have scores, in the order of Scores; none for one score for each example.
func (r *Run) Classes() []int32 { return r.scores.codes }

// Scores has the scores of an example of the truth.
func (r *Run) Scores(i int) []float64 {
	start := r.scores.starts[i]
	return r.scores.rows[start:][:max(1, len(r.scores.codes))]
}

// Numbers has the number predicted for each example of the truth; nil for Labels.
func (r *Run) Numbers() []float64 { return r.numbers }

// Of the ids that a truth does not have, those up to namedUnknown are reported one by one, which leaves room for their likely
// cause, and a run is read up to mostUnknown.
const (
	namedUnknown = measure.MaxDiagnostics / 2
	mostUnknown  = measure.MaxDiagnostics
)

// Known returns a Truth that has the ids, the set of labels, or both, and nothing else: what runs are compared with when
// participants know those. Runs that are read against it say what does not depend on the rest.
func (t *Truth) Known(ids, labels bool) *Truth {
	k := &Truth{format: t.format, values: t.values, runs: t.runs, limits: t.limits, origin: t.origin, unnamed: !labels}
	if ids {
		k.ids = t.ids
	}
	if labels {
		k.labels = t.labels
	}
	return k
}

// NewInputs returns a Truth that has no more than the ids which AddInput adds to it. Of runs it reads the ids alone.
func NewInputs(format measure.Format) *Truth {
	format.ValueField = ""
	t := newTruth(format, Labels)
	t.origin = measure.OfInputs
	return t
}

// AddInput adds the ids of a file of the kind, and returns how many it has: 0 when it is of another kind or has no such field. ok is
// false when the file has faults or too many ids, so that those of the inputs are not known. The error is one of reading or of
// the context.
func (t *Truth) AddInput(ctx context.Context, kind string, content measure.File) (n int, ok bool, err error) {
	var report measure.Report
	f := &file{name: content.Name, format: measure.Format{Kind: kind, IDField: t.format.IDField}, report: &report, counter: steps.Of(ctx)}
	err = f.read(ctx, content.Content, func(e example) bool {
		n++
		if t.ids.len() == t.limits.examples || t.ids.bytes >= t.limits.ids {
			f.errorf(e.line, "there are too many ids")
			return false
		}
		t.ids.add(e.id)
		return true
	})
	return n, n == 0 || !report.Failed(), err
}

// addUnknown takes a prediction whose id is not known, and returns false when there are too many.
func (r *Run) addUnknown(f *file, e example) bool {
	r.unknown++
	if r.truth.origin == measure.OfTruth && r.unknown <= namedUnknown {
		f.errorf(e.line, "the truth has no id %s; expected only ids of the truth", fields.Quote(e.id))
	}
	if len(r.samples) < measure.MaxDiagnostics {
		r.samples = append(r.samples, string(e.id))
	}
	return r.unknown < mostUnknown || r.truth.origin == measure.OfInputs && r.unknown < r.truth.limits.examples
}

// compareIDs reports ids that only the run has, or only the origin.
func (r *Run) compareIDs(report *measure.Report) {
	missing, o := r.truth.Len()-r.places.read, r.truth.origin
	name := ""
	if len(r.places.files) == 1 {
		name = r.places.files[0]
	}
	cause := mismatch.Explain(r.counter, r.samples, r.missing())
	if o == measure.OfInputs {
		if r.unknown > 0 {
			report.Warnf(name, 0, "ids that are not in %s: %d of %s of the run: %s%s", o, r.unknown, plural.Count(r.unknown+r.places.read, "id"),
				fields.JoinFirst(r.samples, r.unknown), cause)
		}
		if missing > 0 {
			report.Warnf(name, 0, "there is no prediction for %d of %s of %s: %s", missing, plural.Count(r.truth.Len(), "id"), o,
				fields.JoinFirst(least(r.missing()), missing))
		}
		return
	}
	if r.unknown > namedUnknown || cause != "" {
		atLeast := "at least "[:9*(r.unknown/mostUnknown)]
		report.Errorf(name, 0, "ids of the run that %s does not have: %s%d%s", o, atLeast, r.unknown, cause)
	}
	if missing == 0 || r.unknown == mostUnknown || r.places.read == 0 && report.Failed() {
		return // with no prediction at all, the report has the reason already
	}
	report.Errorf(name, 0, "there is no prediction for %d of %s of %s; expected one for each", missing, plural.Count(r.truth.Len(), "id"), o)
	for _, id := range least(r.missing()) {
		if report.Full() {
			return
		}
		report.Errorf(name, 0, "there is no prediction for the id %s", fields.Quote([]byte(id)))
	}
}

// missing goes through the ids that no file has.
func (r *Run) missing() iter.Seq[string] {
	return func(yield func(string) bool) {
		for i, id := range r.joined {
			if r.counter.Add(1) != nil {
				return
			}
			if id == 0 && !yield(string(r.truth.ids.at(i))) {
				return
			}
		}
	}
}

// least returns the least of the texts, as many as a report holds. It does not reveal their order in a truth.
func least(all iter.Seq[string]) []string {
	var list []string
	trim := func() {
		slices.Sort(list)
		list = list[:min(len(list), measure.MaxDiagnostics)]
	}
	for text := range all {
		if list = append(list, text); len(list) > 10*measure.MaxDiagnostics {
			trim()
		}
	}
	trim()
	return list
}

// compareLabels reports a run of which no label is known, or that has scores for classes but not for all of the truth.
func (r *Run) compareLabels(report *measure.Report) {
	known := slices.Sorted(slices.Values(r.truth.labels.names))
	without := slices.DeleteFunc(slices.Clone(known), func(name string) bool {
		return len(r.scores.names) == 0 || r.used[r.truth.labels.codes[name]]
	})
	if n := len(r.added.names); n > 0 && n == r.distinct && r.truth.values != Clusters && len(known) > 0 {
		report.Errorf(r.places.files[0], 0, "none of the labels predicted (%s) is among the %d of the truth (%s); check the field %q%s",
			fields.JoinFirst(r.added.names, n), len(known), fields.JoinFirst(known, len(known)), r.truth.format.ValueField,
			cmp.Or(r.separator, mismatch.Explain(r.counter, r.added.names, slices.Values(known))))
	} else if n := len(without); n > 0 {
		report.Warnf(r.places.files[0], 0, "the run has scores for classes, but none for %s of the truth", fields.JoinFirst(without, n))
	}
}
