// Package mismatch explains ids and labels without a counterpart: the counterpart is often the same text in another spelling. Ids and
// labels are compared byte by byte, so 1 differs from 1.0, and an invisible blank makes a different id.
package mismatch

import (
	"bytes"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"assay/shared/computation/measure/fields"
	"assay/shared/computation/measure/steps"

	"golang.org/x/text/unicode/norm"
)

// maxUnknown bounds the unknown texts that Explain looks at.
const maxUnknown = 100

const none = -1

// perText is the number of steps for a known text.
const perText = 200

// differences lists how two spellings of one text may differ. undo maps both spellings to the same text. normalize calls them in order.
var differences = []struct {
	name string
	undo func(string) string
}{
	{"blanks before or after it", func(s string) string {
		return strings.TrimFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) })
	}},
	{"the Unicode form of its characters", norm.NFKC.String},
	{"how a number is written", number},
	{"upper and lower case", strings.ToLower},
}

// forms lists the Unicode forms.
var forms = []struct {
	norm.Form
	name string
}{{norm.NFC, "NFC"}, {norm.NFD, "NFD"}, {norm.NFKC, "NFKC"}, {norm.NFKD, "NFKD"}}

// OtherForm returns the first other Unicode form of a text that is known, such as the composed form of a text with combining characters.
// It returns nil if no other form is known.
func OtherForm(text []byte, known func([]byte) bool) []byte {
	if IsASCII(text) {
		return nil
	}
	for _, form := range forms {
		if other := form.Bytes(text); !bytes.Equal(other, text) && known(other) {
			return other
		}
	}
	return nil
}

// IsASCII reports whether a text has only characters of ASCII, which have no other Unicode form.
func IsASCII(text []byte) bool {
	for _, b := range text {
		if b >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// number returns the shortest decimal of a number that a float64 holds exactly. It returns any other text unchanged.
func number(s string) string {
	const exact = 15 // digits
	if x, ok := fields.ParseScore([]byte(s)); ok && len(s) <= exact {
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	return s
}

// normalize undoes all differences except the one with the index save.
func normalize(s string, save int) string {
	for i, d := range differences {
		if i != save {
			s = d.undo(s)
		}
	}
	return s
}

// differenceOf names the differences of two spellings of one text.
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

// Explain looks for the first unknown text that is another spelling of a known text. It returns a clause for a diagnostic, which begins
// with a semicolon, or "" if it finds none. If several known texts match, the clause names the least, so the order of the known texts does
// not matter. The clause is invalid if the counter has an error.
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
	return fmt.Sprintf("; the likely cause: %s differs from %s only in %s, and both are compared byte by byte%s",
		fields.Quote([]byte(unknown[best])), fields.Quote([]byte(meant)), differenceOf(unknown[best], meant), formOf(unknown[best], meant))
}

// formOf returns how to write a text that equals the meant text in the Unicode form of the latter, as a clause that begins with a colon.
// It returns "" if no form makes them equal.
func formOf(text, meant string) string {
	for _, form := range forms {
		if form.String(text) == meant {
			return fmt.Sprintf(": write it in the form %s, as unicodedata.normalize(%[1]q, ...) of Python does", form.name)
		}
	}
	return ""
}
