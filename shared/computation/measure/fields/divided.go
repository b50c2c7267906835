package fields

import (
	"bytes"
	"fmt"
	"math"
	"unicode"

	"assay/shared/computation/measure/lines"
)

// Numbers says what the fourth field probably is in a run whose lines have only five fields.
type Numbers int

// The numbers of lines that lack a field.
const (
	OtherNumbers  Numbers = iota // scores, or no numbers
	Ranks                        // whole numbers that count the lines of each topic, from 0 or 1
	RanksOrScores                // 0 or 1, with one line for each topic
)

// missing is the clause about the field that lines with such numbers lack. It begins with a semicolon.
var missing = map[Numbers]string{
	OtherNumbers: "; the rank seems to be missing: write it before the score",
	Ranks: "; the score seems to be missing, since the fourth fields count the lines of each topic as ranks do: write a score that falls " +
		"with the rank between rank and tag, as awk '{print $1, $2, $3, $4, -$4, $5}' does",
	RanksOrScores: "; the rank or the score seems to be missing: the fourth field is the rank, and the fifth is the score",
}

// NumbersOf says what the fourth field probably is, by the first whole lines of a run.
func NumbersOf(head []byte) Numbers {
	const perLine = 5
	var parts [perLine][]byte
	var topic []byte
	last := 0.0
	pairs := 0
	for line := range bytes.Lines(lines.FirstLines(head)) {
		n := Split(bytes.TrimRight(line, "\r\n"), parts[:])
		if n == 0 || IsComment(parts[0]) {
			continue
		}
		number, ok := ParseScore(parts[min(3, n-1)])
		if n != perLine || !ok || number != math.Trunc(number) {
			return OtherNumbers
		}
		follows := topic != nil && bytes.Equal(parts[0], topic)
		if follows && number != last+1 || !follows && number != 0 && number != 1 {
			return OtherNumbers
		}
		if follows {
			pairs++
		}
		topic = parts[0]
		last = number
	}
	switch {
	case pairs > 0:
		return Ranks
	case topic != nil:
		return RanksOrScores
	}
	return OtherNumbers
}

// spacedID says that the id of a document seems to have a space in it.
func spacedID(words [][]byte) string {
	return fmt.Sprintf("the id of the document seems to have a space in it (%s): ids have none, so replace it wherever the id stands",
		Quote(bytes.Join(words, []byte{' '})))
}

// spacedFields is the largest number of fields of a line of relevance judgments in which an id with spaces is recognized.
const spacedFields = 24

// tooManyInQrels returns the likely cause of a line of relevance judgments that has more than four fields and ends with a grade, or "".
func tooManyInQrels(line []byte) string {
	var memory [spacedFields][]byte
	n := Split(line, memory[:])
	if n > len(memory) {
		return ""
	}
	parts := withoutQuotes(memory[:n])
	if _, graded := ParseGrade(parts[n-1]); !graded {
		return ""
	}
	// Nearly all judgments have the iteration 0. Other iterations and most subtopics are numbers.
	isIteration := func(field []byte) bool { return string(field) == "0" || IsQ0(field) }
	isWord := bytes.ContainsFunc(parts[2], unicode.IsLetter) && !IsQ0(parts[2])
	_, document := ParseScore(parts[3])
	switch {
	case isIteration(parts[1]) && !isIteration(parts[2]), isWord:
		return spacedID(parts[2 : n-1])
	case n == 5 && !document:
		return fieldTooMany
	}
	return ""
}
