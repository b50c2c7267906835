package predictions

import (
	"fmt"

	"assay/shared/measure/fields"
	"assay/shared/measure/lines"
)

// readJSONL reads one JSON object a line. encoding/json checks each line in one pass without allocating; what is then
// known to be valid is walked for the two members, which is several times faster than decoding into a map.
func (f *file) readJSONL(in *lines.Reader, add func(example) bool) {
	expected := fmt.Sprintf("like {%q: ..., %q: ...}", f.format.IDField, f.format.ValueField)
	for in.Scan() {
		e := example{line: in.Number()}
		object, fault := fields.Object(in.Text(), expected)
		var id, value []byte
		if object != nil {
			id, value, fault = f.members(object)
		}
		if fault != "" {
			f.errorf(e.line, "%s", fault)
		}
		if fault != "" || object == nil {
			continue
		}
		idText, idSound := f.content(e.line, f.format.IDField, id, idKinds)
		if f.format.ValueField != "" {
			if valueText, sound := f.content(e.line, f.format.ValueField, value, valueKinds[f.values]); sound {
				f.setValue(&e, valueText)
			}
		}
		if idSound && f.setID(&e, idText) && !add(e) {
			return
		}
	}
}

// The JSON values that the IDField and the ValueField may have.
var (
	idKinds    = []string{"string", "number"}
	valueKinds = [...][]string{Labels: {"string", "number", "true", "false"}, Numbers: {"number"}}
)

// members returns the raw values of the two fields in a valid object; nil for one that is not there.
func (f *file) members(object []byte) (id, value []byte, fault string) {
	for key, member := range fields.Members(object) {
		var into *[]byte
		switch {
		case fields.Names(key, f.format.IDField):
			into = &id
		case fields.Names(key, f.format.ValueField):
			into = &value
		default:
			continue
		}
		if *into != nil {
			return nil, nil, fmt.Sprintf("the object has %s twice; expected it once", key)
		}
		*into = member
	}
	return id, value, ""
}

// content returns the text that a raw value stands for, and reports one that is not there or not of the kinds.
func (f *file) content(line int, field string, raw []byte, kinds []string) (text []byte, ok bool) {
	var fault string
	if raw == nil {
		fault = fmt.Sprintf("the object has no %q; expected it in every line", field)
	} else {
		text, fault = fields.Text(field, raw, kinds)
	}
	if fault != "" {
		f.errorf(line, "%s", fault)
	}
	return text, fault == ""
}
