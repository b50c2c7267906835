package conversion

import (
	"bytes"
	"fmt"
	"math"
	"strconv"

	"assay/shared/measure/fields"
)

// column is one value of a line.
type column struct {
	name      string // in jsonl and csv
	values    domain
	min, max  int64  // of whole numbers
	otherwise string // stands for it where it is left out; empty when it may not be
}

// domain says what values a column has.
type domain int

const (
	id domain = iota
	whole
	decimal
)

// kind is what a file holds.
type kind struct {
	name    string
	columns []column
	trec    []int // the columns in the order of the TREC format; constant is Q0
	beir    []int // those of the BEIR format, in its order
}

const constant = -1

var (
	runs = kind{
		name: "runs",
		columns: []column{
			{name: "topic"}, {name: "docid"}, {name: "rank", values: whole, max: math.MaxInt32}, {name: "score", values: decimal},
			{name: "tag", otherwise: "run"},
		},
		trec: []int{0, constant, 1, 2, 3, 4},
	}
	qrels = kind{
		name: "relevance judgements",
		columns: []column{
			{name: "topic"}, {name: "iteration", otherwise: "0"}, {name: "docid"},
			{name: "grade", values: whole, min: -math.MaxInt16, max: math.MaxInt16},
		},
		trec: []int{0, 1, 2, 3},
		beir: []int{0, 2, 3},
	}
)

// beirHeader is the first line of relevance judgements in the BEIR format.
var beirHeader = []string{"query-id", "corpus-id", "score"}

// iteration is the column of relevance judgements that the BEIR format does not have.
const iteration = 1

// fault says what is wrong with a value of the column; empty when nothing is.
func (c *column) fault(text []byte) string {
	switch {
	case len(text) == 0:
		return fmt.Sprintf("the %s is empty; expected a value", c.name)
	case c.values == decimal:
		if _, ok := fields.ParseScore(text); !ok {
			return fields.ScoreFault(text, "write it like 12.5 or 1.25e1")
		}
	case c.values == whole:
		if n, ok := integer(text); !ok || n < c.min || n > c.max {
			return fmt.Sprintf("the %s %s is not a whole number from %d to %d", c.name, fields.Quote(text), c.min, c.max)
		}
	case bytes.ContainsAny(text, " \t\n\v\f\r"):
		return fmt.Sprintf("the %s %s has white space, which the formats of TREC cannot hold; replace it by another character", c.name, fields.Quote(text))
	}
	return ""
}

// integer reads a whole number of at most ten digits; more would be no rank and no grade.
func integer(text []byte) (int64, bool) {
	digits, negative := text, false
	if len(digits) > 0 && (digits[0] == '-' || digits[0] == '+') {
		negative, digits = digits[0] == '-', digits[1:]
	}
	if len(digits) == 0 || len(digits) > 10 {
		return 0, false
	}
	n := int64(0)
	for _, d := range digits {
		if d < '0' || d > '9' {
			return 0, false
		}
		n = 10*n + int64(d-'0')
	}
	if negative {
		n = -n
	}
	return n, true
}

// appendJSON appends a sound value of the column as JSON has it: a number keeps its text where that is a number of JSON
// as well, which +1, 01, .5 and 1. are not.
func (c *column) appendJSON(line, text []byte) []byte {
	switch {
	case c.values == id:
		return appendString(line, text)
	case jsonNumber(text):
		return append(line, text...)
	case c.values == whole:
		n, _ := integer(text)
		return strconv.AppendInt(line, n, 10)
	}
	x, _ := fields.ParseScore(text)
	return strconv.AppendFloat(line, x, 'g', -1, 64)
}

// jsonNumber says whether a decimal number is one of JSON: neither a plus nor superfluous zeros before it, and digits on
// both sides of the point.
func jsonNumber(text []byte) bool {
	if text[0] == '-' {
		text = text[1:]
	}
	if text[0] < '0' || text[0] > '9' || text[0] == '0' && len(text) > 1 && text[1] >= '0' && text[1] <= '9' {
		return false
	}
	point := bytes.IndexByte(text, '.')
	return point < 0 || point+1 < len(text) && text[point+1] >= '0' && text[point+1] <= '9'
}

// appendString appends a string of JSON.
func appendString(line, text []byte) []byte {
	const digits = "0123456789abcdef"
	line = append(line, '"')
	from := 0
	for i, c := range text {
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		line = append(line, text[from:i]...)
		if from = i + 1; c < ' ' {
			line = append(line, `\u00`...)
			line = append(line, digits[c>>4], digits[c&15])
		} else {
			line = append(line, '\\', c)
		}
	}
	return append(append(line, text[from:]...), '"')
}
