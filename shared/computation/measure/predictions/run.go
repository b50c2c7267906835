package predictions

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/fields"
	"assay/shared/computation/measure/mismatch"
	"assay/shared/computation/measure/steps"
)

// Run holds the predictions for the examples of a truth, in the order of the truth.
type Run struct {
	truth   *Gold
	counter *steps.Counter
	report  *measure.Report // for the differences from the truth
	places  sourceLines
	joined  []uint32           // by example, the number of its prediction's id in places; 0 without a prediction
	unknown int                // predictions with unknown ids
	samples []string           // the first of the unknown ids
	values  []string           // the labels or clusters of samples
	strange measure.Diagnostic // the first fault about an unknown id
	next    int                // index after the index of the last id
	added   labels             // labels that the truth lacks; their codes follow the codes of the truth
	used    []bool             // by code, whether the run has the label of the truth
	// distinct counts the used and added labels.
	distinct int
	// separator is the first clause that otherSeparator returned.
	separator string
	codes     []int32
	clusters  *ids // the names of Clusters
	numbers   []float64
	text      int                                         // bytes of all texts
	compare   func(index int, text []byte) (fault string) // for Texts
	sets      sets
	scores    scores
	take      Take // for Arrays
	inspector TextInspector
}

// ReadRun reads a run from one or more files. Faults of the files and missing predictions go to the report. If the report has errors, the
// run must not be used. The error is from reading or the context.
func (t *Gold) ReadRun(ctx context.Context, files []measure.File, report *measure.Report) (*Run, error) {
	r := t.newRun()
	err := r.read(ctx, files, report, report)
	return r, err
}

// newRun returns an empty run.
func (t *Gold) newRun() *Run {
	r := &Run{truth: t, used: make([]bool, len(t.labels.names))}
	switch t.values {
	case Numbers:
		r.numbers = make([]float64, t.Len())
	case Labels:
		r.codes = make([]int32, t.Len())
	case Clusters:
		r.codes, r.clusters = make([]int32, t.Len()), newIDs()
	case Sets:
		r.sets.starts = make([]uint32, t.Len())
	case Classes, Scores, Probabilities:
		r.scores.starts = make([]uint32, t.Len())
	case Arrays, References, Texts: // a Run does not keep these values
	}
	return r
}

// ReadRunArrays reads a run of Arrays like ReadRun. It passes each array to take, with the index of the example in the truth.
func (t *Gold) ReadRunArrays(ctx context.Context, take Take, files []measure.File, report *measure.Report) error {
	r := &Run{truth: t, take: take}
	return r.read(ctx, files, report, report)
}

// read reads the files. Differences from the truth go to the report, and other faults of the files to ofFiles, which can be the same.
func (r *Run) read(ctx context.Context, files []measure.File, report, ofFiles *measure.Report) error {
	r.report = report
	r.counter = cmp.Or(r.counter, steps.Of(ctx))
	r.inspector = cmp.Or[TextInspector](r.inspector, noInspector{})
	r.joined = make([]uint32, r.truth.Len())
	unread := false
	for _, content := range files {
		f := &file{name: content.Name, format: r.truth.format, options: r.truth.options, values: r.truth.runs, report: ofFiles,
			counter: r.counter, inspector: r.inspector}
		r.places.files = append(r.places.files, f.name)
		if err := f.read(ctx, content.Content, func(e example) bool { return r.add(f, e) }); err != nil {
			return err
		}
		unread = unread || f.unread
	}
	r.compareIDs(ofFiles.Failed(), unread)
	if !unread {
		r.compareLabels()
	}
	return r.counter.Err()
}

// add adds one prediction. It returns false if a limit ends the reading.
func (r *Run) add(f *file, e example) bool {
	index := 0
	if r.truth.ids != nil {
		index = r.find(e.id)
		if index < 0 {
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
	case Clusters:
		code, ok := f.cluster(r.clusters, e, r.truth.limits.ids)
		r.codes[index] = code
		return ok
	case Labels:
	}
	code, ok := r.code(f, e.line, e.label)
	if ok && len(r.codes) > 0 {
		r.codes[index] = code
	}
	return ok
}

// code returns the code of a label. ok is false if the run has too many different labels. It warns of the first use of a label that the
// truth lacks.
func (r *Run) code(f *file, line int, label []byte) (code int32, ok bool) {
	code = r.truth.labels.find(label)
	known := int32(len(r.used))
	switch {
	case code >= 0 && r.used[code]:
		return code, true
	case code < 0:
		code = r.added.find(label)
		if code >= 0 {
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
	cause := ""
	if len(r.added.names) < measure.MaxDiagnostics {
		if r.separator == "" {
			r.separator = r.otherSeparator(label)
			cause = r.separator
		}
		cause = cmp.Or(cause, mismatch.Explain(f.counter, []string{string(label)}, slices.Values(r.truth.labels.names)))
		if cause == "" && f.columns > 1 {
			cause = "; if the column is no label, leave it out"
		}
	}
	r.report.Warnf(f.name, line, "the truth has no label %s; every prediction of it counts as wrong%s", fields.Quote(label), cause)
	return known + r.added.add(label), true
}

// find returns the index of an id in the truth, or -1.
func (r *Run) find(id []byte) int {
	index := r.truth.ids.findNext(id, r.next)
	r.next = index + 1
	return index
}

// Labels returns the labels of the truth, followed by the labels that only the run has. The index of a label is its code.
func (r *Run) Labels() []string {
	return append(r.truth.labels.names[:len(r.truth.labels.names):len(r.truth.labels.names)], r.added.names...)
}

// Clusters returns the number of different Clusters. Their codes are below it, and unrelated to the codes of the truth.
func (r *Run) Clusters() int { return r.clusters.len() }

// Codes returns the predicted label or cluster code for each example of the truth. It is nil for Numbers.
func (r *Run) Codes() []int32 { return r.codes }

// Set returns the predicted label codes for an example of a truth of Sets, in ascending order.
func (r *Run) Set(i int) []int16 { return r.sets.at(i) }

// Classes returns the label codes of the classes with scores, in the order of Scores. It is empty if examples have only one score.
func (r *Run) Classes() []int32 { return r.scores.codes }

// Scores returns the scores for an example of the truth.
func (r *Run) Scores(i int) []float64 {
	start := r.scores.starts[i]
	return r.scores.rows[start:][:max(1, len(r.scores.codes))]
}

// Numbers returns the predicted number for each example of the truth. It is nil for Labels.
func (r *Run) Numbers() []float64 { return r.numbers }

// Known returns a Truth with the ids, the set of labels, or both, and nothing else of t. Reading a run against it reports only faults that
// do not depend on the rest of t.
func (t *Gold) Known(ids, labels bool) *Gold {
	k := &Gold{format: t.format, options: t.options, values: t.values, runs: t.runs, limits: t.limits, origin: t.origin, unnamed: !labels}
	if ids {
		k.ids = t.ids
	}
	if labels {
		k.labels = t.labels
	}
	return k
}

// NewInputs returns a Truth that consists of the ids that AddInput adds. It reads only the ids of runs.
func NewInputs(format measure.Format) *Gold {
	format.ValueField = ""
	t := newTruth(format, Labels)
	t.origin = measure.OfInputs
	return t
}

// NewTextInputs returns a Truth like NewInputs. AddInput passes the text of each id to take, without an array, or nil if a file has no
// TextField. Runs of Arrays can be read against the ids.
func NewTextInputs(format measure.Format, take Take) *Gold {
	t := newTruth(format, Arrays)
	t.origin = measure.OfInputs
	t.take = take
	return t
}

// AddInput adds the ids of a file of the kind, and returns their number n. n is 0 if the file has another kind or lacks the field. ok is
// false if the file has faults or too many ids; then the ids of the inputs are not known completely. The error is from reading or the
// context.
func (t *Gold) AddInput(ctx context.Context, kind string, content measure.File) (n int, ok bool, err error) {
	var report measure.Report
	f := &file{name: content.Name, format: measure.Format{Kind: kind, IDField: t.format.IDField}, values: t.values, report: &report,
		counter: steps.Of(ctx)}
	err = f.read(ctx, content.Content, func(e example) bool {
		n++
		if t.ids.len() == t.limits.examples || t.ids.size >= t.limits.ids {
			f.errorf(e.line, "there are too many ids")
			return false
		}
		index, _ := t.ids.add(e.id)
		if t.take != nil {
			t.take(f.name, e.line, index, nil, e.text)
		}
		return true
	})
	return n, n == 0 || !report.Failed(), err
}

// compareLabels reports that no label of the run is known, or that classes of the truth have no scores. A part of a truth does not show
// which labels are known.
func (r *Run) compareLabels() {
	known := slices.Sorted(slices.Values(r.truth.labels.names))
	without := slices.DeleteFunc(slices.Clone(known), func(name string) bool {
		return len(r.scores.names) == 0 || r.used[r.truth.labels.codes[name]]
	})
	if n := len(r.added.names); n > 0 && n == r.distinct && len(known) > 0 && r.truth.options.Only == nil {
		line := 0
		heal := fmt.Sprintf("check the field %q", r.truth.format.ValueField)
		switch {
		case r.scores.ofFile > 1:
			line = 1
			heal = "name each column of scores like its label"
		case r.scores.ofFile == 1:
			line = 1
			heal = fmt.Sprintf("name a single column of scores %q", r.truth.format.ValueField)
		}
		r.report.Errorf(r.places.files[0], line, "none of the labels predicted (%s) is among the %d of the truth (%s); %s%s",
			fields.JoinFirst(r.added.names, n), len(known), fields.JoinFirst(known, len(known)), heal,
			cmp.Or(r.separator, mismatch.Explain(r.counter, r.added.names, slices.Values(known))))
	} else if n := len(without); n > 0 {
		r.report.Warnf(r.places.files[0], 0, "the run has scores for classes, but none for %s of the truth", fields.JoinFirst(without, n))
	}
}
