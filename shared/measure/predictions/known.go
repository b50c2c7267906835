package predictions

import (
	"context"
	"iter"
	"slices"

	"assay/shared/measure"
	"assay/shared/measure/fields"
	"assay/shared/measure/mismatch"
	"assay/shared/plural"
)

// Of the ids that a truth does not have, those up to namedUnknown are reported one by one, which leaves room for their likely
// cause, and a run is read up to mostUnknown.
const (
	namedUnknown = measure.MaxDiagnostics / 2
	mostUnknown  = measure.MaxDiagnostics
)

// Known returns a Truth that has the ids, the set of labels, or both, and nothing else: what runs are compared with when
// participants know those. Runs that are read against it say what does not depend on the rest.
func (t *Truth) Known(ids, labels bool) *Truth {
	k := &Truth{format: t.format, values: t.values, limits: t.limits, origin: t.origin}
	if ids {
		k.ids = t.ids
	}
	if labels {
		k.labels = t.labels
	}
	return k
}

// NewInputs returns a Truth that has no more than the ids which AddInput adds to it.
func NewInputs(format Format, values Values) *Truth {
	t := newTruth(format, values)
	t.origin = measure.OfInputs
	return t
}

// AddInput adds the ids of a file of the kind, and returns how many it has: 0 when it is of another kind or has no such field. ok is
// false when the file has faults or too many ids, so that those of the inputs are not known. The error is one of reading or of
// the context.
func (t *Truth) AddInput(ctx context.Context, kind string, content measure.File) (n int, ok bool, err error) {
	var report measure.Report
	f := &file{name: content.Name, format: Format{Kind: kind, IDField: t.format.IDField}, report: &report}
	err = f.read(ctx, content.Content, func(e example) bool {
		n++
		if t.ids.len() == t.limits.examples || len(t.ids.text) >= t.limits.ids {
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
	if r.unknown++; r.truth.origin == measure.OfTruth && r.unknown <= namedUnknown {
		f.errorf(e.line, "the truth has no id %s; expected only ids of the truth", fields.Quote(e.id))
	}
	if len(r.samples) < measure.MaxDiagnostics {
		r.samples = append(r.samples, string(e.id))
	}
	return r.unknown < mostUnknown || r.truth.origin == measure.OfInputs && r.unknown < r.truth.limits.examples
}

// compareIDs reports ids that only the run has, or only the origin.
func (r *Run) compareIDs(report *measure.Report) {
	missing, o := r.truth.Len()-r.joined, r.truth.origin
	name := ""
	if len(r.places.files) == 1 {
		name = r.places.files[0]
	}
	cause := mismatch.Explain(r.samples, r.missing())
	if o == measure.OfInputs {
		if r.unknown > 0 {
			report.Warnf(name, 0, "ids that are not in %s: %d of %s of the run: %s%s", o, r.unknown, plural.Count(r.unknown+r.joined, "id"),
				fields.Some(r.samples, r.unknown), cause)
		}
		if missing > 0 {
			report.Warnf(name, 0, "there is no prediction for %d of %s of %s: %s", missing, plural.Count(r.truth.Len(), "id"), o,
				fields.Some(least(r.missing()), missing))
		}
		return
	}
	if r.unknown > namedUnknown || cause != "" {
		atLeast := "at least "[:9*(r.unknown/mostUnknown)]
		report.Errorf(name, 0, "ids of the run that %s does not have: %s%d%s", o, atLeast, r.unknown, cause)
	}
	if missing == 0 || r.unknown == mostUnknown || r.joined == 0 && report.Failed() {
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
		for i, p := range r.places.list {
			if p.line == 0 && !yield(string(r.truth.ids.at(i))) {
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

// compareLabels reports a run of which no label is known.
func (r *Run) compareLabels(report *measure.Report) {
	known := slices.Sorted(slices.Values(r.truth.labels.names))
	if n := len(r.added.names); n > 0 && n == r.distinct {
		report.Errorf(r.places.files[0], 0, "none of the labels predicted (%s) is among the %d of the truth (%s); check the field %q%s",
			fields.Some(r.added.names, n), len(known), fields.Some(known, len(known)), r.truth.format.ValueField,
			mismatch.Explain(r.added.names, slices.Values(known)))
	}
}
