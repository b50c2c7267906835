package conversion

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/fields"
	"assay/shared/computation/measure/lines"
	"assay/shared/computation/measure/steps"
	"assay/shared/language/plural"

	"github.com/go-json-experiment/json/jsontext"
)

// Values converts files that have a value for the id of each example, such as labels, numbers or texts.
//
//	csv    id,label        named by the first line, separated by commas, tabs or semicolons
//	jsonl  {"id":"1","label":"a"}
//	json   [{"id":"1","label":"a"}] or {"1":"a"}, which is only read
//
// In csv, labels of multilabel have a separator between them, or a column for each label with 1 and 0. Scores of several labels are
// columns. In jsonl they are an array and an object. Values that the kind cannot have are faults, and other fields are left out with a
// warning.
type Values struct {
	Kind measure.Kind // of the evaluator
	From measure.Format
	To   measure.Format
}

// The formats of values.
var (
	ValueSources = []Format{CSV, JSONL, JSON}
	ValueFormats = []Format{CSV, JSONL}
)

// Convert converts files like Kind.Convert.
func (v Values) Convert(ctx context.Context, w io.Writer, files ...measure.File) ([]measure.Diagnostic, error) {
	report := &measure.Report{}
	c := &valueConverter{Values: v, counter: steps.Of(ctx), w: bufio.NewWriterSize(w, 64<<10)}
	c.rows = csv.NewWriter(c.w)
	for _, f := range files {
		c.reader = &reader{kind: Runs, file: f.Name, report: report} // only for faults and for JSON files
		var err error
		switch Format(v.From.Kind) {
		case JSON:
			err = c.readJSON(ctx, f.Content)
		case CSV:
			in := lines.NewReader(ctx, f.Name, f.Content, report)
			c.readCSV(in)
			err = in.Err()
		default:
			in := lines.NewReader(ctx, f.Name, f.Content, report)
			c.readJSONL(in)
			err = in.Err()
		}
		if failed := cmp.Or(err, c.err); failed != nil {
			return nil, failed
		}
		if c.lines == 0 && !report.Failed() {
			report.Errorf(f.Name, 0, "the file is empty or has no examples")
		}
	}
	c.rows.Flush()
	return report.Diagnostics(), cmp.Or(c.err, c.rows.Error(), c.w.Flush())
}

// valueConverter is the state of a conversion.
type valueConverter struct {
	Values
	*reader
	counter *steps.Counter
	w       *bufio.Writer
	rows    *csv.Writer
	begun   bool     // the header of csv is written
	names   []string // of its columns after the id
	err     error
}

// readCSV reads a header and records.
func (c *valueConverter) readCSV(in *lines.Reader) {
	in.AllowLines(fields.MaxRecord)
	records := fields.NewRecords(in, c.errorf, c.From.IDField)
	line, header := records.Header()
	if header == nil {
		return
	}
	id := slices.Index(header, c.From.IDField)
	value := slices.Index(header, c.From.ValueField)
	inColumns := c.Kind == measure.Probabilities || c.Kind == measure.Multilabel && len(header) > 2
	if id < 0 || value < 0 && !inColumns {
		if records.RefuseShape() {
			return
		}
		hint := ""
		if id < 0 && value < 0 {
			hint = "; if the first line is an item, write a line with the names of the fields before it"
		}
		c.errorf(line, "the first line names no field %q or %q; it has %s%s", c.From.IDField, c.From.ValueField,
			fields.JoinFirst(header, len(header)), hint)
		return
	}
	c.decimalComma = records.Separator() != ','
	if value >= 0 {
		c.warnLeftOut(line, slices.Clone(header)...)
	}
	names := len(strings.Join(header, ""))
	for line, record := range records.All() {
		var raw []byte
		fault := ""
		if value >= 0 {
			raw = c.fromText(record[value])
		} else if c.err = c.counter.Add(names); c.err == nil { // the value has the names of the columns
			raw, fault = c.columns(header, record, id)
		}
		if c.err != nil {
			return
		}
		if fault != "" {
			c.errorf(line, "%s", fault)
		} else if !c.write(line, quotedJSON(record[id]), raw) {
			return
		}
	}
}

// fromText returns the JSON value of a field of csv.
func (c *valueConverter) fromText(text []byte) []byte {
	switch {
	case c.needsNumbers():
		if c.decimalComma {
			text = bytes.Replace(text, []byte{','}, []byte{'.'}, 1)
		}
		if _, number := fields.ParseScore(text); number && json.Valid(text) {
			return text
		}
	case c.Kind == measure.Multilabel:
		return c.labels(text)
	}
	return quotedJSON(text)
}

// separator returns the text between the labels of a field.
func (v Values) separator() string { return cmp.Or(v.From.Separator, measure.DefaultSeparator) }

// needsNumbers reports whether the values are numbers.
func (v Values) needsNumbers() bool {
	return v.Kind == measure.Regression || v.Kind == measure.Probabilities
}

func quotedJSON(text []byte) []byte {
	raw, _ := jsontext.AppendQuote(nil, text) // the reader refused text that is not UTF-8
	return raw
}

// readJSONL reads an object from each line.
func (c *valueConverter) readJSONL(in *lines.Reader) {
	in.AllowLines(fields.MaxRecord)
	for in.Scan() {
		var id, value []byte
		found, fault := fields.Object(in.Text(), fmt.Sprintf("with %q and %q", c.From.IDField, c.From.ValueField), func(key, raw []byte) string {
			c.member(in.Number(), key, raw, &id, &value)
			return ""
		})
		if in.Number() == 1 && (fault != "" || len(id) == 0 || id[0] == '{') {
			shape := fields.ShapeOf(in.Head(), fields.Expected{Kind: measure.JSONL, Names: []string{c.From.IDField, c.From.ValueField}})
			if shape.Fault != "" {
				c.errorf(0, "%s", shape.Fault)
				return
			}
		}
		switch {
		case fault != "":
			c.errorf(in.Number(), "%s", fault)
		case found && !c.write(in.Number(), id, value):
			return
		}
	}
}

// readJSON reads a file that is one array of objects, or one object with the value of each id.
func (c *valueConverter) readJSON(ctx context.Context, packed io.Reader) error {
	return c.readDocument(ctx, packed, func(d *jsontext.Decoder) error {
		array := d.PeekKind() == '['
		if _, err := d.ReadToken(); err != nil {
			return err
		}
		for n := 1; d.PeekKind() != ']' && d.PeekKind() != '}'; n++ {
			c.where = fmt.Sprintf("value %d of the file: ", n)
			raw, err := d.ReadValue()
			if err != nil {
				return err
			}
			id, value := []byte(raw.Clone()), []byte(nil)
			if !array {
				if value, err = d.ReadValue(); err != nil {
					return err
				}
			} else if raw.Kind() == '{' {
				id = nil
				for key, member := range fields.Members(bytes.ReplaceAll(raw.Clone(), []byte{'\n'}, []byte{' '})) {
					c.member(0, key, member, &id, &value)
				}
			}
			if !c.write(0, id, value) {
				return c.err
			}
		}
		return c.end(d)
	})
}

// write writes an example with the raw values of its members. It returns false if reading should stop.
func (c *valueConverter) write(line int, id, value []byte) bool {
	c.lines++
	if c.err = c.counter.Add(perValue + len(id) + len(value)); c.err != nil {
		return false
	}
	var texts []string
	for _, m := range []struct {
		name  string
		raw   []byte
		kinds []string
	}{{c.From.IDField, id, []string{"string", "number"}}, {c.From.ValueField, value, append(slices.Clone(scalars), "array", "object")}} {
		if m.raw == nil {
			c.errorf(line, "the object has no %q; expected it in every line", m.name)
			return !c.report.Full()
		}
		text, fault := fields.Text(m.name, m.raw, m.kinds)
		if fault != "" {
			c.errorf(line, "%s", fault)
			return !c.report.Full()
		}
		texts = append(texts, string(text))
	}
	if c.Kind == measure.Multilabel && value[0] == '"' {
		value = c.labels([]byte(texts[1]))
	}
	if fault := c.valueFault(value); fault != "" {
		c.errorf(line, "%s", fault)
	}
	if c.report.Failed() {
		return !c.report.Full()
	}
	if Format(c.To.Kind) == JSONL {
		_, c.err = fmt.Fprintf(c.w, "{%s:%s,%s:%s}\n", quotedJSON([]byte(c.To.IDField)), id, quotedJSON([]byte(c.To.ValueField)), c.typed(value))
		return c.err == nil
	}
	return c.writeRow(line, texts[0], texts[1], value)
}

// writeRow writes an example to csv. value is the raw value of text. The first example decides the columns.
func (c *valueConverter) writeRow(line int, id, text string, value []byte) bool {
	value = oneLine(value)
	names := []string{c.To.ValueField}
	row := map[string]string{c.To.ValueField: text}
	fault := ""
	switch value[0] {
	case '[':
		row[c.To.ValueField], fault = c.joined(value)
	case '{':
		names, row = scoresOf(value)
	}
	if !c.begun {
		c.begun = true
		c.names = names
		c.err = c.rows.Write(append([]string{c.To.IDField}, names...))
	}
	isMissing := func(name string) bool {
		_, ok := row[name]
		return !ok
	}
	if fault == "" && (len(row) != len(c.names) || slices.ContainsFunc(c.names, isMissing)) {
		fault = fmt.Sprintf("%q has values for %s; expected the same as in the first example: %s", c.From.ValueField,
			fields.JoinFirst(names, len(names)), fields.JoinFirst(c.names, len(c.names)))
	}
	if fault != "" {
		c.errorf(line, "%s", fault)
		return !c.report.Full()
	}
	record := []string{id}
	for _, name := range c.names {
		record = append(record, row[name])
	}
	c.err = cmp.Or(c.err, c.rows.Write(record))
	return c.err == nil
}

// joined returns the labels of an array in the form of csv.
func (c *valueConverter) joined(array []byte) (text, fault string) {
	separator := cmp.Or(c.To.Separator, measure.DefaultSeparator)
	var labels []string
	for element := range fields.Elements(array) {
		label, fault := fields.Text(c.From.ValueField, element, []string{"string", "number", "true", "false"})
		if fault != "" {
			return "", "an element of " + fault
		}
		if c.Kind == measure.Multilabel && bytes.Contains(label, []byte(separator)) {
			return "", fmt.Sprintf("the label %s has %q, which separates labels in csv; write jsonl instead", fields.Quote(label), separator)
		}
		labels = append(labels, string(label))
	}
	if c.Kind != measure.Multilabel && len(labels) > 1 {
		return "", fmt.Sprintf("%q has %s, and csv has one for each example", c.From.ValueField, plural.Count(len(labels), "value"))
	}
	return strings.Join(labels, separator), ""
}

// scoresOf returns the labels of an object of scores, in its order, and their scores.
func scoresOf(object []byte) (labels []string, scores map[string]string) {
	scores = map[string]string{}
	for key, raw := range fields.Members(object) {
		label, _ := fields.Text("", key, []string{"string"})
		scores[string(label)] = string(raw)
		labels = append(labels, string(label))
	}
	return labels, scores
}
