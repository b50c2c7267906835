// Package conversion converts runs and relevance judgments from one format to another, line by line. Its memory does not grow
// with the size of the file.
//
// # Runs
//
//	trec-run  topic Q0 docid rank score tag    separated by white space
//	jsonl     {"topic":"1","docid":"d7","rank":1,"score":12.5,"tag":"bm25"}
//	csv       topic,docid,rank,score,tag       named by the first line
//
// # Relevance judgments
//
//	trec-qrels  topic iteration docid grade    separated by white space
//	jsonl       {"topic":"1","iteration":"0","docid":"d7","grade":2}
//	csv         topic,iteration,docid,grade    named by the first line
//	beir        query-id corpus-id score       separated by tabs, named by the first line
//
// # Formats that are only read
//
//	msmarco  topic docid rank, topic docid score, or topic docid rank score    of runs, without names
//	         topic docid grade                                                 of relevance judgments
//	json     {"1":{"d7":12.5}}                                                 the dictionaries of pytrec_eval and ranx
//	         {"1":["d7","d2"]}                                                 runs with the documents in the order of their ranks
//	         [{"topic":"1","docid":"d7","score":12.5}]                         a list of the objects of jsonl
//
// The package reads all files that the evaluators read. In the formats of TREC, lines that begin with # are comments. In csv,
// tabs or semicolons may separate the fields instead of commas. In jsonl and csv the fields may have any order, and the names that
// other programs use, such as qid, docno and relevance (see aliases). The tag may be missing and is then "run", the iteration may
// be missing and is then "0", and so is the rank. If a run has no scores, each document gets the score -rank. In jsonl an id, tag
// or rank is a string or a number, and a number stands for its text. The BEIR format has no iteration. If the target format
// cannot hold a value, a warning says so.
//
// Ids and tags are not empty and contain no white space, as in the formats of TREC. Scores are finite decimal numbers and keep
// their text, except in jsonl if the text is no JSON number. Ranks keep their text, too, and may be any text, because evaluation
// does not read them. Grades are integers from -32767 to 32767 and are written without a fraction. Lines keep their order. The
// package does not notice a document that occurs twice for a topic, because that would take memory for the whole file. Evaluation
// and validation report it.
package conversion

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/fields"
	"assay/shared/computation/measure/lines"
	"assay/shared/language/lists"

	"github.com/go-json-experiment/json/jsontext"
)

// Format is the format of a file.
type Format string

// The formats. TRECRun is only for runs. TRECQrels and BEIR are only for relevance judgments. The others are for both. MSMARCO and JSON
// are only read.
const (
	TRECRun   Format = "trec-run"
	TRECQrels Format = "trec-qrels"
	JSONL     Format = "jsonl"
	CSV       Format = "csv"
	BEIR      Format = "beir"
	MSMARCO   Format = "msmarco"
	JSON      Format = "json"
)

// Convert reads a run or judgments from files in one of the kind's Sources, and writes them to w in one of its Formats. Several files
// become one. The diagnostics are the errors and warnings in the order of files and lines, at most measure.MaxDiagnostics.
// Diagnostics of a whole file are last. If there is an error among them, the output is incomplete and must be discarded. The
// returned error comes from a reader, w or the context.
func (k *Kind) Convert(ctx context.Context, w io.Writer, from, to Format, files ...measure.File) ([]measure.Diagnostic, error) {
	report := &measure.Report{}
	out := &writer{kind: k, format: to, w: bufio.NewWriterSize(w, 64<<10)}
	out.begin()
	for _, f := range files {
		r := &reader{kind: k, file: f.Name, report: report, out: out, values: make([][]byte, len(k.columns))}
		if from == JSON {
			if err := cmp.Or(r.readJSON(ctx, f.Content), out.err); err != nil {
				return nil, err
			}
			r.expectLines()
			continue
		}
		in := lines.NewReader(ctx, f.Name, f.Content, report)
		switch from {
		case JSONL:
			r.readJSONL(in)
		case CSV:
			r.readCSV(in)
		case BEIR:
			r.readBEIR(in)
		case MSMARCO:
			r.readUnnamed(in)
		default:
			r.readTREC(in)
		}
		if err := in.Err(); err != nil {
			return nil, err
		}
		if out.err != nil {
			return nil, out.err
		}
		r.expectLines()
	}
	if len(files) == 0 {
		report.Errorf("", 0, "there is no file to convert")
	}
	if err := out.w.Flush(); err != nil {
		return nil, err
	}
	return report.Diagnostics(), nil
}

// writer writes lines in one format. It writes nothing after an error, which it keeps in err.
type writer struct {
	kind   *Kind
	format Format
	w      *bufio.Writer
	line   []byte
	err    error
}

// begin writes the header line, if the format has one.
func (w *writer) begin() {
	switch w.format {
	case CSV:
		w.line = append(w.line, w.kind.names(",")...)
	case BEIR:
		w.line = append(w.line, beirHeader...)
	default:
		return
	}
	w.flush()
}

// write writes a line of valid values in the order of the columns.
func (w *writer) write(values [][]byte) {
	switch w.format {
	case JSONL:
		for i := range w.kind.columns {
			c := &w.kind.columns[i]
			w.line = append(w.line, "{,"[min(i, 1)], '"')
			w.line = append(append(w.line, c.name...), '"', ':')
			w.line = c.appendJSON(w.line, values[i])
		}
		w.line = append(w.line, '}')
	case CSV:
		for i, v := range values {
			w.line = appendField(w.separated(i, ','), v)
		}
	default:
		order, separator := w.kind.trec, byte(' ')
		if w.format == BEIR {
			order, separator = w.kind.beir, '\t'
		}
		for i, column := range order {
			w.line = w.separated(i, separator)
			if column == constant {
				w.line = append(w.line, "Q0"...)
			} else {
				w.line = append(w.line, values[column]...)
			}
		}
	}
	w.flush()
}

// separated returns the line, with a separator unless the field is the first.
func (w *writer) separated(i int, separator byte) []byte {
	if i == 0 {
		return w.line
	}
	return append(w.line, separator)
}

func (w *writer) flush() {
	if w.err == nil {
		_, w.err = w.w.Write(append(w.line, '\n'))
	}
	w.line = w.line[:0]
}

// appendField appends a field of csv, with quotes if it needs them.
func appendField(line, text []byte) []byte {
	if bytes.IndexByte(text, ',') < 0 && bytes.IndexByte(text, '"') < 0 {
		return append(line, text...)
	}
	line = append(append(line, '"'), bytes.ReplaceAll(text, []byte{'"'}, []byte(`""`))...)
	return append(line, '"')
}

// column is one value of a line.
type column struct {
	name      string // the name in jsonl and csv
	values    domain
	otherwise string // default for a missing value; empty if the value is required
}

// domain is the set of values that a column can have.
type domain int

const (
	id domain = iota
	rank
	score
	grade
)

// jsonKinds lists the kinds of JSON values for each domain.
var jsonKinds = [...][]string{id: {"string", "number"}, rank: {"string", "number"}, score: {"number"}, grade: {"number"}}

// Kind is the kind of content of a file.
type Kind struct {
	Formats []Format // formats that are read and written, the TREC format first
	Sources []Format // formats that are read
	name    string
	columns []column
	trec    []int  // columns in the order of the TREC format; constant stands for Q0
	layout  string // description of the TREC format for people
	beir    []int  // columns in the order of the BEIR format
}

const constant = -1

var (
	// Runs are lists of documents ranked by topic.
	Runs = &Kind{
		Formats: []Format{TRECRun, JSONL, CSV},
		Sources: []Format{TRECRun, JSONL, CSV, MSMARCO, JSON},
		name:    "runs",
		columns: []column{
			{name: "topic"}, {name: "docid"}, {name: "rank", values: rank, otherwise: "0"}, {name: "score", values: score},
			{name: "tag", otherwise: "run"},
		},
		trec:   []int{0, constant, 1, 2, 3, 4},
		layout: "topic, Q0, docid, rank, score and tag",
	}
	// Qrels are relevance judgments.
	Qrels = &Kind{
		Formats: []Format{TRECQrels, JSONL, CSV, BEIR},
		Sources: []Format{TRECQrels, JSONL, CSV, BEIR, MSMARCO, JSON},
		name:    "relevance judgments",
		columns: []column{{name: "topic"}, {name: "iteration", otherwise: "0"}, {name: "docid"}, {name: "grade", values: grade}},
		trec:    []int{0, 1, 2, 3},
		layout:  "topic, iteration, docid and grade",
		beir:    []int{0, 2, 3},
	}
)

// matches reports whether the fields of a line in the TREC format are valid values of their columns.
func (k *Kind) matches(parts [][]byte) bool {
	for i, column := range k.trec {
		if column != constant && k.columns[column].fault(parts[i]) != "" {
			return false
		}
	}
	return true
}

// names joins the names of the columns.
func (k *Kind) names(separator string) string {
	return strings.Join(lists.Map(k.columns, func(c column) string { return c.name }), separator)
}

// missing returns the first required column that a file lacks, or -1. Ranks stand in for scores.
func (k *Kind) missing(has func(column int) bool) int {
	for i, c := range k.columns {
		ranked := c.values == score && has(rankOfRun)
		if c.otherwise == "" && !has(i) && !ranked {
			return i
		}
	}
	return -1
}

// beirHeader is the first line of relevance judgments in the BEIR format.
const beirHeader = "query-id\tcorpus-id\tscore"

const (
	topic      = 0 // the column of topics
	iteration  = 1 // the column of relevance judgments that the BEIR format lacks
	docOfQrels = 2 // the column of documents in relevance judgments
	docOfRun   = 1 // the column of documents in runs
	rankOfRun  = 2 // the column of ranks in runs
	lastOfBoth = 3 // the column of scores in runs, and of grades in relevance judgments
)

// fault describes the error in a value of the column. It returns an empty text for a valid value.
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
	case c.values == id && fields.IsQuoted(text): // The formats of TREC have no quotes, so their readers refuse it.
		return fmt.Sprintf("the %s %s stands in quotes, which would be a part of it; leave them out", c.name, fields.Quote(text))
	}
	return ""
}

// appendJSON appends a valid value of the column in JSON. A number keeps its text if that is a JSON number, unlike +1, 01, .5 and
// 1. for example. A rank that is no number becomes a string.
func (c *column) appendJSON(line, text []byte) []byte {
	x, number := 0.0, false
	if c.values != id {
		x, number = fields.ParseScore(text)
	}
	switch {
	case !number:
		line, _ = jsontext.AppendQuote(line, text) // the error concerns text that is not UTF-8, which the reader refused
		return line
	case json.Valid(text):
		return append(line, text...)
	}
	return strconv.AppendFloat(line, x, 'g', -1, 64)
}
