package predictions

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"

	"assay/shared/measure/lines"
)

// readJSONL reads one JSON object a line. encoding/json checks each line in one pass without allocating; what is then
// known to be valid is walked for the two members, which is several times faster than decoding into a map.
func (f *file) readJSONL(in *lines.Reader, add func(example) bool) {
	for in.Scan() {
		text := bytes.Trim(in.Text(), space)
		if len(text) == 0 {
			continue
		}
		line := in.Number()
		if !json.Valid(text) {
			f.errorf(line, "%s", syntaxFault(text))
			continue
		}
		if text[0] != '{' {
			f.errorf(line, "the line is %s; expected an object like {%q: ..., %q: ...}", phrase(kindOf(text)), f.format.IDField, f.format.ValueField)
			continue
		}
		id, value, fault := f.members(text)
		if fault != "" {
			f.errorf(line, "%s", fault)
			continue
		}
		e := example{line: line}
		idText, idSound := f.content(line, f.format.IDField, id, []string{"string", "number"})
		valueText, valueSound := f.content(line, f.format.ValueField, value, f.kinds())
		if valueSound {
			f.setValue(&e, valueText)
		}
		if idSound && f.setID(&e, idText) && !add(e) {
			return
		}
	}
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
	rest := skipSpace(object[1:])
	for rest[0] != '}' {
		key := rest[:stringEnd(rest)]
		rest = skipSpace(rest[len(key):])
		rest = skipSpace(rest[1:]) // the colon
		member := rest[:valueEnd(rest)]
		rest = skipSpace(rest[len(member):])
		if rest[0] == ',' {
			rest = skipSpace(rest[1:])
		}
		var into *[]byte
		switch {
		case names(key, f.format.IDField):
			into = &id
		case names(key, f.format.ValueField):
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
	if kind := kindOf(raw); !slices.Contains(kinds, kind) {
		f.errorf(line, "%q is %s; expected a %s", field, phrase(kind), strings.Join(kinds, " or "))
		return nil, false
	}
	if raw[0] != '"' {
		return raw, true
	}
	if text, ok = unquoted(raw); !ok {
		f.errorf(line, "%q has an escape that stands for half a character or for a zero byte: %s; write the character itself", field, excerpt(raw))
	}
	return text, ok
}

// names says whether a key, in its quotes, is the name.
func names(key []byte, name string) bool {
	if inner := key[1 : len(key)-1]; bytes.IndexByte(inner, '\\') < 0 {
		return string(inner) == name
	}
	text, ok := unquoted(key)
	return ok && string(text) == name
}

// unquoted is the content of a valid JSON string. Half a surrogate pair is refused, since encoding/json would make
// every one of them the same replacement character, and so is the zero byte.
func unquoted(raw []byte) ([]byte, bool) {
	inner := raw[1 : len(raw)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return inner, true
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil || halvesSurrogates(inner) {
		return nil, false
	}
	return []byte(text), strings.IndexByte(text, 0) < 0
}

// halvesSurrogates says whether one of the escapes in a valid JSON string is half of a surrogate pair on its own.
func halvesSurrogates(inner []byte) bool {
	for i := 0; i < len(inner); i++ {
		if inner[i] != '\\' {
			continue
		}
		i++
		if inner[i] != 'u' {
			continue
		}
		unit := codeUnit(inner[i+1:])
		i += 4
		if !utf16.IsSurrogate(unit) {
			continue
		}
		if !bytes.HasPrefix(inner[i+1:], []byte(`\u`)) || utf16.DecodeRune(unit, codeUnit(inner[i+3:])) == unicode.ReplacementChar {
			return true
		}
		i += 6
	}
	return false
}

// codeUnit reads the four hexadecimal digits of an escape.
func codeUnit(digits []byte) rune {
	unit, _ := strconv.ParseUint(string(digits[:4]), 16, 16)
	return rune(unit)
}

// kindOf names the kind of a raw JSON value in one word.
func kindOf(raw []byte) string {
	switch raw[0] {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 'n', 't', 'f':
		return string(raw)
	}
	return "number"
}

// phrase puts a kind into a sentence.
func phrase(kind string) string {
	switch kind {
	case "object", "array":
		return "an " + kind
	case "string", "number":
		return "a " + kind
	}
	return kind
}

// syntaxFault tells where a line stops being JSON.
func syntaxFault(text []byte) string {
	var syntax *json.SyntaxError
	if err := json.Unmarshal(text, new(json.RawMessage)); errors.As(err, &syntax) {
		return fmt.Sprintf("the line is not a JSON object: %v, at byte %d; expected one whole object in each line", err, syntax.Offset)
	}
	return "the line is not a JSON object; expected one whole object in each line"
}

// space is what may stand between the tokens of JSON; a line has no line feed.
const space = " \t\r"

func skipSpace(text []byte) []byte {
	for len(text) > 0 && (text[0] == ' ' || text[0] == '\t' || text[0] == '\r') {
		text = text[1:]
	}
	return text
}

// stringEnd is the length of the string, quotes included, that valid JSON begins with.
func stringEnd(text []byte) int {
	for i := 1; ; i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
}

// valueEnd is the length of the value that valid JSON begins with.
func valueEnd(text []byte) int {
	switch text[0] {
	case '"':
		return stringEnd(text)
	case '{', '[':
		depth := 0
		for i := 0; ; i++ {
			switch text[i] {
			case '"':
				i += stringEnd(text[i:]) - 1
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
		}
	}
	return bytes.IndexAny(text, ",}"+space)
}
