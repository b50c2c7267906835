package predictions

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/bounds"
	"assay/shared/computation/measure/fields"
	"assay/shared/computation/measure/lines"
	"assay/shared/computation/measure/steps"
	"assay/shared/language/lists"
)

// file reads one file.
type file struct {
	name       string
	format     measure.Format
	options    measure.Options
	values     Values
	report     *measure.Report
	counter    *steps.Counter
	inspector  TextInspector
	labels     [][]byte // memory for the labels of the current example
	scores     []float64
	columns    int // columns of scores, each of which the first line of csv names like a label; 0 for files with the ValueField
	outside    outside
	identified int  // errors in examples whose ids were read
	unread     bool // a line with an unknown id may exist: an id cannot be read, or reading ended early
	// isOfAnyKind says that lines may have fields with values of any kind, which are not read.
	isOfAnyKind bool
}

// example is the content of one line or record. It is valid until the next example.
type example struct {
	line   int
	id     []byte
	sound  bool   // it has a valid value; otherwise the report says why not
	label  []byte // the label or, for Arrays, the array
	number float64
	text   []byte // for Arrays, the member TextField, or nil
	texts  [][]byte
	labels [][]byte  // the labels of Sets, or the classes of Scores
	scores []float64 // a score for each class, or only one
}

// read calls add with every example whose id can be read and is selected by the options, until add returns false or the report is full. The
// error is from r or the context.
func (f *file) read(ctx context.Context, r io.Reader, add func(example) bool) error {
	before := len(f.report.Diagnostics())
	errorsBefore := f.report.Errors()
	examples := 0
	selector := f.options.Selector()
	counted := func(e example) bool {
		examples++
		if !selector.Selects(e.id) {
			return f.counter.Add(1) == nil
		}
		for _, text := range e.texts {
			f.inspector.Inspect(text)
		}
		if f.counter.Add(1) == nil && add(e) {
			return true
		}
		f.unread = true
		return false
	}
	in := lines.NewReader(ctx, f.name, r, f.report)
	if f.values >= Sets || f.format.ValueField == "" || f.isOfAnyKind {
		in.AllowLines(bounds.ValueLine)
	}
	if f.format.Kind == measure.CSV {
		f.readCSV(in, counted)
	} else {
		f.readJSONL(in, counted)
	}
	if err := cmp.Or(in.Err(), f.counter.Err()); err != nil {
		return err
	}
	f.unread = f.unread || f.report.Full() || f.report.Errors()-errorsBefore > f.identified
	f.outside.report(f)
	if examples == 0 && len(f.report.Diagnostics()) == before {
		f.errorf(0, "the file is empty or has no examples; expected one for each line, with the fields %q and %q", f.format.IDField,
			f.format.ValueField)
	}
	return nil
}

func (f *file) errorf(line int, format string, args ...any) {
	f.report.Errorf(f.name, line, format, args...)
}

// setID checks the text of an id.
func (f *file) setID(e *example, text []byte) bool {
	e.id = text
	return f.bounded(e.line, f.format.IDField, text, bounds.Name)
}

// setValue checks the text of a label or number.
func (f *file) setValue(e *example, text []byte) {
	if f.values == Arrays {
		e.label, e.sound = text, true
		return
	}
	if f.values >= References {
		f.setTexts(e, text)
		return
	}
	if !f.bounded(e.line, f.format.ValueField, text, bounds.Name) {
		return
	}
	switch f.values {
	case Numbers:
		e.number, e.sound = f.number(e.line, nil, text)
	case Scores, Probabilities:
		e.number, e.sound = f.number(e.line, nil, text)
		if e.sound { // one score for all labels
			f.scores = append(f.scores[:0], e.number)
			e.scores = f.scores
		}
	default:
		e.label, e.sound = text, true
	}
}

func (f *file) bounded(line int, field string, text []byte, limit int) bool {
	switch {
	case len(text) == 0 && limit == bounds.Name:
		f.errorf(line, "%q is empty; expected a value", field)
	case len(text) > limit:
		f.errorf(line, "%q has %d bytes (%s); expected at most %d", field, len(text), fields.Quote(text), limit)
	default:
		return true
	}
	return false
}

// readCSV reads a header and one record for each example.
func (f *file) readCSV(in *lines.Reader, add func(example) bool) {
	certain := fieldsOf(f.format)
	if f.hasScores() {
		certain = certain[:1] // whether there is one column of scores or several depends on the header
	}
	records := fields.NewRecords(in, f.errorf, certain...)
	_, header := records.Header()
	if header == nil {
		return
	}
	columns, classes, ok := f.findColumns(records, header)
	if !ok {
		return
	}
	textColumn := -1
	if f.values == Arrays {
		textColumn = slices.Index(header, TextField)
	}
	hasText := func(field []byte) bool { return len(field) > 0 }
	for line, record := range records.All() {
		errorsBefore := f.report.Errors()
		if len(record) > 1 && !slices.ContainsFunc(record, hasText) {
			f.errorf(line, "the line has only separators, as spreadsheets write an empty row: leave it out")
			f.identified++ // no id is in the line
			continue
		}
		e := example{line: line}
		if textColumn >= 0 {
			e.text = record[textColumn]
		}
		switch {
		case classes != nil:
			f.setRow(&e, record, columns[0], classes)
		case len(columns) > 1 && f.values == Sets:
			f.splitLabels(&e, record[columns[1]])
		case len(columns) > 1:
			f.setValue(&e, record[columns[1]])
		}
		if !f.setID(&e, record[columns[0]]) {
			continue
		}
		if !add(e) {
			return
		}
		f.identified += f.report.Errors() - errorsBefore
	}
}

// hasScores reports whether values are scores, which csv has in one column or in a column for each class.
func (f *file) hasScores() bool { return f.values == Scores || f.values == Probabilities }

// findColumns returns the indexes of the id and of the value in the header. For scores in several columns it returns only the index of the
// id, and their classes. It reports what the header lacks, and then returns false.
func (f *file) findColumns(records *fields.Records, header []string) (columns []int, classes [][]byte, ok bool) {
	wanted := fieldsOf(f.format)
	scored := f.hasScores() && !slices.Contains(header, f.format.ValueField)
	if scored {
		wanted = wanted[:1]
		f.columns = len(header) - 1
	}
	if scored && slices.Contains(header, f.format.IDField) {
		classes = f.classes(header)
		if classes == nil {
			return nil, nil, false
		}
	}
	isMissing := func(name string) bool { return !slices.Contains(header, name) }
	if slices.ContainsFunc(wanted, isMissing) && records.RefuseShape() {
		return nil, nil, false
	}
	columns = lists.Map(wanted, func(name string) int { return f.column(header, name) })
	return columns, classes, !slices.Contains(columns, -1)
}

// column returns the index of a field in the header. It reports a field that is missing or not unique, and returns -1.
func (f *file) column(header []string, field string) int {
	at := slices.Index(header, field)
	switch {
	case at < 0:
		f.errorf(1, "the first line names no field %q; it has %s, and fields are separated by commas, tabs or semicolons%s", field,
			fields.JoinFirst(header, len(header)), f.unnamed(header, field))
	case slices.Contains(header[at+1:], field):
		f.errorf(1, "the first line names the field %q twice; expected it once", field)
		return -1
	}
	return at
}

// unnamed returns a clause about the likely cause of a missing field in the header, which begins with a semicolon, or "".
func (f *file) unnamed(header []string, field string) string {
	isWanted := func(name string) bool {
		return slices.ContainsFunc(fieldsOf(f.format), func(wanted string) bool { return strings.EqualFold(strings.TrimSpace(name), wanted) })
	}
	switch spelling := fields.OtherSpelling(header, field); {
	case spelling != "":
		return spelling
	case header[0] == "" && field == f.format.IDField:
		others := ""
		if f.columns > 1 {
			others = ", and each other column like its label"
		}
		return fmt.Sprintf("; the first column has no name, as pandas writes an index: name it %q%s", field, others)
	case len(header) == 1 && slices.ContainsFunc(strings.Fields(header[0]), isWanted):
		return "; spaces separate no fields, so write a comma or a tab between them"
	case field == f.format.IDField && slices.Contains(header, f.format.ValueField):
		return missingID
	case !slices.ContainsFunc(header, isWanted):
		return "; if the first line is an item, write a line with the names of the fields before it"
	}
	return ""
}

// readJSONL reads one JSON object a line.
func (f *file) readJSONL(in *lines.Reader, add func(example) bool) {
	expected := "like " + f.sample()
	var id, value, text []byte
	member := func(key, raw []byte) (fault string) {
		var into *[]byte
		switch {
		case fields.Names(key, f.format.IDField):
			into = &id
		case fields.Names(key, f.format.ValueField):
			into = &value
		case f.values == Arrays && fields.Names(key, TextField):
			into = &text
		default:
			return ""
		}
		if *into != nil {
			return fmt.Sprintf("the object has %s twice; expected it once", key)
		}
		*into = raw
		return ""
	}
	for in.Scan() {
		id, value = nil, nil
		text = nil
		errorsBefore := f.report.Errors()
		e := example{line: in.Number()}
		found, fault := fields.Object(in.Text(), expected, member)
		if e.line == 1 && (fault != "" || !readable(id, value)) && f.refuseShape(in) {
			return
		}
		if fault != "" {
			f.errorf(e.line, "%s%s", fault, separatedHint(in.Text()))
		}
		if !found {
			continue
		}
		if len(text) > 0 && text[0] == '"' {
			e.text, _ = fields.Text(TextField, text, valueKinds[Texts])
		}
		idText, idSound := f.member(in, f.format.IDField, id, idKinds)
		if f.format.ValueField != "" {
			f.setMember(in, &e, value)
		}
		if !idSound || !f.setID(&e, idText) {
			continue
		}
		if !add(e) {
			return
		}
		f.identified += f.report.Errors() - errorsBefore
	}
}

// refuseShape reports that the file has a known shape that is no JSON lines. It returns false for other files.
func (f *file) refuseShape(in *lines.Reader) bool {
	found := fields.ShapeOf(in.Head(), fields.Expected{Kind: measure.JSONL, Names: fieldsOf(f.format), Sample: f.sample()})
	if found.Fault != "" {
		f.errorf(0, "%s", found.Fault)
	}
	return found.Fault != ""
}

// readable reports whether the raw values of an object can be an id and its value.
func readable(id, value []byte) bool {
	return len(id) > 0 && len(value) > 0 && id[0] != '{'
}

// setMember reads the value of an example from its raw value.
func (f *file) setMember(in *lines.Reader, e *example, value []byte) {
	switch text, sound := f.member(in, f.format.ValueField, value, valueKinds[f.values]); {
	case sound && value[0] == '{':
		f.setScores(e, value)
	case sound && f.values == Sets:
		f.setLabels(e, value)
	case sound && value[0] == '[' && f.values == References:
		f.setArray(e, value)
	case sound:
		f.setValue(e, text)
	}
}

// The kinds of JSON values that the IDField and the ValueField may have.
var (
	idKinds    = []string{"string", "number"}
	labelKinds = []string{"string", "number", "true", "false"}
	valueKinds = [...][]string{Labels: labelKinds, Clusters: labelKinds, Numbers: {"number"}, Sets: {"array"}, Classes: labelKinds,
		Scores: {"number", "object"}, Probabilities: {"number", "object"}, References: {"string", "array"},
		Texts: {"string"}, Arrays: {"array"}}
)

// member returns the text of the raw value of a member of the current line. It reports a member that is missing or of none of the kinds.
func (f *file) member(in *lines.Reader, field string, raw []byte, kinds []string) (text []byte, ok bool) {
	if raw == nil {
		names := fields.MemberNames(in.Text())
		hint := fields.OtherSpelling(names, field)
		if hint == "" && len(names) > 2 && !slices.Contains(names, f.format.IDField) && !slices.Contains(names, f.format.ValueField) {
			hint = "; if its members are ids, write an object for each id, on a line of its own"
		}
		if hint == "" && field == f.format.IDField && slices.Contains(names, f.format.ValueField) {
			hint = missingID
		}
		only := ""
		if len(names) > 0 {
			only = ", only " + fields.JoinFirst(names, len(names))
		}
		f.errorf(in.Number(), "the object has no %q%s; expected it in every line%s", field, only, hint)
		return nil, false
	}
	text, fault := fields.Text(field, raw, kinds)
	if fault != "" && raw[0] == '[' {
		fault += f.insteadOfArray(raw)
	}
	if fault != "" {
		f.errorf(in.Number(), "%s", fault)
	}
	return text, fault == ""
}

// insteadOfArray returns how to write an array in the place of one value, as a clause that begins with a semicolon.
func (f *file) insteadOfArray(raw []byte) string {
	if (f.values == Scores || f.values == Probabilities) && bytes.IndexByte(raw, ',') >= 0 {
		return `; an array does not say which label each score has: write an object with the score of each label, such as {"yes": 0.7, "no": 0.3}`
	}
	return "; each id has one value, so write it without brackets"
}

// content returns the text of a raw value within the ValueField. It reports a value of none of the kinds. what says which part of the field
// the value is, and ends with a space.
func (f *file) content(line int, what string, raw []byte, kinds []string) (text []byte, ok bool) {
	text, fault := fields.Text(f.format.ValueField, raw, kinds)
	if fault != "" && raw[0] == '[' {
		fault += "; write it without its brackets"
	}
	if fault != "" {
		f.errorf(line, "%s%s", what, fault)
	}
	return text, fault == ""
}
