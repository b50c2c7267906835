package predictions

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"assay/shared/computation/measure/fields"
)

// separatedHint returns a clause about a line that is probably one of CSV and not of JSON lines, or "". Spans are not converted.
func separatedHint(line []byte, values Values) string {
	text := bytes.TrimSpace(line)
	if len(text) == 0 || text[0] == '{' || text[0] == '[' {
		return ""
	}
	for _, separator := range []byte{',', ';', '\t'} {
		if first, _, found := bytes.Cut(text, []byte{separator}); found && len(bytes.Fields(first)) == 1 {
			hint := "; it looks like CSV: write the file as JSON lines, with such an object in each line"
			if values == Arrays {
				return hint
			}
			return hint + ", or convert it with assay convert"
		}
	}
	return ""
}

// asRecords is the advice about a table that pandas wrote in a form other than one object for each line.
const asRecords = `; write it with to_json(orient="records", lines=True)`

// pandasForm returns the fault of a line that is a whole table as pandas writes it, or "". names are the names of the fields to read.
//
//	columns  {"id":{"0":"a","1":"b"},"label":{"0":"x","1":"y"}}, its default
//	split    {"columns":["id","label"],"index":[0,1],"data":[["a","x"],["b","y"]]}
//	table    {"schema":{},"data":[{"index":0,"id":"a","label":"x"}]}
//	index    {"0":{"id":"a","label":"x"},"1":{"id":"b","label":"y"}}
func pandasForm(line []byte, names []string) string {
	members := map[string]json.RawMessage{}
	if json.Unmarshal(line, &members) != nil {
		return ""
	}
	kindOf := func(name string) string { return string(members[name][:min(1, len(members[name]))]) }
	var form string
	switch {
	case kindOf("columns") == "[" && kindOf("data") == "[":
		form = "split"
	case kindOf("schema") == "{" && kindOf("data") == "[":
		form = "table"
	case !slices.ContainsFunc(names, func(name string) bool { return kindOf(name) != "{" }):
		form = "columns"
	case len(members) > 0 && areRows(members, names):
		form = "index"
	default:
		return ""
	}
	return fmt.Sprintf("the line is a whole table in the form %q of pandas; expected an object for each id%s", form, asRecords)
}

// areRows reports whether all members are objects with the fields.
func areRows(members map[string]json.RawMessage, names []string) bool {
	for _, row := range members {
		found := fields.MemberNames(row)
		if slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(found, name) }) {
			return false
		}
	}
	return true
}

// sample returns an object of the file for messages.
func (f *file) sample() string {
	value := "..."
	if f.values == Arrays {
		value = `[{"start": 0, "end": 4, "type": "PER"}]`
	}
	members := []string{fmt.Sprintf("%q: ...", f.format.IDField)}
	if f.format.ValueField != "" {
		members = append(members, fmt.Sprintf("%q: %s", f.format.ValueField, value))
	}
	return "{" + strings.Join(members, ", ") + "}"
}
