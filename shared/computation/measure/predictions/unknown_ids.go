package predictions

import (
	"bytes"
	"cmp"
	"fmt"
	"iter"
	"slices"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/fields"
	"assay/shared/computation/measure/mismatch"
	"assay/shared/language/plural"
)

// addUnknown counts a prediction with an unknown id, and reports it if ids are refused. It returns false if there are too many.
func (r *Run) addUnknown(f *file, e example) bool {
	r.unknown++
	if r.truth.refuses() {
		hint := ""
		if string(bytes.TrimPrefix(e.id, []byte("\ufeff"))) == f.format.IDField {
			hint = "; the line repeats the names of the fields, as in files that were joined: leave it out"
		}
		fault := measure.Diagnostic{Severity: measure.Error, File: f.name, Line: e.line,
			Message: fmt.Sprintf("the truth has no id %s; expected only ids of the truth%s", fields.Quote(e.id), hint)}
		r.report.Add(fault)
		if hint == "" {
			r.strange = cmp.Or(r.strange, fault)
		}
	}
	if len(r.samples) < measure.MaxDiagnostics {
		r.samples = append(r.samples, string(e.id))
		r.values = append(r.values, string(e.label))
	}
	return r.unknown < r.truth.limits.examples
}

// refuses reports whether unknown ids are errors.
func (t *Gold) refuses() bool {
	return t.origin == measure.OfTruth && t.options.ExtraIDs != measure.IgnoreExtraIDs
}

// compareIDs reports ids that only the run has, and ids that only the truth or the inputs have. failed reports whether the files have other
// faults. A run without any prediction then lacks none, because the faults say why. unread says that the files may have more ids than were
// read. Then no id is called missing.
func (r *Run) compareIDs(failed, unread bool) {
	missing, o := r.truth.Len()-r.places.read, r.truth.origin
	name := ""
	if len(r.places.files) == 1 {
		name = r.places.files[0]
	}
	cause := cmp.Or(r.swapped(), r.knownIDs().Explain(r.counter, r.samples))
	if o == measure.OfInputs {
		r.warnOfUnknown(name, "", cause)
		if missing > 0 && !unread && (r.places.read > 0 || !failed) {
			r.report.Warnf(name, 0, "there is no prediction for %d of %s of %s: %s", missing, plural.Count(r.truth.Len(), "id"), o,
				fields.JoinFirst(least(r.missing()), missing))
		}
		return
	}
	if cause == "" && r.places.read == 0 && missing > 0 {
		cause = fmt.Sprintf("; the ids of %s are %s", o, fields.JoinFirst(least(r.missing()), missing))
	}
	tooMany := r.unknown >= r.truth.limits.examples
	switch {
	case tooMany:
		r.report.Errorf(name, 0, "ids of the run that %s does not have: at least %d%s", o, r.unknown, cause)
	case !r.truth.refuses():
		r.warnOfUnknown(name, " and do not count", cause)
	case cause != "":
		r.report.Explain(r.strange, cause)
	}
	explained := r.places.read == 0 && (failed || r.report.Failed()) // The report says already why there are no predictions.
	if missing > 0 && !unread && !tooMany && !explained {
		r.reportMissing(name, missing)
	}
}

// warnOfUnknown warns of the ids that only the run has, if there are some. effect is a clause about these ids.
func (r *Run) warnOfUnknown(name, effect, cause string) {
	if r.unknown > 0 {
		r.report.Warnf(name, 0, "ids that are not in %s%s: %d of %s of the run: %s%s", r.truth.origin, effect, r.unknown,
			plural.Count(r.unknown+r.places.read, "id"), fields.JoinFirst(r.samples, r.unknown), cause)
	}
}

// reportMissing reports the ids without a prediction.
func (r *Run) reportMissing(name string, missing int) {
	list := least(r.missing())
	fault := measure.Diagnostic{Severity: measure.Error, File: name}
	for i, id := range list {
		fault.Message = "there is no prediction for the id " + fields.Quote([]byte(id))
		if i == 0 {
			fault.Message = fmt.Sprintf("there is no prediction for %d of %s of %s%s; expected one for each%s", missing,
				plural.Count(r.truth.Len(), "id"), r.truth.origin, firstOf(id, missing), sumHint(id, missing))
		}
		r.report.Add(fault)
	}
	r.report.AddMore(fault, missing-len(list), 0)
}

// knownIDs returns the ids that explain unknown ones.
func (r *Run) knownIDs() mismatch.IDs {
	index := func(id string) int { return r.truth.ids.find([]byte(id)) }
	return mismatch.IDs{
		Of:  r.truth.origin,
		Has: func(id string) bool { return index(id) >= 0 },
		Lacks: func(id string) bool {
			i := index(id)
			return i >= 0 && r.joined[i] == 0
		},
		Left: r.missing(),
	}
}

// sumHint returns a clause for the only missing id if it names a sum, which begins with a semicolon, or "".
func sumHint(id string, missing int) string {
	if missing > 1 || !isSum(id) {
		return ""
	}
	return "; if it is no item but a sum below a table, leave its line out of the truth"
}

// firstOf names the first of n ids after their number.
func firstOf(id string, n int) string {
	if n == 1 {
		return ": " + fields.Quote([]byte(id))
	}
	return ", the first of them " + fields.Quote([]byte(id))
}

// swapped returns a clause that begins with a semicolon if unknown ids are labels or clusters of the truth, or have ids of the truth as
// values, or "".
func (r *Run) swapped() string {
	if len(r.samples) == 0 || r.truth.origin != measure.OfTruth {
		return ""
	}
	id := []byte(r.samples[0])
	isValue := r.truth.labels.find(id) >= 0 || r.truth.clusters != nil && r.truth.clusters.find(id) >= 0
	if !isValue && !r.valuesAreIDs() {
		return ""
	}
	return fmt.Sprintf("; the likely cause: the field %q has values of the field %q, so exchange the two", r.truth.format.IDField,
		r.truth.format.ValueField)
}

// valuesAreIDs reports whether the values of unknown ids are ids of the truth, and none of them comes twice. Labels and clusters that only
// look like ids come several times.
func (r *Run) valuesAreIDs() bool {
	seen := map[string]bool{}
	for _, value := range r.values {
		if seen[value] || r.truth.ids.find([]byte(value)) < 0 {
			return false
		}
		seen[value] = true
	}
	return len(seen) > 1
}

// missing returns an iterator over the ids without a prediction.
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

// least returns the least texts, at most measure.MaxDiagnostics of them. Their order does not depend on the order in a truth.
func least(all iter.Seq[string]) []string {
	var list []string
	trim := func() {
		slices.Sort(list)
		list = list[:min(len(list), measure.MaxDiagnostics)]
	}
	for text := range all {
		list = append(list, text)
		if len(list) > 10*measure.MaxDiagnostics {
			trim()
		}
	}
	trim()
	return list
}
