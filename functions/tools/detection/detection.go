// Package detection guesses the format of a file of a run or a truth from its first lines, for callers who gave no format.
package detection

import (
	"bufio"
	"bytes"
	"cmp"
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

	"assay/functions/tools/conversion"
	"assay/shared/computation/measure"
	"assay/shared/computation/measure/bounds"
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
	// Number reports whether the first value is a number.
	Number bool
}

// headBytes is the number of bytes of a file that the guess looks at, unless its first line is a longer object of JSON lines.
const headBytes = 64 << 10

// MemoryPerByte is the most memory that a guess allocates, in bytes for each byte of the Head of the file.
const MemoryPerByte = 20

// wordsOfLabel is the largest number of words in a label. Longer values are texts.
const wordsOfLabel = 4

// Usual names of fields, in the order of preference.
var (
	idNames = []string{"id", "_id", "uid", "example", "item", "docid", "doc_id", "qid", "example_id", "item_id",
		"sample_id", "guid", "row_id", "idx", "index", "Unnamed: 0"}
	valueNames = []string{"label", "labels", "prediction", "predictions", "predicted", "predicted_label", "pred", "y_pred", "class", "cluster",
		"cluster_id", "value", "score", "y", "output", "answer", "text", "summary", "translation", "target"}
	clusterNames = []string{"cluster", "clusters", "cluster_id"}
)

// Of guesses the format of the file. kind is the known kind of evaluator, or empty. Kinds of rankings have only one format. Of two fields,
// it prefers the one that others have too, because a format is the format of the truth and of its runs. The error comes from opening a
// file.
func Of(kind measure.Kind, file scoring.File, others ...scoring.File) (Guess, error) {
	head, err := Head(file)
	if err != nil {
		return Guess{}, err
	}
	if guess, ok := detectSpans(kind, head); ok {
		return guess, nil
	}
	var shared []string
	for _, other := range others {
		more, err := Head(other)
		if err != nil {
			return Guess{}, err
		}
		if first, ok := readFirst(more); ok {
			shared = append(shared, first.names...)
		}
	}
	if kind == "" && haveScores(head) {
		kind = measure.Probabilities
	}
	format, value, because := detectFormat(kind, head, shared)
	switch {
	case kind.Ranks():
		format = rankingFormat
	case format == rankingFormat:
		kind = measure.Retrieval
	case kind == "" && haveLists(head, format):
		kind = measure.Multilabel
	case kind == "":
		kind = kindOf(format, value)
	}
	_, err = strconv.ParseFloat(fmt.Sprint(value), 64)
	return Guess{Kind: kind, Format: format, Because: because, Number: err == nil}, nil
}

// Head returns the text at the start of the file, without white space around it. It ignores faults of the content, because the
// reader of the whole file reports them.
func Head(file scoring.File) ([]byte, error) {
	text, err := Beginning(file)
	return bytes.TrimSpace(text), err
}

// Beginning is like Head, with the spaces around the text. Tables that programs printed begin with spaces.
func Beginning(file scoring.File) ([]byte, error) {
	r, err := file.Open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	var head []byte
	if text, err := lines.Unpack(r, lines.StandardExpansion); err == nil {
		head, _ = io.ReadAll(io.LimitReader(text, headBytes))
		if bytes.HasPrefix(bytes.TrimSpace(head), []byte("{")) && bytes.IndexByte(head, '\n') < 0 {
			rest, _ := bufio.NewReader(io.LimitReader(text, bounds.ValueLine)).ReadBytes('\n')
			head = append(head, rest...)
		}
	}
	return head, nil
}

// kindOf guesses the kind of evaluator from the format and the first value.
func kindOf(format measure.Format, value any) measure.Kind {
	switch value.(type) {
	case []any:
		return measure.Multilabel
	case map[string]any:
		return measure.Probabilities
	}
	if usualName([]string{format.ValueField}, clusterNames, "") != "" {
		return measure.Clustering
	}
	text := fmt.Sprint(value)
	if _, err := strconv.ParseFloat(text, 64); err == nil && strings.ContainsAny(text, ".eE") {
		return measure.Regression
	}
	if fields.NumberHint([]byte(text)) != "" && !strings.Contains(strings.ToLower(format.ValueField), "label") {
		return measure.Regression // The reader says how to write the number.
	}
	if format.Kind == measure.CSV && strings.Contains(text, measure.DefaultSeparator) {
		return measure.Multilabel
	}
	if len(strings.Fields(text)) > wordsOfLabel {
		return measure.Text
	}
	return measure.Classification
}

// rankingFormat is the format of TREC, the only format of rankings.
var rankingFormat = measure.Format{Kind: measure.TRECRun}

// detectFormat guesses the format from the head of a file. It returns the format, the first value and the reason. kind may be
// empty. shared are names of fields to prefer.
func detectFormat(kind measure.Kind, head []byte, shared []string) (format measure.Format, value any, because string) {
	if _, foreign, ok := conversion.Recognize(nil, head); ok && kind == "" {
		return rankingFormat, nil, fmt.Sprintf("It looks like a ranking in the format %s, which has to be converted to a format of "+
			"TREC before it is evaluated", foreign)
	}
	if isArray(head) {
		return measure.Format{Kind: measure.JSONL, IDField: "id", ValueField: "value"}, nil,
			"The file begins with a JSON array, where JSON lines have one object in each line"
	}
	first, ok := readFirst(head)
	if !ok {
		return rankingFormat, nil, ""
	}
	ofOthers := map[string]bool{}
	for _, name := range shared {
		ofOthers[name] = true
	}
	both := slices.DeleteFunc(slices.Clone(first.names), func(name string) bool { return !ofOthers[name] })
	idField, valueField, ok := chooseFields(both, first.isScore)
	if !ok {
		idField, valueField, ok = chooseFields(first.names, first.isScore)
	}
	if !ok && (first.format == measure.JSONL || valueField != "") { // The reader of the file says what it lacks.
		idField = cmp.Or(idField, "id")
		valueField = cmp.Or(valueField, valueFieldOf(kind))
		ok = true
	}
	if !ok {
		return rankingFormat, nil, ""
	}
	value = first.values[valueField]
	if first.isItem(idField, valueField) { // The reader says that names are missing.
		valueField = cmp.Or(usualName(shared, valueNames, ""), valueFieldOf(cmp.Or(kind, kindOf(measure.Format{Kind: first.format}, value))))
		return measure.Format{Kind: first.format, IDField: cmp.Or(usualName(shared, idNames, valueField), idNames[0]), ValueField: valueField},
			value, strings.Replace(first.because, "has names", "is", 1)
	}
	switch { // Only truths use these names. The other columns of the run are labels.
	case kind == measure.Multilabel && len(first.names) > 2 && first.hasMarks(idField):
		valueField = valueFieldOf(kind)
	case isUsualName(valueField):
	case kind == measure.Probabilities:
		valueField = valueNames[0]
	}
	return measure.Format{Kind: first.format, IDField: idField, ValueField: valueField}, value, first.because
}

// valueFieldOf returns the usual name of the field with the value. kind may be empty.
func valueFieldOf(kind measure.Kind) string {
	if e := measure.EvaluatorOf(kind); e != nil && e.ValueField != "" {
		return e.ValueField
	}
	return valueNames[0]
}

// readFirst reads the first record of a file with named fields.
func readFirst(head []byte) (first firstRecord, ok bool) {
	if first, ok = readObject(firstLine(head)); ok {
		return first, true
	}
	return readHeader(head)
}

func firstLine(text []byte) []byte {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	return line
}

// isUsualName reports whether the name is a usual name of a field of values.
func isUsualName(name string) bool {
	return slices.ContainsFunc(valueNames, func(usual string) bool { return strings.EqualFold(usual, name) })
}

// firstRecord is the first record of a file with named fields.
type firstRecord struct {
	format  string   // kind of the format
	names   []string // names of the fields, in the order in which they are candidates for the id and the value
	values  map[string]any
	because string          // the reason for the format
	again   map[string]bool // names of csv that later records have in the same column
}

// isScore reports whether a field has a number with a fraction, which is no id.
func (f firstRecord) isScore(name string) bool {
	text := fmt.Sprint(f.values[name])
	_, isNumber := fields.ParseScore([]byte(text))
	return isNumber && strings.ContainsAny(text, ".eE")
}

// isItem reports whether the first line of csv seems to be an item and to name no fields: neither name is usual, and the one of the id is a
// number, or the one of the value is a number, a running text or a value of a later record.
func (f firstRecord) isItem(idField, valueField string) bool {
	isNumber := func(text string) bool {
		_, ok := fields.ParseScore([]byte(text))
		return ok
	}
	if f.format != measure.CSV || usualName([]string{idField}, idNames, "") != "" || isUsualName(valueField) {
		return false
	}
	repeated := f.again[valueField] && !f.again[idField]
	numbers := isNumber(valueField) && isNumber(fmt.Sprint(f.values[valueField]))
	return isNumber(idField) || repeated || numbers || len(strings.Fields(valueField)) > wordsOfLabel
}

// hasMarks reports whether the record has a column of 1 and 0 for each label.
func (f firstRecord) hasMarks(idField string) bool {
	var others []string
	for _, name := range f.names {
		if name != idField {
			others = append(others, fmt.Sprint(f.values[name]))
		}
	}
	return f.format == measure.CSV && conversion.AreMarks(others)
}

// beginsObject matches the start of a JSON object with a member.
var beginsObject = regexp.MustCompile(`^\{\s*["'\x{201c}\x{201d}\x{201e}]`)

// readObject reads a JSON object with a member. It also reads objects with faults, such as NaN or a missing end, as far as it can: the
// reader of the file reports them. The names of members with null come last.
func readObject(line []byte) (first firstRecord, ok bool) {
	first = firstRecord{format: measure.JSONL, values: map[string]any{}, because: "The first line is a JSON object"}
	if !beginsObject.Match(line) {
		return first, false
	}
	var nulls []string
	for key, raw := range fields.Members(line) { // in the order of the line
		var name string
		if json.Unmarshal(key, &name) != nil {
			continue
		}
		if _, known := first.values[name]; known {
			continue
		}
		value := valueOf(raw)
		first.values[name] = value
		if value == nil {
			nulls = append(nulls, name)
		} else {
			first.names = append(first.names, name)
		}
	}
	first.names = append(first.names, nulls...)
	return first, true
}

// valueOf decodes the raw value of a member. It decodes nothing inside arrays and objects, which can be large: of these only the type
// counts. It returns a value with faults as text.
func valueOf(raw []byte) (value any) {
	switch {
	case bytes.HasPrefix(raw, []byte("[")) && json.Valid(raw):
		return []any{}
	case bytes.HasPrefix(raw, []byte("{")) && json.Valid(raw):
		return map[string]any{}
	case json.Unmarshal(raw, &value) != nil:
		return string(raw)
	}
	return value
}

// commentLines matches the comments at the start of a file in the format of TREC.
var commentLines = regexp.MustCompile(`^(#[^\n]*\n\s*)+`)

// isRanking reports whether the first line after comments has the constant of the format of TREC in its second column. Ids in this
// format can have commas, so such a line can look like CSV.
func isRanking(head []byte) bool {
	line := firstLine(commentLines.ReplaceAll(head, nil))
	at := 0
	for column := range bytes.FieldsFuncSeq(line, func(r rune) bool { return r == ',' || unicode.IsSpace(r) }) {
		if at == 1 {
			return bytes.EqualFold(column, []byte("Q0"))
		}
		at++
	}
	return false
}

// hasNumber reports whether one of the words in the line is a number.
func hasNumber(line []byte) bool {
	for word := range bytes.FieldsSeq(line) {
		if _, err := strconv.ParseFloat(string(word), 64); err == nil {
			return true
		}
	}
	return false
}

// isArray reports whether a text begins with a JSON array that has no other text behind it on its last line. The array may be cut
// off.
func isArray(head []byte) bool {
	if !bytes.HasPrefix(head, []byte("[")) {
		return false
	}
	var array []json.RawMessage
	d := json.NewDecoder(bytes.NewReader(head))
	err := d.Decode(&array)
	if err != nil {
		return errors.Is(err, io.ErrUnexpectedEOF)
	}
	return len(bytes.TrimSpace(firstLine(head[d.InputOffset():]))) == 0
}

// maxFieldName is the largest number of characters of a field name in a measure.Format.
const maxFieldName = 100

// chooseFields chooses the field of the id and the field of the value. It prefers usual names. Otherwise it takes the first
// fields whose names a format can have. Fields with usual names of values, and those for which isNoID returns true, have no ids.
//
// A first field without a name has the ids, as pandas writes an index. Formats cannot name it, so id is empty and ok is false.
func chooseFields(names []string, isNoID func(name string) bool) (id, value string, ok bool) {
	value = usualName(names, valueNames, "")
	id = usualName(names, idNames, value)
	if id == "" && (len(names) == 0 || names[0] != "") {
		others := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return isUsualName(name) || isNoID(name) })
		id = validName(others, value)
	}
	value = cmp.Or(value, validName(names, id))
	return id, value, id != "" && value != ""
}

// usualName returns the name other than except that comes first in usual. It returns "" if none of the names is usual.
func usualName(names, usual []string, except string) string {
	for _, u := range usual {
		for _, name := range names {
			if name != except && strings.EqualFold(name, u) {
				return name
			}
		}
	}
	return ""
}

// validName returns the first name other than except that a measure.Format can have, or "".
func validName(names []string, except string) string {
	for _, name := range names {
		if name != "" && name != except && utf8.RuneCountInString(name) <= maxFieldName {
			return name
		}
	}
	return ""
}
