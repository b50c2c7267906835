package conversion

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/fields"

	"github.com/go-json-experiment/json/jsontext"
)

// scalars lists the kinds of JSON values that stand for one text.
var scalars = []string{"string", "number", "true", "false"}

// valueKinds lists the kinds of JSON values that an evaluator can read. Scores of labels are an object, and the label of a truth is a text.
var valueKinds = map[measure.Kind][]string{
	measure.Multilabel:    {"array"},
	measure.Probabilities: append([]string{"object"}, scalars...),
	measure.Regression:    {"number", "string"}, // a string with a number
	measure.Text:          {"string", "array"},
}

// valueFault says why an evaluator cannot read a value, or returns an empty text.
func (v Values) valueFault(value []byte) string {
	name := v.From.ValueField
	kinds := valueKinds[v.Kind]
	if kinds == nil {
		kinds = scalars
	}
	text, fault := fields.Text(name, value, kinds)
	switch {
	case fault != "" && value[0] == '[' && !slices.Contains(kinds, "array"):
		return fmt.Sprintf("the value is a list; expected one %s for each id. If the lists have the ids, write a line for each id",
			measure.EvaluatorOf(v.Kind).ValueField)
	case fault != "":
		return fault
	case v.Kind == measure.Regression:
		if _, number := fields.ParseScore(text); !number {
			return fmt.Sprintf("%q is %s; expected a number, which regression needs%s", name, fields.Quote(text), fields.NumberHint(text))
		}
	case value[0] == '[':
		return v.elementFault(value)
	case value[0] == '{':
		for key, score := range fields.Members(value) {
			if _, number := fields.ParseScore(bytes.Trim(score, `"`)); !number {
				return fmt.Sprintf("the score of the label %s is %s; expected a number", key, fields.Quote(score))
			}
		}
	}
	return ""
}

// elementFault says why an element of an array is no label or text, or returns an empty text.
func (v Values) elementFault(array []byte) string {
	kinds := scalars
	if v.Kind == measure.Text {
		kinds = scalars[:1]
	}
	for element := range fields.Elements(oneLine(array)) {
		text, fault := fields.Text(v.From.ValueField, element, kinds)
		if fault != "" {
			return "an element of " + fault
		}
		if v.Kind == measure.Multilabel && isPrintedList(text) {
			return fmt.Sprintf("the value %s is a list as Python prints it; join its labels with %s, or write it with json.dumps",
				fields.Quote(text), v.separator())
		}
	}
	return ""
}

// isPrintedList reports whether a label begins and ends like a printed list, set or tuple of labels.
func isPrintedList(label []byte) bool {
	if len(label) < 2 {
		return false
	}
	quotes := label[1] == '\'' || label[1] == '"'
	switch string(label[:1]) + string(label[len(label)-1:]) {
	case "[]":
		return true
	case "{}", "()":
		return quotes
	}
	return false
}

// oneLine returns a JSON value without line ends, which a line of jsonl cannot have.
func oneLine(value []byte) []byte {
	if bytes.IndexByte(value, '\n') < 0 {
		return value
	}
	var line bytes.Buffer
	if json.Compact(&line, value) != nil {
		return value
	}
	return line.Bytes()
}

// typed returns a value on one line, with numbers in the place of their texts if the evaluator needs numbers.
func (v Values) typed(value []byte) []byte {
	if !v.needsNumbers() || value[0] != '"' {
		return oneLine(value)
	}
	text := value[1 : len(value)-1]
	x, number := fields.ParseScore(text)
	switch {
	case !number:
		return value
	case json.Valid(text):
		return text
	}
	return strconv.AppendFloat(nil, x, 'g', -1, 64)
}

// labels returns the JSON array of the labels in a text.
func (v Values) labels(text []byte) []byte {
	if bytes.HasPrefix(text, []byte("[")) && json.Valid(text) {
		return oneLine(text)
	}
	var labels []string
	if len(text) > 0 {
		for label := range bytes.SplitSeq(text, []byte(v.separator())) {
			labels = append(labels, string(quotedJSON(label)))
		}
	}
	return []byte("[" + strings.Join(labels, ",") + "]")
}

// columns reads the fields of a record that are columns of labels. id is the field of the id. The fault is empty if the record has none.
func (c *valueConverter) columns(header []string, record [][]byte, id int) (raw []byte, fault string) {
	var list []string
	for i, text := range record {
		name := quotedJSON([]byte(header[i]))
		has, ok := marked(text)
		switch {
		case i == id:
		case c.Kind == measure.Probabilities:
			list = append(list, fmt.Sprintf("%s:%s", name, c.fromText(text)))
		case !ok:
			return nil, fmt.Sprintf("the column %s has %s; expected 1 or 0 in the column of each label, or one column %q with all labels", name,
				fields.Quote(text), c.From.ValueField)
		case has:
			list = append(list, string(name))
		}
	}
	if c.Kind == measure.Probabilities {
		return []byte("{" + strings.Join(list, ",") + "}"), ""
	}
	return []byte("[" + strings.Join(list, ",") + "]"), ""
}

// marked reports whether a field in the column of a label says that an example has the label. ok is false for other texts.
func marked(text []byte) (has, ok bool) {
	switch string(bytes.ToLower(text)) {
	case "1", "1.0", "true":
		return true, true
	case "0", "0.0", "false":
		return false, true
	}
	return false, false
}

// AreMarks reports whether the fields of a record, without its id, are columns of labels with 1 and 0.
func AreMarks(values []string) bool {
	return len(values) > 1 && !slices.ContainsFunc(values, func(text string) bool {
		_, ok := marked([]byte(text))
		return !ok
	})
}

// warnLeftOut warns, once for each file, that fields are left out. Columns without a name are an index.
func (c *valueConverter) warnLeftOut(line int, names ...string) {
	names = slices.DeleteFunc(names, func(name string) bool { return name == "" || name == c.From.IDField || name == c.From.ValueField })
	if c.extra || len(names) == 0 {
		return
	}
	c.extra = true
	c.report.Warnf(c.file, line, "the file has other fields, which are left out: %s; only %q and %q are converted",
		fields.JoinFirst(names, len(names)), c.From.IDField, c.From.ValueField)
}

// member stores a member of an object of jsonl or json.
func (c *valueConverter) member(line int, key, raw []byte, id, value *[]byte) {
	switch {
	case fields.Names(key, c.From.IDField):
		*id = raw
	case fields.Names(key, c.From.ValueField):
		*value = raw
	default:
		if name, err := jsontext.AppendUnquote(nil, key); err == nil {
			c.warnLeftOut(line, string(name))
		}
	}
}
