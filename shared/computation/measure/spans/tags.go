package spans

import (
	"fmt"
	"strings"
)

// prefix is an index in prefixes. L of BILOU equals E of IOBES, and U equals S.
type prefix uint8

const prefixes = "OBIES"

var prefixOf = map[byte]prefix{'O': 0, 'B': 1, 'I': 2, 'E': 3, 'S': 4, 'L': 3, 'U': 4}

// tag is the tag of a token.
type tag struct {
	prefix  prefix
	written byte  // the prefix in the file
	kind    int32 // the code of the type
}

// untyped is the type of tags and spans without a type.
const untyped = "_"

// parseTag splits a tag into its prefix and its type.
func parseTag(text []byte) (written byte, kind []byte, ok bool) {
	if len(text) == 0 || prefixOf[text[0]] == 0 && text[0] != 'O' {
		return 0, nil, false
	}
	written, kind = text[0], text[1:]
	switch {
	case len(kind) == 0:
		return written, []byte(untyped), true
	case written == 'O' || kind[0] != '-' || len(kind) == 1:
		return 0, nil, false
	}
	return written, kind[1:], true
}

// The effects of the step from one tag to the next.
const (
	starts = 1 << iota
	continues
	ends
)

// scheme is a way of writing spans as tags.
type scheme struct {
	name    string
	allowed string                                 // the prefixes that tags may have
	steps   [len(prefixes)][len(prefixes)][2]uint8 // effects, by the prefixes before and after, and whether the types are equal
}

// newScheme returns a scheme. The last three arguments list the steps that start, continue and end spans. A step is written as the prefix
// before and the prefix after; a point stands for any prefix. An = after them requires equal types, and a ! different types.
func newScheme(name, allowed, starting, continuing, ending string) *scheme {
	s := &scheme{name: name, allowed: allowed}
	for does, list := range map[uint8]string{starts: starting, continues: continuing, ends: ending} {
		for _, step := range strings.Fields(list) {
			for before := range prefixes {
				for after := range prefixes {
					if step[0] != '.' && step[0] != prefixes[before] || step[1] != '.' && step[1] != prefixes[after] {
						continue
					}
					for same := range 2 {
						if len(step) == 2 || (step[2] == '=') == (same == 1) {
							s.steps[before][after][same] |= does
						}
					}
				}
			}
		}
	}
	return s
}

const (
	blockStarts    = ".B .S"
	blockContinues = "BI= BE= II= IE="
	blockEnds      = "S. E."
)

// schemes maps values of the parameter scheme to schemes. They have the steps of seqeval's strict mode. The empty value has the steps of
// its default mode.
var schemes = map[string]*scheme{
	"":      newScheme("", "OBIESLU", ".B .I .E .S", blockContinues, ".."),
	"IOB1":  newScheme("IOB1", "IOB", "OI II! BI IB= BB=", "BI= II=", "II! IO IB BO BI! BB="),
	"IOB2":  newScheme("IOB2", "IOB", ".B", "BI= II=", "IO II! IB BO BI! BB"),
	"IOE2":  newScheme("IOE2", "IOE", "OI OE EI EE II! IE!", "IE= II=", "E."),
	"IOBES": newScheme("IOBES", "IOBES", blockStarts, blockContinues, blockEnds),
	"BILOU": newScheme("BILOU", "BILOU", blockStarts, blockContinues, blockEnds),
}

// fault says why a tag does not belong to the scheme. It returns "" for a tag that does.
func (s *scheme) fault(t tag) string {
	if strings.IndexByte(s.allowed, t.written) >= 0 {
		return ""
	}
	return fmt.Sprintf("the prefix %c is none of the scheme %s, which a measure names; expected one of %s", t.written, s.name,
		strings.Join(strings.Split(s.allowed, ""), ", "))
}

// step returns the effects of the step from one tag to the next.
func (s *scheme) step(from, to tag) uint8 {
	same := 0
	if from.kind == to.kind {
		same = 1
	}
	return s.steps[from.prefix][to.prefix][same]
}

// appendSpans appends the spans of a sentence. A span begins at a step that starts one, and goes on while steps continue it. It counts only
// if the step after it ends it.
func (s *scheme) appendSpans(list []span, sentence []uint16, tags []tag) []span {
	before := tags[outside]
	for i := 0; i < len(sentence); {
		first := tags[sentence[i]]
		if s.step(before, first)&starts == 0 {
			before = first
			i++
			continue
		}
		last := first
		next := tags[outside]
		end := i + 1
		for ; end < len(sentence); end++ {
			next = tags[sentence[end]]
			if s.step(last, next)&continues == 0 {
				break
			}
			last, next = next, tags[outside]
		}
		if s.step(last, next)&ends != 0 {
			list = append(list, span{first.kind, int32(i), int32(end)})
		}
		before, i = last, end
	}
	return list
}

// outside is the code of the tag O.
const outside = 0
