package fields

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode"
)

// Members goes through the keys, in their quotes, and the raw values of the JSON object that a line begins with, without looking
// into the values, which is several times faster than decoding into a map. It is for what json.Valid, which does not allocate
// either, has accepted; of other lines the last key is nil where what follows is not another member of an object.
func Members(object []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		rest := object
		if bytes.HasPrefix(skipSpace(rest[1:]), []byte{'}'}) {
			return
		}
		for {
			rest = skipSpace(rest[1:]) // after the brace or a comma
			key := rest[:stringEnd(rest)]
			if rest = skipSpace(rest[len(key):]); len(rest) == 0 || rest[0] != ':' {
				yield(nil, nil)
				return
			}
			rest = skipSpace(rest[1:])
			value := rest[:valueEnd(rest)]
			rest = skipSpace(rest[len(value):])
			if len(key) == 0 || len(value) == 0 || len(rest) == 0 || rest[0] != ',' && rest[0] != '}' {
				yield(nil, nil)
				return
			}
			if !yield(key, value) || rest[0] == '}' {
				return
			}
		}
	}
}

// Elements goes through the raw values of a JSON array that json.Valid has accepted.
func Elements(array []byte) iter.Seq[[]byte] {
	return func(yield func(value []byte) bool) {
		for rest := skipSpace(array[1:]); rest[0] != ']'; {
			value := rest[:valueEnd(rest)]
			if !yield(value) {
				return
			}
			if rest = skipSpace(rest[len(value):]); rest[0] == ',' {
				rest = skipSpace(rest[1:])
			}
		}
	}
}

// Names says whether a key, in its quotes, is the name.
func Names(key []byte, name string) bool {
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
	if err := json.Unmarshal(raw, &text); err != nil || halvesSurrogates(inner, text) {
		return nil, false
	}
	return []byte(text), strings.IndexByte(text, 0) < 0
}

// halvesSurrogates says whether an escape in a valid JSON string is half of a surrogate pair on its own: the decoded text then has a
// replacement character which the string does not write.
func halvesSurrogates(inner []byte, text string) bool {
	const replacement = string(unicode.ReplacementChar)
	escapes := bytes.ToLower(bytes.ReplaceAll(inner, []byte(`\\`), nil))
	return strings.Count(text, replacement) > bytes.Count(inner, []byte(replacement))+bytes.Count(escapes, []byte(`\ufffd`))
}

// jsonKind names the kind of a raw JSON value in one word.
func jsonKind(raw []byte) string {
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

// articles has those of kinds in a sentence; the other kinds are words of JSON.
var articles = map[string]string{"object": "an ", "array": "an ", "string": "a ", "number": "a "}

// phrase puts the kind of a raw JSON value into a sentence.
func phrase(raw []byte) string {
	kind := jsonKind(raw)
	return articles[kind] + kind
}

// Object returns the object that a line is; nil for a blank line, and for one that is none, with its fault.
func Object(line []byte, expected string) (object []byte, fault string) {
	text := line
	if n := len(line); n == 0 || line[0] != '{' || line[n-1] != '}' { // as most lines are, which takes less than to trim them
		text = bytes.Trim(line, JSONSpace)
	}
	switch {
	case len(text) == 0:
		return nil, ""
	case text[0] != '{' && json.Valid(text):
		return nil, fmt.Sprintf("the line is %s; expected an object %s", phrase(text), expected)
	case text[0] != '{': // such as a line of another format
		return nil, "the line is not JSON; expected an object " + expected
	case !json.Valid(text):
		return nil, jsonFault(text)
	}
	return text, ""
}

// Text returns the text that the value of a member stands for, which is of one of the kinds: that of a string, and of other values
// what they are written with.
func Text(name string, raw []byte, kinds []string) (text []byte, fault string) {
	if !slices.Contains(kinds, jsonKind(raw)) {
		return nil, fmt.Sprintf("%q is %s; expected %s%s", name, phrase(raw), articles[kinds[0]], strings.Join(kinds, " or "))
	}
	if raw[0] != '"' {
		return raw, ""
	}
	text, ok := unquoted(raw)
	if !ok {
		return nil, fmt.Sprintf("%q has an escape that stands for half a character or for a zero byte: %s; write the character itself", name,
			strings.ToValidUTF8(string(raw[:min(len(raw), quoted)]), ""))
	}
	return text, ""
}

// jsonFault says where a line stops being JSON.
func jsonFault(text []byte) string {
	err := json.Unmarshal(text, new(json.RawMessage))
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Sprintf("the line is not a JSON object: %v, at byte %d; expected one whole object in each line", err, syntax.Offset)
	}
	return "the line is not a JSON object; expected one whole object in each line"
}

// JSONSpace is what may stand between the tokens of JSON; a line has no line feed.
const JSONSpace = " \t\r"

func skipSpace(text []byte) []byte {
	for len(text) > 0 && (text[0] == ' ' || text[0] == '\t' || text[0] == '\r') {
		text = text[1:]
	}
	return text
}

// stringEnd is the length of the string, quotes included, that a text begins with; 0 when there is none that ends. The bytes of a
// short one are looked at one by one, which takes half as long as to search for a quote.
func stringEnd(text []byte) int {
	const short = 40
	if len(text) == 0 || text[0] != '"' {
		return 0
	}
	i := 1
	for ; i < min(len(text), short); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	for ; i < len(text); i++ {
		next := bytes.IndexByte(text[i:], '"')
		if next < 0 {
			return 0
		}
		i += next
		if unescaped := bytes.TrimRight(text[:i], `\`); (i-len(unescaped))%2 == 0 {
			return i + 1
		}
	}
	return 0
}

// valueEnd is the length of the value that a text begins with; 0 when there is none that ends.
func valueEnd(text []byte) int {
	if len(text) == 0 || text[0] == '"' {
		return stringEnd(text)
	}
	if text[0] != '{' && text[0] != '[' {
		return max(0, bytes.IndexAny(text, ",}]"+JSONSpace))
	}
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			length := stringEnd(text[i:])
			if length == 0 {
				return 0
			}
			i += length - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}
