package measure

import (
	"fmt"
	"slices"
	"strings"

	"assay/shared/language/lists"
	"assay/shared/language/plural"
)

// Faults returns the number of faults that the diagnostics stand for.
func Faults(all []Diagnostic) (n int) {
	for _, d := range all {
		n += max(1, d.Count)
	}
	return n
}

// Extent returns where the fault of a diagnostic is, such as "lines 1 to 40" or "12 times". It returns "" for a single line or place.
func (d Diagnostic) Extent() string {
	switch {
	case d.Lines != "":
		return "lines " + d.Lines
	case d.Count > 1:
		return plural.Count(d.Count, "time")
	}
	return ""
}

// InAll returns the sentence that tells the number of faults, or "" if each diagnostic stands for one fault.
func InAll(all []Diagnostic) string {
	n := Faults(all)
	if n == len(all) {
		return ""
	}
	return plural.Count(n, "fault") + " in all."
}

// Grouped returns the diagnostics with equal faults of one file in one diagnostic.
func Grouped(all []Diagnostic) []Diagnostic {
	r := Report{perKind: len(all)}
	for _, d := range all {
		r.Add(d)
	}
	return r.Diagnostics()
}

// maxSpans is the number of spans that a group keeps.
const maxSpans = 4

// span is a sequence of consecutive lines.
type span struct{ first, last int }

// group is a fault with the lines that have it.
type group struct {
	first Diagnostic // of the first line
	spans []span     // the first spans of lines, in the order of the file
	count int        // lines or, without lines, places
	last  int        // the last line
	mixed bool       // the faults may have different messages of one kind
	// clause ends the message. It says something about the fault that was found later.
	clause string
}

func (g *group) isError() bool { return g.first.Severity == Error }

// key returns the fault without its lines.
func (g *group) key() Diagnostic {
	key := g.first
	if key.Lines == "" {
		key.Line = 0
		key.Count = 0
	}
	return key
}

// appendKind appends a text that only faults of one kind in one file have.
func (g *group) appendKind(kind []byte) []byte {
	for _, part := range []string{string(g.first.Severity), g.first.File, g.first.Lines} {
		kind = append(kind, part...)
		kind = append(kind, 0)
	}
	return appendKind(kind, g.first.Message)
}

func (g *group) clone() *group {
	c := *g
	c.spans = slices.Clone(g.spans)
	return &c
}

// merge adds the faults of o. It returns how many it added: none if o is another fault of the last line.
func (g *group) merge(o *group) (added int) {
	if o.count == 1 && o.last > 0 && o.last == g.last {
		return 0
	}
	for _, s := range o.spans {
		g.addSpan(s)
	}
	g.count += o.count
	g.last = max(g.last, o.last)
	return o.count
}

func (g *group) addSpan(s span) {
	if n := len(g.spans); n > 0 && g.spans[n-1].last+1 == s.first && g.last+1 == s.first {
		g.spans[n-1].last = s.last
		return
	}
	if len(g.spans) < maxSpans && s.first > g.last {
		g.spans = append(g.spans, s)
	}
}

// diagnostic returns the diagnostic of all lines.
func (g *group) diagnostic() Diagnostic {
	d := g.first
	d.Message += g.clause
	if g.count == 1 || d.Lines != "" {
		return d
	}
	d.Count = g.count
	d.Lines = g.lines()
	if g.mixed {
		where := "places"
		if d.Line > 0 {
			where = "lines"
		}
		d.Message += "; the other " + where + " have the same kind of fault with other values"
	}
	return d
}

// lines describes the lines: "1 to 40", "3, 7 and 9", or "3, 7, 9 and 41 more up to 812". It returns "" if the fault has no line.
func (g *group) lines() string {
	if g.first.Line == 0 {
		return ""
	}
	spans := g.spans
	if len(spans) == 0 {
		spans = []span{{g.first.Line, g.first.Line}}
	}
	if more := g.count - size(spans); more == 0 {
		return lists.And(texts(spans))
	}
	spans = spans[:min(len(spans), maxSpans-1)]
	return fmt.Sprintf("%s and %d more up to %d", strings.Join(texts(spans), ", "), g.count-size(spans), g.last)
}

func size(spans []span) (lines int) {
	for _, s := range spans {
		lines += s.last - s.first + 1
	}
	return lines
}

func texts(spans []span) []string {
	var list []string
	for _, s := range spans {
		switch s.last - s.first {
		case 0:
			list = append(list, fmt.Sprint(s.first))
		case 1:
			list = append(list, fmt.Sprint(s.first), fmt.Sprint(s.last))
		default:
			list = append(list, fmt.Sprintf("%d to %d", s.first, s.last))
		}
	}
	return list
}

// appendKind appends the kind of fault of a message: the message without quoted texts and numbers.
func appendKind(kind []byte, message string) []byte {
	for i := 0; i < len(message); i++ {
		switch c := message[i]; {
		case c == '"':
			kind = append(kind, '"', '"')
			for i++; i < len(message) && message[i] != '"'; i++ {
				if message[i] == '\\' {
					i++
				}
			}
		case '0' <= c && c <= '9':
			if n := len(kind); n == 0 || kind[n-1] != '0' {
				kind = append(kind, '0')
			}
		default:
			kind = append(kind, c)
		}
	}
	return kind
}
