// Package predictions reads what classification and regression compare: files that give each example's id one value,
// a label or a number. It joins a run to the truth by id, never by row, so that the order of lines says nothing, and
// every example of the truth has exactly one prediction or the run is refused.
//
// # Formats
//
// jsonl has one JSON object a line; blank lines are passed over. csv is RFC 4180 in UTF-8, with a first line that
// names the fields, and commas or tabs between the fields; a quoted field may go over several lines, and the line of its diagnostics is the
// one where the record starts. In both, fields other than the two named by the Format are ignored.
//
// # Equality
//
// Ids and labels are compared as text, byte by byte. A JSON number stands for the text it is written with and true and
// false for these words, so the label 0 is the label "0" and also the csv field 0, but 1 is not 1.0. Neither may be
// empty or null; spaces count.
package predictions

import "slices"

// Format says how a file is written and which two fields of it are read.
type Format struct {
	Kind       string // JSONL or CSV
	IDField    string // holds the example's id: a string or a number
	ValueField string // holds its label or its number; empty where ids alone are read
}

// fields are the names of those that are read, the IDField first.
func (f Format) fields() []string {
	return slices.DeleteFunc([]string{f.IDField, f.ValueField}, func(name string) bool { return name == "" })
}

// The kinds of Format.
const (
	JSONL = "jsonl"
	CSV   = "csv"
)

// Values says what the ValueField holds.
type Values int

const (
	// Labels are strings, numbers or booleans, each standing for the text it is written with.
	Labels Values = iota
	// Numbers are finite decimal numbers, without quotes in jsonl.
	Numbers
)

// What a file may hold at most. The bounds keep the memory that an untrusted file can take at about half a gigabyte.
const (
	MaxExamples = 5_000_000
	MaxLabels   = 10_000    // different ones in a truth, and as many in a run
	MaxText     = 1024      // bytes of an id or a label
	maxIDs      = 128 << 20 // bytes of all ids of the truth together
)
