package fields

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Members goes through the keys, in their quotes, and the raw values of the JSON object that a line begins with, without looking
// into the values, which is several times faster than decoding into a map. The last key is nil where what follows is not another member of
// an object.
func Members(object []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		if end, all := containerEnd(object, 1, false, yield); end == 0 && all {
			yield(nil, nil)
		}
	}
}

// Elements goes through the raw values of a valid JSON array.
func Elements(array []byte) iter.Seq[[]byte] {
	return func(yield func(value []byte) bool) {
		containerEnd(array, 1, false, func(_, value []byte) bool { return yield(value) })
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
	at := bytes.IndexByte(inner, '\\')
	if at < 0 {
		return inner, true
	}
	text := make([]byte, 0, len(inner))
	for ; at >= 0; at = bytes.IndexByte(inner, '\\') {
		text = append(text, inner[:at]...)
		char, length := escape(inner[at+1:])
		inner = inner[at+1+length:]
		if utf16.IsSurrogate(char) {
			next, follows := bytes.CutPrefix(inner, []byte{'\\'})
			low, length := escape(next)
			if char = utf16.DecodeRune(char, low); !follows || char == unicode.ReplacementChar {
				return nil, false
			}
			inner = next[length:]
		}
		if char == 0 {
			return nil, false
		}
		text = utf8.AppendRune(text, char)
	}
	return append(text, inner...), true
}

// escape returns what an escape stands for in UTF-16, by the text after its backslash, and its length after that; 0 where it is none.
func escape(text []byte) (char rune, length int) {
	if len(text) > 4 && text[0] == 'u' {
		if unit, err := strconv.ParseUint(string(text[1:5]), 16, 16); err == nil {
			return rune(unit), 5
		}
	} else if len(text) > 0 {
		if i := strings.IndexByte(`"\/bfnrt`, text[0]); i >= 0 {
			return rune("\"\\/\b\f\n\r\t"[i]), 1
		}
	}
	return 0, 0
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

// Object calls member with the keys, in their quotes, and the raw values of the object that a line is, up to its first fault; found is
// false for a blank line. What is no object has a fault, whatever member returned.
func Object(line []byte, expected string, member func(key, value []byte) (fault string)) (found bool, fault string) {
	text := line
	if n := len(line); n == 0 || line[0] != '{' || line[n-1] != '}' { // as most lines are, which takes less than to trim them
		text = bytes.Trim(line, JSONSpace)
	}
	switch {
	case len(text) == 0:
		return false, ""
	case text[0] != '{' && json.Valid(text):
		return false, fmt.Sprintf("the line is %s; expected an object %s", phrase(text), expected)
	case text[0] != '{': // such as a line of another format
		return false, "the line is not JSON; expected an object " + expected
	}
	end, _ := containerEnd(text, 1, true, func(key, value []byte) bool {
		if fault == "" {
			fault = member(key, value)
		}
		return true
	})
	if end < len(text) {
		return false, jsonFault(text)
	}
	return fault == "", fault
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

// endsScalar marks what follows a number or word.
var endsScalar = [256]bool{',': true, '}': true, ']': true, ' ': true, '\t': true, '\r': true}

// maxDepth is how deeply encoding/json lets arrays and objects nest.
const maxDepth = 10_000

// valueEnd is the length of the value that a text begins with; 0 when there is none that ends. In a strict one, strings, numbers and words
// are valid; of others the ends are sought alone, which in long texts takes less.
func valueEnd(text []byte, depth int, strict bool) (end int) {
	switch {
	case len(text) == 0:
		return 0
	case text[0] == '{' || text[0] == '[':
		end, _ = containerEnd(text, depth, strict, func(_, _ []byte) bool { return true })
		return end
	case text[0] == '"':
		return stringEnd(text, strict)
	}
	for end < len(text) && !endsScalar[text[end]] {
		end++
	}
	if end == len(text) || strict && !isScalar(text[:end]) {
		return 0
	}
	return end
}

// containerEnd is valueEnd of an object or array. It calls yield with each key, nil in an array, and value; all is false when
// yield returned false.
func containerEnd(text []byte, depth int, strict bool, yield func(key, value []byte) bool) (end int, all bool) {
	closing := text[0] + '}' - '{' // or that of brackets, which are as far apart
	rest := skipSpace(text[1:])
	if depth > maxDepth {
		return 0, true
	}
	if len(rest) > 0 && rest[0] == closing {
		return len(text) - len(rest) + 1, true
	}
	for {
		var key []byte
		if closing == '}' {
			key = rest[:stringEnd(rest, strict)]
			rest = skipSpace(rest[len(key):])
			if len(key) == 0 || len(rest) == 0 || rest[0] != ':' {
				return 0, true
			}
			rest = skipSpace(rest[1:])
		}
		value := rest[:valueEnd(rest, depth+1, strict)]
		rest = skipSpace(rest[len(value):])
		if len(value) == 0 || len(rest) == 0 || rest[0] != ',' && rest[0] != closing {
			return 0, true
		}
		if !yield(key, value) {
			return 0, false
		}
		if rest[0] == closing {
			return len(text) - len(rest) + 1, true
		}
		rest = skipSpace(rest[1:])
	}
}

// isScalar is json.Valid of a number or word, in a fraction of the time for most.
func isScalar(text []byte) bool {
	digits, points := bytes.TrimPrefix(text, []byte{'-'}), 0
	for i, c := range digits {
		switch {
		case c == '.' && i > 0 && i < len(digits)-1:
			points++
		case c-'0' > 9:
			return json.Valid(text)
		}
	}
	return len(digits) > 0 && points <= 1 && (digits[0] != '0' || len(digits) == 1 || digits[1] == '.')
}

// stringEnd is the length of the string, quotes included, that a text begins with; 0 when there is none that ends, or is not valid while
// strict. The bytes of a short one are looked at one by one, which takes half as long as to search for a quote.
func stringEnd(text []byte, strict bool) int {
	if len(text) == 0 || text[0] != '"' {
		return 0
	}
	i, short := 1, len(text)
	if !strict {
		short = min(short, 40)
	}
	for ; i < short; i++ {
		switch c := text[i]; {
		case c == '"':
			return i + 1
		case c == '\\':
			_, length := escape(text[i+1:])
			if strict && length == 0 {
				return 0
			}
			i += max(1, length)
		case c < ' ' && strict:
			return 0
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
