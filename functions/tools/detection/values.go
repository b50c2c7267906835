package detection

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"assay/functions/tools/conversion"
	"assay/shared/computation/measure"
	"assay/shared/computation/measure/scoring"
)

// Values is a file with a value for the id of each example.
type Values struct {
	Format measure.Format // its Kind may also be json, one array of objects or one object with the value of each id
	names  []string       // of the fields
	usual  bool           // id and value have usual names
	pair   bool           // the fields are two, without arrays and objects
	marked bool           // the other columns have 1 or 0 for each label
}

// Has reports whether the file has the fields of a format. Scores of several labels are columns of csv, without the field of the value.
// Columns with 1 or 0 for each label are no format of an evaluator.
func (v Values) Has(kind measure.Kind, f measure.Format) bool {
	columns := kind == measure.Probabilities && f.Kind == measure.CSV
	return slices.Contains(v.names, f.IDField) && (columns || slices.Contains(v.names, f.ValueField))
}

// IsWhole reports whether the file has the fields of its own format. Others were named by default.
func (v Values) IsWhole(kind measure.Kind) bool {
	return v.names == nil || v.marked || v.Has(kind, v.Format)
}

// AreLike reports whether the fields equal the format's fields except for capitals, or have usual names. Of only two fields, it is enough
// if one of them equals its field of the format, because the other one can have no other meaning.
func (v Values) AreLike(f measure.Format) bool {
	id := strings.EqualFold(v.Format.IDField, f.IDField)
	value := strings.EqualFold(v.Format.ValueField, f.ValueField)
	return v.usual || id && value || v.pair && (id || value)
}

// ValuesOf recognizes a file of values for the kind of evaluator. ok is false for other files.
func ValuesOf(kind measure.Kind, file scoring.File) (v Values, ok bool, err error) {
	head, err := Head(file)
	if err != nil {
		return v, false, err
	}
	first, document := firstObject(head)
	if !document {
		if beginsObject.Match(head) && isDictionary(head) {
			format := measure.Format{Kind: string(conversion.JSON), IDField: "id", ValueField: valueFieldOf(kind)}
			return Values{Format: format, usual: true}, true, nil
		}
		first = head
	}
	record, ok := readFirst(first)
	if !ok || len(record.names) == 0 {
		return v, false, nil
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(first)), nil }
	guess, err := Of(kind, scoring.File{Name: file.Name, Open: open})
	if err != nil || !measure.HasFields(guess.Format.Kind) {
		return v, false, err
	}
	if document {
		guess.Format.Kind = string(conversion.JSON)
	}
	isUsualID := slices.ContainsFunc(idNames, func(usual string) bool { return strings.EqualFold(usual, guess.Format.IDField) })
	named := slices.Contains(record.names, guess.Format.ValueField)
	marked := kind == measure.Multilabel && !named && record.hasMarks(guess.Format.IDField)
	usual := isUsualID && isUsualName(guess.Format.ValueField)
	return Values{Format: guess.Format, names: record.names, usual: usual, pair: record.isPair(), marked: marked}, true, nil
}

// isPair reports whether the record has two fields, without arrays and objects.
func (f firstRecord) isPair() bool {
	for _, value := range f.values {
		switch value.(type) {
		case []any, map[string]any:
			return false
		}
	}
	return len(f.names) == 2
}

// firstObject returns the first object of a JSON array, on one line. document is false for other texts.
func firstObject(head []byte) (object []byte, document bool) {
	if !bytes.HasPrefix(head, []byte("[")) {
		return nil, false
	}
	d := json.NewDecoder(bytes.NewReader(head))
	var raw json.RawMessage
	var line bytes.Buffer
	if _, err := d.Token(); err != nil || d.Decode(&raw) != nil || json.Compact(&line, raw) != nil {
		return nil, false
	}
	return line.Bytes(), bytes.HasPrefix(line.Bytes(), []byte("{"))
}

// isDictionary reports whether a text is one object with the value of each id. It has several members, none of which has the name of an
// id. Two members are ids if both have digits in their names or lists as values; otherwise they may be an id and its value.
func isDictionary(head []byte) bool {
	var members map[string]json.RawMessage
	if json.Unmarshal(head, &members) != nil || len(members) < 2 {
		return false
	}
	if members["data"] != nil && (members["columns"] != nil || members["schema"] != nil) {
		return false // a table of pandas
	}
	isPair := len(members) == 2
	for name, value := range members {
		if isPair && (isUsualName(name) || !bytes.HasPrefix(value, []byte("[")) && !strings.ContainsAny(name, "0123456789")) {
			return false
		}
		if slices.ContainsFunc(idNames, func(usual string) bool { return strings.EqualFold(usual, name) }) {
			return false
		}
	}
	return true
}
