// Package fields takes lines apart: into fields that white space separates, as in the formats of TREC, into the members
// of a JSON object, and into the records of a csv file. What it says about a line that it can't take apart becomes a
// diagnostic. A line without a fault costs next to no allocation, as runs have millions of them.
package fields

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"assay/shared/lists"
)

// space marks what separates fields: C's isspace, as in trec_eval.
var space = [256]bool{' ': true, '\t': true, '\v': true, '\f': true, '\r': true}

// Split puts the fields of a line into out and returns how many there are, at most one more than out holds.
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

// CountFault says that Split found n fields in a line instead of as many as there are parts, and what may be the cause.
func CountFault(line []byte, parts [][]byte, n int, layout string) string {
	fault := fmt.Sprintf("the line has only %d of %d fields: ", n, len(parts))
	cause := ""
	if n > len(parts) {
		fault = fmt.Sprintf("the line has more than %d fields: ", len(parts))
	}
	isRun := n > 1 && bytes.EqualFold(parts[1], []byte("Q0"))
	if i := bytes.IndexFunc(line, func(r rune) bool { return r > unicode.MaxASCII && unicode.IsSpace(r) }); i >= 0 {
		r, _ := utf8.DecodeRune(line[i:])
		cause = fmt.Sprintf("; %U, which is a no-break space or another one that is not ASCII, separates no fields: write a space or a tab", r)
	} else if n == 1 && bytes.Count(line, []byte{','}) > 1 {
		cause = "; it looks like CSV or JSON lines: separate the fields by spaces or tabs, or convert it (POST /v1/tools/converter)"
	} else if _, grade := ParseGrade(parts[min(n, len(parts))-1]); n == 4 && n < len(parts) && grade && !isRun {
		cause = "; it looks like one of qrels, which are ground truth and not a run"
	} else if n > 4 && len(parts) == 4 && isRun {
		cause = "; it looks like one of a run, which is not ground truth"
	}
	return fault + layout + cause
}

// MaxGrade bounds grades on both sides.
const MaxGrade = math.MaxInt16

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

// GradeFault says why a text is no grade.
func GradeFault(text []byte) string {
	return fmt.Sprintf("the grade %s is not a whole number from %d to %d", Quote(text), -MaxGrade, MaxGrade)
}

// IsComment reports whether a line of one of TREC's formats is a comment, by its first field: whether that begins with #, as in
// trec_eval 10. The id of a topic cannot begin so.
func IsComment(first []byte) bool { return first[0] == '#' }

// CommentedTopic is the warning about a comment that has all fields of a line that counts.
func CommentedTopic(topic []byte) string {
	return fmt.Sprintf("the line begins with # and is a comment, as in trec_eval 10, though it has the fields of a line; if %s is a topic, "+
		"change its id so that it does not begin with #, in all files", Quote(topic))
}

// ScoreFault says why a text is no score; where says which field is one, for a text that may be another.
func ScoreFault(text []byte, where string) string {
	x, err := strconv.ParseFloat(string(text), 64)
	switch {
	case math.IsNaN(x), math.IsInf(x, 0):
		return "the score " + Quote(text) + " is not a finite number"
	case err == nil:
		return "the score " + Quote(text) + " is not a decimal number; write it like 12.5 or 1.25e1"
	}
	return "the score " + Quote(text) + " is not a number; " + where
}

// Few is how many texts JoinFirst quotes.
const Few = 5

// JoinFirst quotes the first few of n texts, which the list has, and counts the others.
func JoinFirst(list []string, n int) string {
	all := strings.Join(lists.Map(list[:min(len(list), Few)], func(text string) string { return Quote([]byte(text)) }), ", ")
	if n > Few {
		all += fmt.Sprintf(" and %d more", n-Few)
	}
	return all
}

// quoted is how many bytes of a field a person wants to read.
const quoted = 60

// Quote puts a field between quotes, shortened to what a person wants to read.
func Quote(text []byte) string {
	if len(text) > quoted {
		return strconv.Quote(strings.ToValidUTF8(string(text[:quoted]), "")) + "..."
	}
	return strconv.Quote(string(text))
}
