package record

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"assay/shared/language/problem"
)

// URLPattern is a regular expression for links that pages show. A link must not contain a user name or password, which everyone could
// read.
const URLPattern = `^https?://([0-9A-Za-z._~-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]+)?([/?#]([!#$&-;=?-Z_a-z~]|%[0-9A-Fa-f]{2})*)?$`

// checkName reports the errors of a one-line text that must not be blank.
func checkName(pointer, s string) (fields problem.Fields) {
	if strings.ContainsFunc(s, isVisible) {
		return CheckLine(pointer, s)
	}
	fields.Add(pointer, "must have at least one visible character")
	return fields
}

// isVisible reports whether a character is visible on its own. Some characters that Unicode does not class as spaces are blank: U+3164
// replaces a missing Hangul letter, and U+2800 is the Braille pattern without dots.
func isVisible(r rune) bool {
	return unicode.IsGraphic(r) && r != '\u2800' && !unicode.In(r, unicode.White_Space, unicode.M, unicode.Other_Default_Ignorable_Code_Point)
}

// maxMarks is how many combining marks may follow one another. Scripts need half as many. A hundred would cover the neighboring lines.
const maxMarks = 8

// lineChecker finds forbidden characters in one line. It must get the characters in order, because it counts consecutive combining marks.
type lineChecker struct{ marks int }

// forbids reports whether the next character is forbidden.
func (l *lineChecker) forbids(r rune) bool {
	if unicode.In(r, unicode.Mn, unicode.Me) {
		l.marks++
	} else {
		l.marks = 0
	}
	return l.marks > maxMarks || unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || isFormatting(r)
}

// CheckLine reports the errors of a one-line text.
func CheckLine(pointer, s string) (fields problem.Fields) {
	fields.AddIf(!utf8.ValidString(s) || strings.ContainsFunc(s, new(lineChecker).forbids), pointer,
		"must be one line of text without control and format characters, such as those that turn the direction of text, and with at most %d "+
			"combining marks in a row", maxMarks)
	return fields
}

// maxLine is the greatest length of Line's result, in characters.
const maxLine = 200

// Line removes forbidden characters from a one-line text that its author cannot be asked to correct, such as a name from an issuer. It
// returns "" if nothing visible remains.
func Line(s string) string {
	var checker lineChecker
	line := strings.Map(func(r rune) rune {
		if checker.forbids(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
	if !strings.ContainsFunc(line, isVisible) {
		return ""
	}
	return string([]rune(line)[:min(utf8.RuneCountInString(line), maxLine)])
}

// isFormatting reports whether a character is invisible and changes how other characters are shown. For example, U+202E reverses the
// letters of "exe.txt". The joiners, which several scripts and emoji need, and the marks that enclose numbers do not count.
func isFormatting(r rune) bool {
	const nonJoiner, joiner = '\u200c', '\u200d'
	return unicode.Is(unicode.Cf, r) && r != nonJoiner && r != joiner && !unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

// overridesDirection reports whether a character forces the direction of the characters after it.
func overridesDirection(r rune) bool { return r >= '\u202a' && r <= '\u202e' }

// forbiddenInText reports whether a character is forbidden in a text of several lines.
func forbiddenInText(r rune) bool {
	return unicode.IsControl(r) && !strings.ContainsRune("\t\n\r", r) || overridesDirection(r)
}

// Text replaces forbidden characters in a text of several lines that its author cannot be asked to correct, such as a program's output.
func Text(s string) string {
	return strings.Map(func(r rune) rune {
		if forbiddenInText(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}

// MaxTextBytes is the greatest length of a text of several lines, in bytes. The schemas limit its characters.
const MaxTextBytes = 64 << 10

// checkText reports the errors of a text of several lines.
func checkText(pointer, s string) (fields problem.Fields) {
	fields.AddIf(len(s) > MaxTextBytes, pointer, "has %s; at most %s are allowed", problem.Size(len(s)), problem.Size(MaxTextBytes))
	fields.AddIf(len(s) <= MaxTextBytes && strings.ContainsFunc(s, forbiddenInText), pointer,
		"must be text without control characters other than tabs and ends of lines, and without U+202A to U+202E, which override the direction "+
			"of text")
	return fields
}

// checkDistinct reports the elements of the array at the pointer that repeat an earlier element.
func checkDistinct[T comparable](pointer string, all []T) (fields problem.Fields) {
	for i, v := range all {
		fields.AddIf(slices.Contains(all[:i], v), fmt.Sprintf("%s/%d", pointer, i), "is named twice")
	}
	return fields
}
