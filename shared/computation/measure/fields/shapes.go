package fields

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/lines"
	"assay/shared/language/lists"
)

// Expected is the format in which a reader expects a file.
type Expected struct {
	Kind   string   // measure.CSV, measure.JSONL or measure.CoNLL
	Names  []string // of the fields, first of the id; empty if the reader accepts several names
	Sample string   // a line of JSON lines
}

// text describes the format for a message.
func (e Expected) text() string {
	switch {
	case e.Kind == measure.CoNLL:
		return "a token and its tag in each line"
	case e.Kind == measure.JSONL && e.Sample != "":
		return "JSON lines like " + e.Sample
	case e.Kind == measure.JSONL:
		return "JSON lines, with an object in each line"
	case len(e.Names) == 0:
		return "csv with the names of its fields in the first line"
	}
	return "csv with " + namedFields(e.Names)
}

// named replaces {id} and {value} in advice by the names of the fields.
func (e Expected) named(heal string) string {
	id := "id"
	value := "label"
	if len(e.Names) > 1 {
		id = e.Names[0]
		value = e.Names[1]
	}
	return strings.NewReplacer("{id}", id, "{value}", value).Replace(heal)
}

// namedFields names fields in words.
func namedFields(names []string) string {
	noun := "the field "
	if len(names) > 1 {
		noun = "the fields "
	}
	return noun + strings.Join(lists.Map(names, strconv.Quote), " and ")
}

// Shape describes a file that is in no format of an evaluator.
type Shape struct {
	// Fault says what the file is, what is expected, and how to heal the file. It is empty for files without a known shape.
	Fault string
	// Converts reports whether the command assay convert reads files of this shape.
	Converts bool
}

// ShapeOf recognizes a file that another program or a mistake left, by its first whole lines. Readers ask it when the first lines of a file
// do not fit, so it may take a file for something else only if all of these lines have the shape.
func ShapeOf(head []byte, e Expected) Shape {
	h := headOf(lines.FirstLines(head))
	if len(h.lines) == 0 {
		return Shape{}
	}
	for _, s := range shapes {
		what := s.recognize(h, e)
		if what == "" {
			continue
		}
		heal := s.heal[e.Kind]
		if heal == "" {
			heal = s.heal[anyKind]
		}
		return Shape{Fault: fmt.Sprintf("the file is %s; expected %s: %s", what, e.text(), e.named(heal)), Converts: s.converts}
	}
	return Shape{}
}

// anyKind is the key of advice for all formats without advice of their own.
const anyKind = ""

// shape is an entry of the table of shapes.
type shape struct {
	// recognize says what a file of the shape is, or returns "" for other files.
	recognize func(h head, e Expected) string
	heal      map[string]string // by the kind of the expected format
	converts  bool
}

const (
	toCSV        = `write it with to_csv(FILE, index=False)`
	toJSON       = `write it with to_json(FILE, orient="records", lines=True)`
	withoutNames = "write.csv(x, FILE, row.names = FALSE)"
	thenConvert  = ", and convert it to the expected format"
)

// asTable is the advice about tables that pandas has in memory.
var asTable = map[string]string{measure.CSV: toCSV, measure.JSONL: toJSON, anyKind: "write token and tag of each row, separated by a tab"}

// shapes is the table of the shapes that readers recognize. A more particular shape comes before a more general one.
var shapes = []shape{
	{recognize: pandasForm, heal: asTable},
	{recognize: begins(`^\s*precision +recall +f1-score +support *\n`, "a classification report of scikit-learn, which has scores and no "+
		"predictions"), heal: map[string]string{anyKind: "write the prediction for each item"}},
	{recognize: printed, heal: asTable},
	{recognize: begins(`^\s*\[\s*\[\s*\{\s*"document"`, "a JSON array with the documents of each cluster, as at PAN"), heal: map[string]string{
		measure.CSV: `write a line for each item, with the name of its cluster: (echo {id},{value}; jq -r 'to_entries[] | .key as $c | ` +
			`.value[] | [.document, $c] | @csv' FILE)`,
		anyKind: `write a line for each item, with the name of its cluster: jq -c 'to_entries[] | .key as $c | .value[] | ` +
			`{"{id}": .document, "{value}": "\($c)"}' FILE`,
	}},
	{recognize: begins(`^\s*\[?\s*\{\s*'`, "a dictionary or list of Python, with single quotes"), heal: map[string]string{
		measure.JSONL: "JSON has double quotes, so write each line with json.dumps and not with print or str",
		measure.CSV:   "write it with csv.DictWriter, or each line with json.dumps and not with print or str" + thenConvert,
		anyKind:       "write a token and its tag in each line, and not the dictionary",
	}},
	{recognize: commasBetween, heal: map[string]string{
		measure.JSONL: "leave the commas out, as sed 's/,$//' does",
		anyKind:       "leave the commas out, as sed 's/,$//' does" + thenConvert,
	}},
	{recognize: all(`^([TREAMN]\d+|[#*]\S*)\t`, "annotations of brat, which has a file for each text and no ids"), heal: map[string]string{
		anyKind: "write one line for each text, with its id and all its spans",
	}},
	{recognize: all(`^(#.*|\d+([-.]\d+)?(\t[^\t]*){9})$`, "CoNLL-U, whose first column has the numbers of tokens"), heal: map[string]string{
		measure.CoNLL: "write the token, which is the second column, and its tag, such as O or B-PER, in each line",
		anyKind:       "write a line for each item, with its id",
	}},
	{recognize: all(`^__label__\S`, "lines of fastText, which have no ids"), heal: map[string]string{
		measure.CSV: "write a line for each item, with its id and its label without __label__, under a line with the names of the fields",
		anyKind:     "write a line for each item, with its id and its label without __label__",
	}},
	{recognize: begins(`^(?i)(\s*%[^\n]*\n|\s+)*@relation\s`, "an ARFF file of Weka"), heal: map[string]string{
		measure.CSV: "write the rows after @data under a line with the names of the fields",
		anyKind:     "write the rows after @data under a line with the names of the fields" + thenConvert,
	}},
	{recognize: tagged, heal: map[string]string{
		anyKind: "write a line for each item, with its id and its value; only measures of spans, such as F1(average=micro), read this format",
	}},
	{recognize: rankings, heal: map[string]string{
		measure.CoNLL: "write a token and its tag in each line; only measures of rankings, such as nDCG@10, read this format",
		anyKind:       "write a line for each item, with its id and its value; only measures of rankings, such as nDCG@10, read this format",
	}},
	{recognize: rowNames, heal: map[string]string{
		measure.CSV: "write it with index=False in pandas, or with " + withoutNames + " in R",
		anyKind:     "write it with index=False in pandas, or with " + withoutNames + " in R" + thenConvert,
	}},
	{recognize: quotedLines, heal: map[string]string{
		measure.CSV: `take the quotes at both ends of each line away, as sed 's/^"//; s/"$//; s/""/"/g' does`,
		anyKind:     `take the quotes at both ends of each line away, as sed 's/^"//; s/"$//; s/""/"/g' does` + thenConvert,
	}},
	{recognize: otherSeparator, heal: map[string]string{
		measure.CSV: "separate all lines by the same character",
		anyKind:     "separate all lines by the same character" + thenConvert,
	}},
	{recognize: bars, heal: map[string]string{
		measure.CSV: "write a comma or a tab between fields",
		anyKind:     "write a comma or a tab between fields" + thenConvert,
	}},
	{recognize: numberedColumns, heal: map[string]string{
		measure.CSV: `name them before to_csv, as df.columns = ["{id}", "{value}"] does, or in the first line`,
		anyKind:     `name them before to_json, as df.columns = ["{id}", "{value}"] does`,
	}},
	{recognize: onlyNumbers, heal: map[string]string{
		measure.CSV: "write the id before each value, in the order of the items, under a line with the names of the fields",
		anyKind:     "write a line for each item, with its id, in the order of the items",
	}},
	{recognize: onlyTexts, heal: map[string]string{
		measure.CSV: "write {id},{value} as the first line, and before each text the id of its item and a comma, with quotes around a text " +
			"that has a comma",
		anyKind: "write such an object for each text, with the id of its item",
	}},
	{recognize: inJSON, converts: true, heal: map[string]string{
		measure.CSV: "write a line for each item, with its id and its value",
		anyKind:     "write a token and its tag in each line",
	}},
}

// head is the start of a file.
type head struct {
	text  []byte
	lines [][]byte // the lines that are not blank, without their ends
}

func headOf(text []byte) head {
	h := head{text: text}
	for line := range bytes.Lines(text) {
		line = bytes.TrimRight(line, "\r\n")
		if len(bytes.TrimSpace(line)) > 0 {
			h.lines = append(h.lines, line)
		}
	}
	return h
}

// all returns a function that recognizes files by a pattern that all their first lines match.
func all(pattern, what string) func(head, Expected) string {
	matches := regexp.MustCompile(pattern)
	return func(h head, _ Expected) string {
		if slices.ContainsFunc(h.lines, func(line []byte) bool { return !matches.Match(line) }) {
			return ""
		}
		return what
	}
}

// begins returns a function that recognizes files by a pattern at their start.
func begins(pattern, what string) func(head, Expected) string {
	matches := regexp.MustCompile(pattern)
	return func(h head, _ Expected) string {
		if matches.Match(h.text) {
			return what
		}
		return ""
	}
}

// pandasForms are the forms of a whole table on one line. The first group is the name of the first member, and the second one the name of
// the first member of its value.
//
//	columns  {"id":{"0":"a","1":"b"},"label":{"0":"x","1":"y"}}, its default
//	index    {"0":{"id":"a","label":"x"},"1":{"id":"b","label":"y"}}
//	split    {"columns":["id","label"],"index":[0,1],"data":[["a","x"],["b","y"]]}
//	table    {"schema":{},"data":[{"index":0,"id":"a","label":"x"}]}
var (
	nestedForm = regexp.MustCompile(`^\s*\{\s*"([^"\\]+)"\s*:\s*\{\s*"([^"\\]+)"\s*:`)
	splitForm  = regexp.MustCompile(`^\s*\{\s*"columns"\s*:\s*\[.*"(index|data)"\s*:\s*\[`)
	tableForm  = regexp.MustCompile(`^\s*\{\s*"schema"\s*:\s*\{`)
)

// pandasForm recognizes a table that pandas wrote as one object of JSON.
func pandasForm(h head, e Expected) string {
	form := ""
	nested := nestedForm.FindSubmatch(h.text)
	switch {
	case splitForm.Match(h.text):
		form = "split"
	case tableForm.Match(h.text):
		form = "table"
	case nested == nil:
	case slices.Contains(e.Names, string(nested[1])) && isNumber(nested[2]):
		form = "columns"
	case slices.Contains(e.Names, string(nested[2])) && isNumber(nested[1]):
		form = "index"
	}
	if form == "" {
		return ""
	}
	return fmt.Sprintf("a whole table in the form %q of pandas", form)
}

// isNumber reports whether a text has only digits.
func isNumber(text []byte) bool {
	return len(text) > 0 && !bytes.ContainsFunc(text, func(r rune) bool { return r < '0' || r > '9' })
}

// commasBetween recognizes lines of JSON objects with commas between them. The last line may have none.
func commasBetween(h head, _ Expected) string {
	for i, line := range h.lines {
		object, comma := bytes.CutSuffix(bytes.TrimSpace(line), []byte{','})
		isLast := i > 0 && i == len(h.lines)-1
		if !comma && !isLast || !bytes.HasPrefix(object, []byte{'{'}) || !bytes.HasSuffix(object, []byte{'}'}) {
			return ""
		}
	}
	return "objects of JSON with a comma after each"
}

// printed recognizes a table that pandas printed.
func printed(h head, _ Expected) string {
	if !IsPrintedHeader(h.lines[0]) {
		return ""
	}
	return "a table that pandas printed, which leaves rows out and rounds numbers"
}

// onlyNumbers recognizes lists of numbers without ids.
func onlyNumbers(h head, _ Expected) string {
	for _, line := range h.lines {
		if _, ok := ParseScore(bytes.TrimSpace(line)); !ok {
			return ""
		}
	}
	return "a list of numbers without ids, as numpy.savetxt writes"
}

// inJSON recognizes JSON where another format is expected.
func inJSON(h head, e Expected) string {
	start := bytes.TrimLeft(h.text, JSONSpace+"\n")
	if e.Kind == measure.JSONL || !bytes.HasPrefix(start, []byte("{")) && !bytes.HasPrefix(start, []byte("[")) {
		return ""
	}
	inner := bytes.TrimLeft(start, "[{"+JSONSpace+"\n")
	if len(inner) > 0 && inner[0] != '"' {
		return ""
	}
	return "JSON"
}
