package measure

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"assay/shared/language/plural"
)

// Readers stop after MaxFaults errors, or after errors in lines of MaxFaultyText bytes. A Report counts each error.
const (
	MaxFaults     = 100_000
	MaxFaultyText = 16 << 20
)

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
	exact   map[Diagnostic]*group // by diagnostics without lines
	kinds   map[Diagnostic]*kind  // by diagnostics without lines, whose Message is a kind
	errors  int
	others  [2]int // faults that no group has room for: errors and warnings
}

// kind is the state of one kind of fault in one file.
type kind struct {
	messages int    // different messages that have groups
	rest     *group // the faults after them, or nil
}

// Errorf adds an error. Line 0 means the whole file.
func (r *Report) Errorf(file string, line int, format string, args ...any) {
	r.Add(Diagnostic{Severity: Error, File: file, Line: line, Message: fmt.Sprintf(format, args...)})
}

// Warnf adds a warning. Line 0 means the whole file.
func (r *Report) Warnf(file string, line int, format string, args ...any) {
	r.Add(Diagnostic{Severity: Warning, File: file, Line: line, Message: fmt.Sprintf(format, args...)})
}

// Add adds a diagnostic. If the report has MaxDiagnostics, an error replaces the last warning, and the rest is only counted. An error
// counts for Failed in any case, so that warnings cannot hide it.
func (r *Report) Add(d Diagnostic) {
	g := &group{of: d, count: max(1, d.Count), last: d.Line}
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
			of := g.clone()
			of.of.File = file
			all = append(all, of)
		}
		r.errors += o.others[0]
		r.others[0] += o.others[0]
		r.others[1] += o.others[1]
	}
	slices.SortStableFunc(all, func(a, b *group) int { return cmp.Compare(a.of.Line, b.of.Line) })
	for _, g := range all {
		r.addGroup(g)
	}
}

// AddMore adds n further faults of the kind of a diagnostic. The last of them is in line last.
func (r *Report) AddMore(d Diagnostic, n, last int) {
	if n > 0 {
		r.addGroup(&group{of: d, count: n, last: last, mixed: true})
	}
}

func (r *Report) addGroup(g *group) {
	if g.of.Severity == Error {
		r.errors += g.count
	}
	key := g.key()
	if same := r.exact[key]; same != nil && !g.mixed {
		r.errors -= same.merge(g)
		return
	}
	of := key
	of.Message = KindOf(key.Message)
	k := r.kinds[of]
	most := cmp.Or(r.perKind, perKind)
	switch {
	case k == nil:
		k = &kind{}
	case k.rest != nil && (g.mixed || k.messages >= most):
		k.rest.mixed = true
		r.errors -= k.rest.merge(g)
		return
	}
	if !r.hasRoom(g) {
		return
	}
	if r.exact == nil {
		r.exact, r.kinds = map[Diagnostic]*group{}, map[Diagnostic]*kind{}
	}
	r.kinds[of] = k
	r.groups = append(r.groups, g)
	if g.mixed || k.messages >= most {
		k.rest = g
		return
	}
	k.messages++
	r.exact[key] = g
}

// hasRoom reports whether another group may be added. An error takes the place of the last warning. The faults of groups without a place
// are counted.
func (r *Report) hasRoom(g *group) bool {
	if len(r.groups) < MaxDiagnostics-1 { // the last place is for the number of the others
		return true
	}
	if g.of.Severity == Error {
		for i, of := range slices.Backward(r.groups) {
			if of.of.Severity == Warning {
				r.remove(i)
				return true
			}
		}
		r.others[0] += g.count
		return false
	}
	r.others[1] += g.count
	return false
}

func (r *Report) remove(i int) {
	g := r.groups[i]
	r.others[1] += g.count
	key := g.key()
	delete(r.exact, key)
	of := key
	of.Message = KindOf(key.Message)
	if k := r.kinds[of]; k != nil && k.rest == g {
		delete(r.kinds, of)
	}
	r.groups = slices.Delete(r.groups, i, i+1)
}

// Clone returns an independent copy of the report.
func (r *Report) Clone() *Report {
	c := *r
	c.exact, c.kinds = maps.Clone(r.exact), maps.Clone(r.kinds)
	copies := make(map[*group]*group, len(r.groups))
	c.groups = make([]*group, len(r.groups))
	for i, g := range r.groups {
		copies[g] = g.clone()
		c.groups[i] = copies[g]
	}
	for key, g := range c.exact {
		c.exact[key] = copies[g]
	}
	for key, k := range c.kinds {
		c.kinds[key] = &kind{messages: k.messages, rest: copies[k.rest]}
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

const notListed = "there are more faults than the report has room for; correct those above first"

// several returns the Count of a diagnostic of n faults.
func several(n int) int {
	if n < 2 {
		return 0
	}
	return n
}
