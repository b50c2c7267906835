package spans

import (
	"cmp"
	"fmt"
	"slices"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/steps"
)

// span is a part of a document: the units from start to before end. A unit is a token or a character.
type span struct{ kind, start, end int32 }

func (s span) compare(other span) int {
	return cmp.Or(cmp.Compare(s.kind, other.kind), cmp.Compare(s.start, other.start), cmp.Compare(s.end, other.end))
}

// The ways in which spans match: the choices of the parameter overlap.
const (
	exact = iota
	anyShared
	proportional
	units
	ways // the number of ways
)

var wayNames = map[string]int{"exact": exact, "any": anyShared, "proportional": proportional, "units": units}

// matches counts the spans or units of a type on both sides, and the part of them that matches the other side.
type matches struct {
	predicted, actual     int64
	ofPredicted, ofActual measure.Sum // the matching parts
}

// count adds numbers of spans or units, and their matching parts.
func (m *matches) count(predicted, actual int, ofPredicted, ofActual float64) {
	m.predicted += int64(predicted)
	m.actual += int64(actual)
	m.ofPredicted.Add(ofPredicted)
	m.ofActual.Add(ofActual)
}

// pool adds the matches of another type.
func (m *matches) pool(other matches) {
	m.predicted, m.actual = m.predicted+other.predicted, m.actual+other.actual
	m.ofPredicted.Add(other.ofPredicted.Total())
	m.ofActual.Add(other.ofActual.Total())
}

func (m *matches) precision() float64 {
	return measure.Ratio(m.ofPredicted.Total(), float64(m.predicted))
}
func (m *matches) recall() float64 { return measure.Ratio(m.ofActual.Total(), float64(m.actual)) }

func (m *matches) f1() float64 {
	p, r := m.precision(), m.recall()
	return measure.Ratio(2*p*r, p+r)
}

// iou returns the intersection over union, for matches of units.
func (m *matches) iou() float64 {
	both := m.ofActual.Total()
	return measure.Ratio(both, float64(m.predicted+m.actual)-both)
}

// shared counts the units of one document, of one type or of all.
type shared struct{ predicted, actual, both int }

func (s shared) f1() float64 {
	if s.predicted+s.actual == 0 {
		return 1
	}
	return 2 * float64(s.both) / float64(s.predicted+s.actual)
}

func (s shared) iou() float64 {
	if s.predicted+s.actual == 0 {
		return 1
	}
	return float64(s.both) / float64(s.predicted+s.actual-s.both)
}

// counts holds the matches by type. All measures follow from them.
type counts struct {
	names []string
	kinds [][ways]matches
	// The units of the last document: of all types together, and by type for the types that measures need.
	all   shared
	of    map[int32]*shared
	means map[string]*mean
	// Memory for the merged spans of a type.
	truth, run []span
	counter    *steps.Counter
}

func newCounts(counter *steps.Counter, kinds []string) *counts {
	return &counts{
		counter: counter,
		names:   kinds,
		kinds:   make([][ways]matches, len(kinds)),
		of:      map[int32]*shared{},
		means:   map[string]*mean{},
	}
}

// unitsOf returns the units of the last document for a type, or for all types if the name is empty. add sets them.
func (c *counts) unitsOf(name string) *shared {
	if name == "" {
		return &c.all
	}
	kind := int32(slices.Index(c.names, name))
	if c.of[kind] == nil {
		c.of[kind] = &shared{}
	}
	return c.of[kind]
}

// add compares the spans of one document. Both lists must be sorted and without duplicates. The counts are invalid if the counter has an
// error.
func (c *counts) add(truth, run []span) {
	c.all = shared{}
	for _, of := range c.of {
		*of = shared{}
	}
	for len(truth)+len(run) > 0 && c.counter.Err() == nil {
		var kind int32
		switch {
		case len(truth) == 0:
			kind = run[0].kind
		case len(run) == 0:
			kind = truth[0].kind
		default:
			kind = min(truth[0].kind, run[0].kind)
		}
		t, r := first(truth, kind), first(run, kind)
		found := c.compare(&c.kinds[kind], truth[:t], run[:r])
		c.all.predicted += found.predicted
		c.all.actual += found.actual
		c.all.both += found.both
		if of := c.of[kind]; of != nil {
			*of = found
		}
		truth, run = truth[t:], run[r:]
	}
}

// first returns the number of spans of the type at the start of a list.
func first(list []span, kind int32) int {
	n := 0
	for n < len(list) && list[n].kind == kind {
		n++
	}
	return n
}

// compare compares the spans of one type in one document. It adds their matches in all ways, and returns their units.
func (c *counts) compare(of *[ways]matches, truth, run []span) shared {
	equal := 0
	for t, r := 0, 0; t < len(truth) && r < len(run) && c.counter.Add(1) == nil; {
		switch order := truth[t].compare(run[r]); {
		case order < 0:
			t++
		case order > 0:
			r++
		default:
			equal++
			t++
			r++
		}
	}
	of[exact].count(len(run), len(truth), float64(equal), float64(equal))
	if c.counter.Add(mergePasses*(len(truth)+len(run))) != nil {
		return shared{}
	}
	c.truth, c.run = merge(c.truth[:0], truth), merge(c.run[:0], run)
	of[anyShared].count(len(run), len(truth), touching(run, c.truth), touching(truth, c.run))
	var ofPredicted, ofActual float64
	both := 0
	for t, r := 0, 0; t < len(c.truth) && r < len(c.run) && c.counter.Add(1) == nil; {
		a, b := c.truth[t], c.run[r]
		if length := min(a.end, b.end) - max(a.start, b.start); length > 0 {
			both += int(length)
			ofPredicted += float64(length) / float64(b.end-b.start)
			ofActual += float64(length) / float64(a.end-a.start)
		}
		if a.end < b.end {
			t++
		} else {
			r++
		}
	}
	of[proportional].count(len(c.run), len(c.truth), ofPredicted, ofActual)
	found := shared{length(c.run), length(c.truth), both}
	of[units].count(found.predicted, found.actual, float64(both), float64(both))
	return found
}

// mergePasses is the number of passes of compare over all spans for merging and touching.
const mergePasses = 2

// merge merges spans of a sorted list that share a unit, and appends the results to merged.
func merge(merged, list []span) []span {
	for _, s := range list {
		if last := len(merged) - 1; last >= 0 && s.start < merged[last].end {
			merged[last].end = max(merged[last].end, s.end)
		} else {
			merged = append(merged, s)
		}
	}
	return merged
}

// touching returns the number of spans of a sorted list that share a unit with a merged span.
func touching(list, merged []span) float64 {
	n, at := 0, 0
	for _, s := range list {
		for at < len(merged) && merged[at].end <= s.start {
			at++
		}
		if at < len(merged) && merged[at].start < s.end {
			n++
		}
	}
	return float64(n)
}

func length(merged []span) (n int) {
	for _, s := range merged {
		n += int(s.end - s.start)
	}
	return n
}

// wayOf returns the way in which spans match for a measure.
func wayOf(m measure.Measure) int {
	if m.Name == "IoU" {
		return units
	}
	return wayNames[m.Param("overlap")]
}

// value returns the value of a measure over the number of documents, or the reason why there is none.
func (c *counts) value(m measure.Measure, documents int) (float64, string) {
	name, way := m.Param(measure.TypeParameter), wayOf(m)
	kind := slices.Index(c.names, name)
	if name != "" && (kind < 0 || c.kinds[kind][way].actual == 0) {
		return 0, fmt.Sprintf("no span of the truth has the type %q", name)
	}
	if mean := c.means[m.String()]; mean != nil {
		return mean.sum.Total() / float64(documents), ""
	}
	value := (*matches).f1
	switch m.Name {
	case "Precision":
		value = (*matches).precision
	case "Recall":
		value = (*matches).recall
	case "IoU":
		value = (*matches).iou
	}
	if name != "" {
		return value(&c.kinds[kind][way]), ""
	}
	var pooled matches
	var sum, weighted measure.Sum
	n := 0
	for kind := range c.kinds {
		of := &c.kinds[kind][way]
		if of.predicted+of.actual == 0 {
			continue
		}
		n++
		pooled.pool(*of)
		sum.Add(value(of))
		weighted.Add(value(of) * float64(of.actual))
	}
	switch {
	case pooled.actual == 0:
		return 0, "the truth has no spans"
	case m.Param("average") == "macro":
		return sum.Total() / float64(n), ""
	case m.Param("average") == "weighted":
		return weighted.Total() / float64(pooled.actual), ""
	default:
		return value(&pooled), ""
	}
}
