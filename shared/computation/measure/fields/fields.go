// Package fields parses lines: into fields that white space separates, as in TREC's formats, into the members of a JSON object, and into
// the records of a csv file. Its faults are texts for diagnostics. Parsing a line without a fault hardly allocates, because runs have
// millions of lines.
package fields

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"assay/shared/computation/measure/bounds"
	"assay/shared/language/lists"
)

// space marks the bytes that separate fields: C's isspace, as in trec_eval.
var space = [256]bool{' ': true, '\t': true, '\v': true, '\f': true, '\r': true}

// Split writes the fields of a line to out and returns their number. If there are more than out holds, it returns len(out) + 1.
func Split(line []byte, out [][]byte) int {
	n, i := 0, 0
	for {
		for i < len(line) && space[line[i]] {
			i++
		}
		if i == len(line) {
			return n
		}
		if n == len(out) {
			return n + 1
		}
		start := i
		for i < len(line) && !space[line[i]] {
			i++
		}
		out[n] = line[start:i]
		n++
	}
}

// CountFault says that Split found n fields in a line instead of len(parts), and names the likely cause. layout lists the expected fields.
// numbers are the NumbersOf the file if it is a run.
func CountFault(line []byte, parts [][]byte, n int, layout string, numbers Numbers) string {
	if IsPrintedTable(line) || IsPrintedHeader(line) {
		return PrintedTable
	}
	if isConflictMark(line) {
		return conflict
	}
	if fault := otherNotation(parts[0], layout); fault != "" {
		return fault
	}
	fault := fmt.Sprintf(countedFields+"only %d of %d fields: ", n, len(parts))
	if n > len(parts) {
		fault = fmt.Sprintf(countedFields+"more than %d fields: ", len(parts))
	}
	return fault + layout + causeOfCount(line, parts, n, layout, numbers)
}

// causeOfCount names the likely cause of a wrong number of fields, in a clause that begins with a semicolon, or returns "".
func causeOfCount(line []byte, parts [][]byte, n int, layout string, numbers Numbers) string {
	isRun := n > 1 && IsQ0(parts[1])
	_, graded := ParseGrade(parts[min(n, len(parts))-1])
	other := bytes.IndexFunc(line, func(r rune) bool { return r > unicode.MaxASCII && unicode.IsSpace(r) })
	switch {
	case other >= 0:
		r, _ := utf8.DecodeRune(line[other:])
		return fmt.Sprintf("; %U, which is a no-break space or another one that is not ASCII, separates no fields: write a space or a tab", r)
	case n < len(parts) && bytes.Contains(line, []byte(`\t`)):
		return "; it has tabs as two characters, a backslash and a t: write tabs, as printf does"
	case n == 1:
		return causeOfOne(line)
	case n == 4 && n < len(parts) && graded && !isRun:
		return "; it looks like one of qrels, which are ground truth and not a run"
	case n == len(parts)-1:
		return missingField(parts, layout, numbers)
	case n > 4 && len(parts) == 4 && isRun:
		return "; it looks like one of a run, which is not ground truth"
	case n > 4 && len(parts) == 4:
		if cause := tooManyInQrels(line); cause != "" {
			return "; " + cause
		}
	}
	return ""
}

// causeOfOne names the likely cause why a line has only one field, in a clause that begins with a semicolon. It begins with a comma if the
// file may have another format, and is empty if nothing divides the field.
func causeOfOne(line []byte) string {
	commas := bytes.Count(line, []byte{','})
	semicolons := bytes.Count(line, []byte{';'})
	switch {
	case max(commas, semicolons) > 1:
		return "; it looks like CSV or JSON: convert it to the format of TREC, with spaces or tabs between the fields"
	case commas+semicolons > 0: // a topic and a document, or an id and a label
		return ", with spaces or tabs between them, and neither commas nor semicolons"
	}
	return ""
}

// MaxGrade is the greatest grade. The least is -MaxGrade.
const MaxGrade = bounds.Grade

// ParseGrade reads a whole number from -MaxGrade to MaxGrade, which may be written as a decimal such as 1.0.
func ParseGrade(text []byte) (int16, bool) {
	grade, err := strconv.ParseInt(string(text), 10, 16)
	if err != nil {
		x, ok := ParseScore(text)
		if !ok || x != math.Trunc(x) || math.Abs(x) > MaxGrade {
			return 0, false
		}
		grade = int64(x)
	}
	return int16(grade), grade >= -MaxGrade
}

// GradeFault says why a text is not a grade.
func GradeFault(text []byte) string {
	return fmt.Sprintf("the grade %s is not a whole number from %d to %d%s", Quote(text), -MaxGrade, MaxGrade, NumberHint(text))
}

// IsComment reports whether a line of one of TREC's formats is a comment. The first field of a comment begins with #, as in trec_eval 10.
// So the id of a topic cannot begin with #.
func IsComment(first []byte) bool { return first[0] == '#' }

// CommentedTopic returns the warning about a comment that has all fields of a line.
func CommentedTopic(topic []byte) string {
	return fmt.Sprintf("the line begins with # and is a comment, as in trec_eval 10, though it has the fields of a line; if %s is a topic, "+
		"change its id so that it does not begin with #, in all files", Quote(topic))
}

// ScoreFault says why a text is not a score. where says which field is the score; the message ends with it if the text may be another
// field.
func ScoreFault(text []byte, where string) string {
	x, err := strconv.ParseFloat(string(text), 64)
	switch {
	case math.IsNaN(x), math.IsInf(x, 0):
		return "the score " + Quote(text) + " is not a finite number; write one such as 12.5, or leave the line out"
	case err == nil:
		return "the score " + Quote(text) + " is not a decimal number; write it like 12.5 or 1.25e1"
	}
	return "the score " + Quote(text) + " is not a number; " + where + NumberHint(text)
}

// OtherSpelling returns a clause for a diagnostic about a missing field, which begins with a semicolon, if one of the names is its name
// with other capitals or blanks, or "".
func OtherSpelling(names []string, field string) string {
	for _, name := range names {
		if name != field && strings.EqualFold(strings.TrimSpace(name), strings.TrimSpace(field)) {
			return fmt.Sprintf("; %s is not %q, because names are compared byte by byte: rename it", Quote([]byte(name)), field)
		}
	}
	return ""
}

// NumberHint returns a clause for a diagnostic about a text that is a number with another minus, with a comma for the point, with commas
// between thousands, or a percentage, or "". A text that Quote would shorten has no such clause.
func NumberHint(text []byte) string {
	if len(text) > quoted {
		return ""
	}
	if minus, size := utf8.DecodeRune(text); strings.ContainsRune(minuses, minus) {
		healed := append([]byte{'-'}, text[size:]...)
		if _, ok := ParseScore(healed); ok {
			return fmt.Sprintf("; its minus is the character %U: write %s", minus, healed)
		}
	}
	if thousands.Match(text) {
		return fmt.Sprintf("; numbers have nothing between thousands: write %s", bytes.ReplaceAll(text, []byte{','}, nil))
	}
	if IsPercentage(text) {
		return "; leave out % and divide by 100"
	}
	if bytes.Count(text, []byte{','}) != 1 || bytes.HasSuffix(text, []byte{','}) {
		return ""
	}
	pointed := bytes.Replace(text, []byte{','}, []byte{'.'}, 1)
	if _, ok := ParseScore(pointed); !ok {
		return ""
	}
	return fmt.Sprintf("; numbers have a point and no comma: write %s", pointed)
}

// IsPercentage reports whether a text is a number with a sign of percent after it.
func IsPercentage(text []byte) bool {
	number, signed := bytes.CutSuffix(text, []byte{'%'})
	_, ok := ParseScore(bytes.TrimRight(number, " "))
	return signed && ok
}

// minuses are the characters that word processors and programs write for a minus: the minus, hyphens and dashes.
const minuses = "\u2212\u2010\u2011\u2012\u2013\u2014\ufe63\uff0d"

// thousands matches a number with commas between thousands, which has a point or several commas.
var thousands = regexp.MustCompile(`^[-+]?\d{1,3}((,\d{3})+\.\d*|(,\d{3}){2,})$`)

// Few is the number of texts that JoinFirst quotes.
const Few = 5

// JoinFirst quotes the first Few of n texts and counts the others. The list needs only the first Few texts.
func JoinFirst(list []string, n int) string {
	all := strings.Join(lists.Map(list[:min(len(list), Few)], func(text string) string { return Quote([]byte(text)) }), ", ")
	if n > Few {
		all += fmt.Sprintf(" and %d more", n-Few)
	}
	return all
}

// quoted is the number of bytes of a field that messages quote.
const quoted = 60

// Quote quotes the first bytes of a field for a message.
func Quote(text []byte) string {
	if len(text) > quoted {
		return strconv.Quote(strings.ToValidUTF8(string(text[:quoted]), "")) + "..."
	}
	return strconv.Quote(string(text))
}
