package measure

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/shared/computation/measure/bounds"
	"assay/shared/language/plural"
)

// Readers stop after MaxFaults errors, or after errors in lines of MaxFaultyText bytes. A Report counts each error.
const (
	MaxFaults     = bounds.Faults
	MaxFaultyText = bounds.FaultyText
)

// MaxMessage is the largest size of a message in bytes. Errorf and Warnf shorten longer ones, so that the record of a run has room for
// MaxDiagnostics.
const MaxMessage = bounds.Message

// perKind is the number of different messages of one kind of fault in one file that a Report keeps. The faults after them share a
// diagnostic, so that many faults of one kind leave room for other kinds.
const perKind = 10

// Report collects the diagnostics of one evaluation in bounded memory, in the order in which they are found. Equal faults share a
// diagnostic with their lines and their number. Readers stop when the report is Full. The zero value is ready for use. A Report is not
// safe for concurrent use.
type Report struct {
	// Text counts the bytes that were read from the files, after unpacking.
	Text int64
	// FaultyText counts the bytes of lines with errors.
	FaultyText int64

	perKind int // different messages of a kind that have groups; 0 stands for perKind
	groups  []*group
	kinds   map[string][]*group // the same groups by kind of fault
	kind    []byte              // memory for a kind
	errors  int
	others  [2]int // faults that no group has room for: errors and warnings
}

// Errorf adds an error. Line 0 means the whole file.
func (r *Report) Errorf(file string, line int, format string, args ...any) {
	r.Add(Diagnostic{Severity: Error, File: file, Line: line, Message: shortened(fmt.Sprintf(format, args...))})
}

// Warnf adds a warning. Line 0 means the whole file.
func (r *Report) Warnf(file string, line int, format string, args ...any) {
	r.Add(Diagnostic{Severity: Warning, File: file, Line: line, Message: shortened(fmt.Sprintf(format, args...))})
}

// Add adds a diagnostic. If the report has MaxDiagnostics, an error replaces the last warning, and the rest is only counted. An error
// counts for Failed in any case, so that warnings cannot hide it.
func (r *Report) Add(d Diagnostic) {
	g := &group{first: d, count: max(1, d.Count), last: d.Line}
	if d.Line > 0 && d.Lines == "" {
		g.spans = []span{{d.Line, d.Line}}
	}
	r.addGroup(g)
}

// AddAll adds the diagnostics of other reports about a file, in the order of lines.
func (r *Report) AddAll(file string, others ...*Report) {
	var all []*group
	for _, o := range others {
		for _, g := range o.groups {
			c := g.clone()
			c.first.File = file
			all = append(all, c)
		}
		r.errors += o.others[0]
		r.others[0] += o.others[0]
		r.others[1] += o.others[1]
	}
	slices.SortStableFunc(all, func(a, b *group) int { return cmp.Compare(a.first.Line, b.first.Line) })
	for _, g := range all {
		r.addGroup(g)
	}
}

// AddMore adds n further faults of the kind of a diagnostic. The last of them is in line last.
func (r *Report) AddMore(d Diagnostic, n, last int) {
	if n > 0 {
		r.addGroup(&group{first: d, count: n, last: last, mixed: true})
	}
}

// Explain adds a clause to the first message of the kind of a diagnostic. It counts no fault, and adds nothing without such a message.
func (r *Report) Explain(d Diagnostic, clause string) {
	g := &group{first: d}
	if same := r.kinds[string(g.appendKind(nil))]; len(same) > 0 {
		same[0].clause += clause
	}
}

// addGroup adds the faults of a group to the group of the report that has them, or adds the group.
func (r *Report) addGroup(g *group) {
	added := g.count
	same := r.find(g)
	switch {
	case same != nil:
		added = same.merge(g)
	case r.makeRoom(g.isError()):
		r.append(g)
	case g.isError():
		r.others[0] += added
	default:
		r.others[1] += added
	}
	if g.isError() {
		r.errors += added
	}
}

// find returns the group that takes the faults of g, or nil if g has a place of its own. The first perKind messages of a kind have their
// own groups. All other messages of the kind share a mixed group.
func (r *Report) find(g *group) *group {
	r.kind = g.appendKind(r.kind[:0])
	ofKind := r.kinds[string(r.kind)]
	if !g.mixed {
		i := slices.IndexFunc(ofKind, func(o *group) bool { return !o.mixed && o.key() == g.key() })
		if i >= 0 {
			return ofKind[i]
		}
		g.mixed = len(ofKind) >= cmp.Or(r.perKind, perKind)
	}
	if i := slices.IndexFunc(ofKind, func(o *group) bool { return o.mixed }); g.mixed && i >= 0 {
		return ofKind[i]
	}
	return nil
}

// makeRoom reports whether another group may be added. An error takes the place of the last warning, which is only counted.
func (r *Report) makeRoom(forError bool) bool {
	if len(r.groups) < MaxDiagnostics-1 { // the last place is for the number of the others
		return true
	}
	if !forError {
		return false
	}
	for i, g := range slices.Backward(r.groups) {
		if !g.isError() {
			r.others[1] += g.count
			r.groups = slices.Delete(r.groups, i, i+1)
			kind := string(g.appendKind(nil))
			r.kinds[kind] = slices.DeleteFunc(r.kinds[kind], func(o *group) bool { return o == g })
			return true
		}
	}
	return false
}

func (r *Report) append(g *group) {
	if r.kinds == nil {
		r.kinds = map[string][]*group{}
	}
	r.groups = append(r.groups, g)
	kind := string(g.appendKind(nil))
	r.kinds[kind] = append(r.kinds[kind], g)
}

// Clone returns an independent copy of the report.
func (r *Report) Clone() *Report {
	c := *r
	c.groups = nil
	c.kinds = nil
	c.kind = nil
	for _, g := range r.groups {
		c.append(g.clone())
	}
	return &c
}

// Full reports whether readers stop, since there are too many errors.
func (r *Report) Full() bool { return r.errors >= MaxFaults || r.FaultyText >= MaxFaultyText }

// Failed reports whether an error was added, also one that the report had no room for.
func (r *Report) Failed() bool { return r.errors > 0 }

// Errors returns the number of errors, also of those that the report had no room for.
func (r *Report) Errors() int { return r.errors }

// Diagnostics returns the diagnostics, nil if there are none. The slice belongs to the caller.
func (r *Report) Diagnostics() []Diagnostic {
	var list []Diagnostic
	for _, g := range r.groups {
		list = append(list, g.diagnostic())
	}
	switch {
	case r.Full():
		list = append(list, Diagnostic{Severity: Error, Count: several(r.others[0] + r.others[1]),
			Message: fmt.Sprintf("reading ended after %s, so there may be more", plural.Count(r.errors, "fault"))})
	case r.others[0] > 0:
		list = append(list, Diagnostic{Severity: Error, Count: several(r.others[0] + r.others[1]), Message: notListed})
	case r.others[1] > 0:
		list = append(list, Diagnostic{Severity: Warning, Count: several(r.others[1]), Message: notListed})
	}
	return list
}

// shortened returns a message of at most about MaxMessage bytes.
func shortened(message string) string {
	if len(message) <= MaxMessage {
		return message
	}
	return strings.ToValidUTF8(message[:MaxMessage], "") + " …"
}

const notListed = "there are more faults than the report has room for; correct those above first"

// several returns the Count of a diagnostic of n faults.
func several(n int) int {
	if n < 2 {
		return 0
	}
	return n
}
