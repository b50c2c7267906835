package predictions

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"assay/shared/measure/fields"
	"assay/shared/measure/lines"
)

// readJSONL reads one JSON object a line. encoding/json checks each line in one pass without allocating; what is then
// known to be valid is walked for the two members, which is several times faster than decoding into a map.
func (f *file) readJSONL(in *lines.Reader, add func(example) bool) {
	for in.Scan() {
		line := in.Number()
		object, fault := f.object(in.Text())
		var id, value []byte
		if object != nil {
			id, value, fault = f.members(object)
		}
		if fault != "" {
			f.errorf(line, "%s", fault)
		}
		if fault != "" || object == nil {
			continue
		}
		e := example{line: line}
		idText, idSound := f.content(line, f.format.IDField, id, idKinds)
		valueText, valueSound := f.content(line, f.format.ValueField, value, f.kinds())
		if valueSound {
			f.setValue(&e, valueText)
		}
		if idSound && f.setID(&e, idText) && !add(e) {
			return
		}
	}
}

// idKinds are the JSON values that the IDField may have.
var idKinds = []string{"string", "number"}

// object returns the object that a line is; nil for a blank line, and for one that is none, with its fault.
func (f *file) object(line []byte) (object []byte, fault string) {
	text := bytes.Trim(line, fields.JSONSpace)
	switch {
	case len(text) == 0:
		return nil, ""
	case !json.Valid(text):
		return nil, fields.JSONFault(text)
	case text[0] != '{':
		return nil, fmt.Sprintf("the line is %s; expected an object like {%q: ..., %q: ...}", fields.Phrase(fields.JSONKind(text)), f.format.IDField, f.format.ValueField)
	}
	return text, ""
}

// kinds are the JSON values that the ValueField may have.
func (f *file) kinds() []string {
	if f.values == Numbers {
		return []string{"number"}
	}
	return []string{"string", "number", "true", "false"}
}

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
			return nil, nil, fmt.Sprintf("the object has %s twice; expected it once", excerpt(key))
		}
		*into = member
	}
	return id, value, ""
}

// content returns the text that a raw value stands for, and reports one that is not of the kinds.
func (f *file) content(line int, field string, raw []byte, kinds []string) (text []byte, ok bool) {
	if raw == nil {
		f.errorf(line, "the object has no %q; expected it in every line", field)
		return nil, false
	}
	if kind := fields.JSONKind(raw); !slices.Contains(kinds, kind) {
		f.errorf(line, "%q is %s; expected a %s", field, fields.Phrase(kind), strings.Join(kinds, " or "))
		return nil, false
	}
	if raw[0] != '"' {
		return raw, true
	}
	if text, ok = fields.Unquoted(raw); !ok {
		f.errorf(line, "%q has an escape that stands for half a character or for a zero byte: %s; write the character itself", field, excerpt(raw))
	}
	return text, ok
}
