// Package mismatch finds the likely cause of ids and labels that have no counterpart: the same text, written otherwise. They are
// compared byte by byte, so 1 is not 1.0, and a blank that nobody sees makes another id.
package mismatch

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"assay/shared/measure/fields"
	"assay/shared/measure/steps"

	"golang.org/x/text/unicode/norm"
)

// maxUnknown bounds the unknown texts that a Cause looks at.
const maxUnknown = 100

const none = -1

// perText is how many steps a known text takes.
const perText = 200

// differences are the ways in which two spellings of one text differ, with what makes them the same, in the order in which they
// are undone.
var differences = []struct {
	name string
	undo func(string) string
}{
	{"blanks before or after it", func(s string) string {
		return strings.TrimFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) })
	}},
	{"the Unicode form of its characters", norm.NFKC.String},
	{"the way in which a number is written", number},
	{"upper and lower case", strings.ToLower},
}

// number is the shortest decimal of a number that a float64 holds exactly; any other text stays as it is.
func number(s string) string {
	const exact = 15 // digits
	if x, ok := fields.ParseScore([]byte(s)); ok && len(s) <= exact {
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	return s
}

// normalize undoes the differences, save the one of that index.
func normalize(s string, save int) string {
	for i, d := range differences {
		if i != save {
			s = d.undo(s)
		}
	}
	return s
}

// differenceOf names what two spellings of one text differ in.
func differenceOf(a, b string) string {
	var needed []string
	for i, d := range differences {
		if d.undo(a) == d.undo(b) {
			return d.name
		}
		if normalize(a, i) != normalize(b, i) {
			needed = append(needed, d.name)
		}
	}
	return strings.Join(needed, " and ")
}

// Explain returns a clause for a diagnostic, which begins with a semicolon, about the first unknown text that is another spelling of a
// known one, the least of those; empty when there is none. The order of the known texts has no part in it. The clause is of no use if the
// counter has an error.
func Explain(counter *steps.Counter, unknown []string, known iter.Seq[string]) string {
	unknown = unknown[:min(len(unknown), maxUnknown)]
	if len(unknown) == 0 {
		return ""
	}
	first := map[string]int{}
	for i, u := range slices.Backward(unknown) {
		first[normalize(u, none)] = i
	}
	best, meant := len(unknown), ""
	for k := range known {
		if counter.Add(perText) != nil {
			break
		}
		if i, ok := first[normalize(k, none)]; ok && unknown[i] != k && (i < best || i == best && k < meant) {
			best, meant = i, k
		}
	}
	if best == len(unknown) {
		return ""
	}
	return fmt.Sprintf("; the likely cause: %s differs from %s in %s alone, and both are compared byte by byte",
		fields.Quote([]byte(unknown[best])), fields.Quote([]byte(meant)), differenceOf(unknown[best], meant))
}
