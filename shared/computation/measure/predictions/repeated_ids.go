package predictions

import (
	"fmt"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/fields"
)

// addRepeated reports an item with the id of the item at the index. It keeps the label or cluster, so that explainRepeated can count them.
// It returns false if a limit ends the reading.
func (t *Gold) addRepeated(f *file, e example, index int) (ok bool) {
	fault := measure.Diagnostic{Severity: measure.Error, File: f.name, Line: e.line, Message: fmt.Sprintf(
		"the id %s was given before, %s; expected every id once", fields.Quote(e.id), t.places.describe(uint32(index+1)))}
	f.report.Add(fault)
	if t.repeats == 0 {
		t.twice = fault
	}
	t.repeats++
	switch {
	case !e.sound:
		return true
	case t.values == Clusters:
		_, ok = f.cluster(t.clusters, e, t.limits.ids)
		return ok
	case t.values == Labels || t.values == Classes:
		_, ok = t.code(f, e.line, e.label)
		return ok
	}
	return true
}

// explainRepeated adds the likely cause to the first fault about repeated ids: if most items repeat an id, and every item has a label or
// cluster of its own, the two fields are probably exchanged. In a file where few repeat, the ids are probably what they seem to be.
func (t *Gold) explainRepeated(report *measure.Report) {
	if t.repeats > t.Len() && max(t.clusters.len(), len(t.labels.names)) == t.Len()+t.repeats {
		report.Explain(t.twice, fmt.Sprintf("; no value of %[2]q comes twice: exchange %[1]q and %[2]q if %[2]q has the ids", t.format.IDField,
			t.format.ValueField))
	}
}
