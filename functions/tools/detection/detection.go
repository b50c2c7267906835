// Package detection guesses how a file of a run or of a truth is written, by its first lines, for those who did not say.
package detection

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"assay/shared/measure"
	"assay/shared/measure/evaluator"
	"assay/shared/measure/fields"
	"assay/shared/measure/lines"
)

// Guess is how a file seems to be written.
type Guess struct {
	Kind   measure.Kind // of the evaluator that reads it
	Format measure.Format
	// Because says why, without an end; empty of a file of TREC that was not recognized as one, but as nothing else either.
	Because string
}

// headBytes is how many bytes of a file are looked at.
const headBytes = 64 << 10

// wordsOfLabel is how many words a value has that is taken for a label.
const wordsOfLabel = 4

// Names that the fields of files usually have, in the order in which they are looked for.
var (
	idNames    = []string{"id", "_id", "uid", "example", "item", "docid", "doc_id", "qid"}
	valueNames = []string{"label", "labels", "prediction", "predicted", "class", "value", "score", "y", "output", "answer", "text", "summary",
		"translation"}
)

// Of returns how the file is written. The kind is one that is known, or empty; one of rankings leaves nothing to guess. The error is one of
// opening the file.
func Of(kind measure.Kind, file evaluator.File) (Guess, error) {
	r, err := file.Open()
	if err != nil {
		return Guess{}, err
	}
	defer func() { _ = r.Close() }()
	var head []byte
	if text, err := lines.Unpack(r, lines.StandardExpansion); err == nil {
		head, _ = io.ReadAll(io.LimitReader(text, headBytes)) // what is wrong with it, reading it as a whole says
	}
	head = bytes.TrimSpace(head)
	if guess, ok := detectSpans(kind, head); ok {
		return guess, nil
	}
	format, value, because := detectFormat(kind, head)
	switch {
	case kind.Ranks() || format.Kind == measure.TRECRun:
		if !kind.Ranks() {
			kind = measure.Retrieval
		}
		return Guess{kind, measure.Format{Kind: measure.TRECRun}, because}, nil
	case kind == "":
		kind = kindOf(format, value)
	}
	return Guess{kind, format, because}, nil
}

// kindOf is what a file is probably about that has a value in the format.
func kindOf(format measure.Format, value any) measure.Kind {
	switch value.(type) {
	case []any:
		return measure.Multilabel
	case map[string]any:
		return measure.Probabilities
	}
	text := fmt.Sprint(value)
	if _, err := strconv.ParseFloat(text, 64); err == nil && strings.ContainsAny(text, ".eE") {
		return measure.Regression
	}
	if format.Kind == measure.CSV && strings.Contains(text, measure.DefaultSeparator) {
		return measure.Multilabel
	}
	if len(strings.Fields(text)) > wordsOfLabel {
		return measure.Text
	}
	return measure.Classification
}

// commentLines are the lines at the start of a file of TREC that are none of its lines.
var commentLines = regexp.MustCompile(`^(#[^\n]*\n\s*)+`)

// detectFormat returns the format of a text of the kind, if one was given, that begins so, the first value in it, and why.
func detectFormat(kind measure.Kind, head []byte) (measure.Format, any, string) {
	first, _, _ := bytes.Cut(head, []byte("\n"))
	var object map[string]any // the first values by the names of their fields
	var names, nulls []string
	format, because := "jsonl", "The first line is a JSON object"
	if isArray(head) {
		return measure.Format{Kind: format, IDField: "id", ValueField: "value"}, nil,
			"The file begins with a JSON array, where JSON lines have one object in each line"
	}
	if json.Unmarshal(first, &object) == nil && len(object) > 1 {
		for key := range fields.Members(first) { // in the order of the line
			var name string
			switch {
			case json.Unmarshal(key, &name) != nil || slices.Contains(names, name) || slices.Contains(nulls, name):
			case object[name] == nil:
				nulls = append(nulls, name)
			default:
				names = append(names, name)
			}
		}
		names = append(names, nulls...)
	} else {
		format, object = "csv", map[string]any{}
		names, because = readHeader(head, first, object)
	}
	id, value, ok := chooseFields(names)
	switch {
	case kind == "" && areRankingFields(names):
		because = "Its fields look like those of retrieval, of which only the formats of TREC are evaluated (the tool converter writes them)"
	case ok:
		if kind == measure.Probabilities && !slices.ContainsFunc(valueNames, func(n string) bool { return strings.EqualFold(n, value) }) {
			value = valueNames[0] // that of the truth: the columns are those of classes
		}
		return measure.Format{Kind: format, IDField: id, ValueField: value}, object[value], because
	default:
		because = ""
	}
	return measure.Format{Kind: measure.TRECRun}, nil, because
}

// readHeader returns the names in the first line of what may be CSV, and what separates them, and puts the first values into object.
func readHeader(head, first []byte, object map[string]any) (names []string, because string) {
	line, _, _ := bytes.Cut(commentLines.ReplaceAll(head, nil), []byte("\n"))
	columns := bytes.FieldsFunc(line, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
	trec := len(columns) > 1 && bytes.EqualFold(columns[1], []byte("Q0")) // whose ids can have commas
	rows, by := csv.NewReader(bytes.NewReader(head)), "commas"
	if bytes.ContainsRune(first, '\t') && !bytes.ContainsRune(first, ',') {
		rows.Comma, by = '\t', "tabs"
		trec = trec || slices.ContainsFunc(bytes.Fields(first), func(name []byte) bool { // no header
			_, err := strconv.ParseFloat(string(name), 64)
			return err == nil
		})
	}
	header, err := rows.Read()
	if err != nil || len(header) < 2 || trec {
		return nil, ""
	}
	values, _ := rows.Read()
	for i := range min(len(header), len(values)) {
		object[header[i]] = values[i]
	}
	return header, "The first line has names separated by " + by
}

// isArray reports whether a text begins with a JSON array: alone, on a line of its own, or cut short.
func isArray(head []byte) bool {
	var array []json.RawMessage
	d := json.NewDecoder(bytes.NewReader(head))
	err := d.Decode(&array)
	after, _, _ := bytes.Cut(head[d.InputOffset():], []byte("\n"))
	return bytes.HasPrefix(head, []byte("[")) && (err == nil && len(bytes.TrimSpace(after)) == 0 || errors.Is(err, io.ErrUnexpectedEOF))
}

// rankingFieldNames are what the fields of a ranking or of relevance judgments usually are: its topics, documents, and ranks, scores or
// grades.
var rankingFieldNames = [][]string{
	{"topic", "topic_id", "qid", "query", "query_id", "query-id"}, {"docid", "doc_id", "docno", "document", "corpus-id"},
	{"rank", "score", "grade", "relevance"},
}

// areRankingFields reports whether the names of fields are those of a ranking or of relevance judgments.
func areRankingFields(names []string) bool {
	return !slices.ContainsFunc(rankingFieldNames, func(usual []string) bool {
		return !slices.ContainsFunc(names, func(n string) bool { return slices.Contains(usual, strings.ToLower(n)) })
	})
}

// maxFieldName is how many characters the names of fields in a measure.Format have at most.
const maxFieldName = 100

// chooseFields returns which of the names are of the id and of the value: usual ones, or else the first and the next that a
// format can have.
func chooseFields(names []string) (id, value string, ok bool) {
	find := func(usual []string, but string) string {
		for _, u := range usual {
			if i := slices.IndexFunc(names, func(n string) bool { return n != but && strings.EqualFold(n, u) }); i >= 0 {
				return names[i]
			}
		}
		return ""
	}
	other := func(but string) string {
		i := slices.IndexFunc(names, func(n string) bool { return n != but && utf8.RuneCountInString(n) <= maxFieldName })
		if i < 0 {
			return ""
		}
		return names[i]
	}
	value = find(valueNames, "")
	id = cmp.Or(find(idNames, value), other(value))
	value = cmp.Or(value, other(id))
	return id, value, id != "" && value != ""
}
