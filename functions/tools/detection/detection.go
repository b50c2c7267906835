// Package detection guesses the format of a file of a run or a truth from its first lines, for callers who gave no format.
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

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/fields"
	"assay/shared/computation/measure/lines"
	"assay/shared/computation/measure/scoring"
)

// Guess is the probable format of a file.
type Guess struct {
	Kind   measure.Kind // kind of the evaluator that reads the file
	Format measure.Format
	// Because gives the reason, without a full stop. It is empty if the file matches no format, and therefore is assumed to be in
	// the format of TREC.
	Because string
}

// headBytes is the number of bytes of a file that the guess looks at.
const headBytes = 64 << 10

// wordsOfLabel is the largest number of words in a label. Longer values are texts.
const wordsOfLabel = 4

// Usual names of fields, in the order of preference.
var (
	idNames    = []string{"id", "_id", "uid", "example", "item", "docid", "doc_id", "qid"}
	valueNames = []string{"label", "labels", "prediction", "predicted", "class", "value", "score", "y", "output", "answer", "text", "summary",
		"translation"}
)

// Of guesses the format of the file. kind is the known kind of evaluator, or empty. Kinds of rankings have only one format. The
// error comes from opening the file.
func Of(kind measure.Kind, file scoring.File) (Guess, error) {
	r, err := file.Open()
	if err != nil {
		return Guess{}, err
	}
	defer func() { _ = r.Close() }()
	var head []byte
	if text, err := lines.Unpack(r, lines.StandardExpansion); err == nil {
		head, _ = io.ReadAll(io.LimitReader(text, headBytes)) // the reader of the whole file reports its errors
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

// kindOf guesses the kind of evaluator from the format and the first value.
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

// commentLines matches the comments at the start of a file in the format of TREC.
var commentLines = regexp.MustCompile(`^(#[^\n]*\n\s*)+`)

// detectFormat guesses the format from the head of a file. It returns the format, the first value and the reason. kind may be
// empty.
func detectFormat(kind measure.Kind, head []byte) (measure.Format, any, string) {
	first, _, _ := bytes.Cut(head, []byte("\n"))
	var object map[string]any // first value of each field
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
			value = valueNames[0] // the name in truths: the other columns of a run are classes
		}
		return measure.Format{Kind: format, IDField: id, ValueField: value}, object[value], because
	default:
		because = ""
	}
	return measure.Format{Kind: measure.TRECRun}, nil, because
}

// readHeader returns the names in the first line of a possible CSV file and names the separator. It stores the first values in
// object.
func readHeader(head, first []byte, object map[string]any) (names []string, because string) {
	line, _, _ := bytes.Cut(commentLines.ReplaceAll(head, nil), []byte("\n"))
	columns := bytes.FieldsFunc(line, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
	trec := len(columns) > 1 && bytes.EqualFold(columns[1], []byte("Q0")) // ids in the format of TREC can have commas
	rows, by := csv.NewReader(bytes.NewReader(head)), "commas"
	if bytes.ContainsRune(first, '\t') && !bytes.ContainsRune(first, ',') {
		rows.Comma, by = '\t', "tabs"
		trec = trec || slices.ContainsFunc(bytes.Fields(first), func(name []byte) bool { // a number means that there is no header
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

// isArray reports whether a text begins with a JSON array that has no other text behind it on its last line. The array may be cut
// off.
func isArray(head []byte) bool {
	var array []json.RawMessage
	d := json.NewDecoder(bytes.NewReader(head))
	err := d.Decode(&array)
	after, _, _ := bytes.Cut(head[d.InputOffset():], []byte("\n"))
	return bytes.HasPrefix(head, []byte("[")) && (err == nil && len(bytes.TrimSpace(after)) == 0 || errors.Is(err, io.ErrUnexpectedEOF))
}

// rankingFieldNames are usual names of the fields of a ranking or of relevance judgments: for topics, for documents, and for
// ranks, scores or grades.
var rankingFieldNames = [][]string{
	{"topic", "topic_id", "qid", "query", "query_id", "query-id"}, {"docid", "doc_id", "docno", "document", "corpus-id"},
	{"rank", "score", "grade", "relevance"},
}

// areRankingFields reports whether the field names suggest a ranking or relevance judgments.
func areRankingFields(names []string) bool {
	return !slices.ContainsFunc(rankingFieldNames, func(usual []string) bool {
		return !slices.ContainsFunc(names, func(n string) bool { return slices.Contains(usual, strings.ToLower(n)) })
	})
}

// maxFieldName is the largest number of characters of a field name in a measure.Format.
const maxFieldName = 100

// chooseFields chooses the field of the id and the field of the value. It prefers usual names. Otherwise it takes the first
// fields whose names a format can have.
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
