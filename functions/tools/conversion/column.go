package conversion

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"assay/shared/measure/fields"
)

// column is one value of a line.
type column struct {
	name      string // in jsonl and csv
	values    domain
	otherwise string // stands for it where it is left out; empty when it may not be
}

// domain says what values a column has.
type domain int

const (
	id domain = iota
	rank
	score
	grade
)

// jsonKinds are the kinds of JSON values that stand for those of a domain.
var jsonKinds = [...][]string{id: {"string", "number"}, rank: {"string", "number"}, score: {"number"}, grade: {"number"}}

// kind is what a file holds.
type kind struct {
	name    string
	columns []column
	trec    []int  // the columns in the order of the TREC format; constant is Q0
	layout  string // of the same, for people
	beir    []int  // those of the BEIR format, in its order
}

const constant = -1

var (
	runs = kind{
		name: "runs",
		columns: []column{
			{name: "topic"}, {name: "docid"}, {name: "rank", values: rank}, {name: "score", values: score},
			{name: "tag", otherwise: "run"},
		},
		trec:   []int{0, constant, 1, 2, 3, 4},
		layout: "topic, Q0, docid, rank, score and tag",
	}
	qrels = kind{
		name: "relevance judgments",
		columns: []column{
			{name: "topic"}, {name: "iteration", otherwise: "0"}, {name: "docid"},
			{name: "grade", values: grade},
		},
		trec:   []int{0, 1, 2, 3},
		layout: "topic, iteration, docid and grade",
		beir:   []int{0, 2, 3},
	}
)

// matches reports whether the fields of a line in the TREC format are values of their columns.
func (k *kind) matches(parts [][]byte) bool {
	for i, column := range k.trec {
		if column != constant && k.columns[column].fault(parts[i]) != "" {
			return false
		}
	}
	return true
}

// required names the columns that no file may leave out.
func (k *kind) required() (names []string) {
	for _, c := range k.columns {
		if c.otherwise == "" {
			names = append(names, c.name)
		}
	}
	return names
}

// beirHeader is the first line of relevance judgments in the BEIR format.
var beirHeader = []string{"query-id", "corpus-id", "score"}

const (
	topic     = 0 // the column of topics
	iteration = 1 // the column of relevance judgments that the BEIR format does not have
)

// fault says what is wrong with a value of the column; empty when nothing is.
func (c *column) fault(text []byte) string {
	switch {
	case len(text) == 0:
		return fmt.Sprintf("the %s is empty; expected a value", c.name)
	case c.values == score:
		if _, ok := fields.ParseScore(text); !ok {
			return fields.ScoreFault(text, "write it like 12.5 or 1.25e1")
		}
	case c.values == grade:
		if _, ok := fields.ParseGrade(text); !ok {
			return fields.GradeFault(text)
		}
	case bytes.ContainsAny(text, " \t\n\v\f\r"):
		return fmt.Sprintf("the %s %s has white space, which the formats of TREC cannot hold; replace it by another character", c.name,
			fields.Quote(text))
	}
	return ""
}

// appendJSON appends a sound value of the column as JSON has it: a number keeps its text where that is a number of JSON
// as well, which +1, 01, .5 and 1. are not. A rank that is no number is a string.
func (c *column) appendJSON(line, text []byte) []byte {
	x, number := 0.0, false
	if c.values != id {
		x, number = fields.ParseScore(text)
	}
	switch {
	case !number:
		return appendString(line, text)
	case json.Valid(text):
		return append(line, text...)
	}
	return strconv.AppendFloat(line, x, 'g', -1, 64)
}

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
