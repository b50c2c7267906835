package fields

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"assay/shared/computation/measure/bounds"
)

// Members returns an iterator over the keys, with their quotes, and the raw values of the JSON object at the start of object. It does not
// look into the values, so it is several times faster than decoding into a map. If the text is not a complete object, the last key is nil.
func Members(object []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		if end, all := containerEnd(object, 1, false, yield); end == 0 && all {
			yield(nil, nil)
		}
	}
}

// MemberNames returns the names of the members of a JSON object.
func MemberNames(object []byte) (names []string) {
	for key := range Members(bytes.TrimLeft(object, JSONSpace)) {
		if key == nil {
			break
		}
		if name, ok := unquoted(key); ok {
			names = append(names, string(name))
		}
	}
	return names
}

// Elements returns an iterator over the raw values of a valid JSON array.
func Elements(array []byte) iter.Seq[[]byte] {
	return func(yield func(value []byte) bool) {
		containerEnd(array, 1, false, func(_, value []byte) bool { return yield(value) })
	}
}

// Names reports whether a key, with its quotes, stands for the name.
func Names(key []byte, name string) bool {
	if inner := key[1 : len(key)-1]; bytes.IndexByte(inner, '\\') < 0 {
		return string(inner) == name
	}
	text, ok := unquoted(key)
	return ok && string(text) == name
}

// unquoted returns the content of a valid JSON string. ok is false if the string contains half a surrogate pair or a zero byte.
// encoding/json would turn all halves into the same replacement character.
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
			char = utf16.DecodeRune(char, low)
			if !follows || char == unicode.ReplacementChar {
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

// escape decodes the escape after a backslash. It returns the UTF-16 code unit, and the length of the escape without the backslash. The
// length is 0 if the text does not begin with a valid escape.
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

// articles maps kinds to their articles. The other kinds are literals of JSON, which have none.
var articles = map[string]string{"object": "an ", "array": "an ", "string": "a ", "number": "a "}

// phrase returns the kind of a raw JSON value with its article.
func phrase(raw []byte) string {
	kind := jsonKind(raw)
	return articles[kind] + kind
}

// Object reads a line that is one JSON object. It calls member with the keys, with their quotes, and the raw values, until member returns a
// fault. found is true if the line is an object without a fault. A blank line is neither found nor a fault. If the line is not an object,
// the fault says so, whatever member returned.
func Object(line []byte, expected string, member func(key, value []byte) (fault string)) (found bool, fault string) {
	text := line
	if n := len(line); n == 0 || line[0] != '{' || line[n-1] != '}' { // trim only unusual lines
		text = bytes.Trim(line, JSONSpace)
	}
	switch {
	case len(text) == 0:
		return false, ""
	case text[0] != '{':
		return false, otherLine(text, expected)
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

// otherLine says what a line is that begins no object.
func otherLine(text []byte, expected string) string {
	hint := ""
	if inner := bytes.TrimLeft(text[1:], JSONSpace); text[0] == '[' && (len(inner) == 0 || inner[0] == '{') {
		hint = arrayHint
	} else if text[0] == '[' {
		hint = "; write such an object for each item, on a line of its own"
	}
	switch {
	case IsPrintedTable(text):
		return PrintedTable
	case isConflictMark(text):
		return conflict
	case json.Valid(text):
		return fmt.Sprintf("the line is %s; expected an object %s%s", phrase(text), expected, hint)
	case text[0] == '[':
		return "the line begins a JSON array; expected an object " + expected + hint
	}
	return "the line is not JSON; expected an object " + expected
}

const arrayHint = "; write each element of the array on a line of its own, as jq -c '.[]' does"

// Text returns the text of a member's raw value: the content of a string, or the source text of any other value. The fault says that the
// value has none of the kinds, or an invalid escape.
func Text(name string, raw []byte, kinds []string) (text []byte, fault string) {
	if !slices.Contains(kinds, jsonKind(raw)) {
		hint := ""
		if raw[0] == '"' && kinds[0] == "number" {
			hint = quotedNumberHint(raw[1 : len(raw)-1])
		}
		return nil, fmt.Sprintf("%q is %s; expected %s%s%s", name, phrase(raw), articles[kinds[0]], strings.Join(kinds, " or "), hint)
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

// quotedNumberHint says how to write the text of a string in the place of a number, in a clause that begins with a punctuation mark, or
// returns "".
func quotedNumberHint(text []byte) string {
	if isScalar(text) {
		return ": write it without quotes"
	}
	if hint := NumberHint(text); hint != "" {
		return hint + ", without quotes"
	}
	return ""
}

// jsonFault says at which byte a line is not valid JSON.
func jsonFault(text []byte) string {
	err := json.Unmarshal(text, new(json.RawMessage))
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Sprintf("the line is not a JSON object: %s, at byte %d; expected one whole object in each line%s",
			withCharacter(syntax, text), syntax.Offset, jsonHint(text, int(syntax.Offset)))
	}
	return "the line is not a JSON object; expected one whole object in each line"
}

// withCharacter returns the text of a fault, which names only the first byte of a character, with the whole character.
func withCharacter(fault *json.SyntaxError, text []byte) string {
	at := int(fault.Offset) - 1
	if at < 0 || at >= len(text) || text[at] < utf8.RuneSelf {
		return fault.Error()
	}
	whole, _ := utf8.DecodeRune(text[at:])
	named := strings.Trim(strconv.Quote(string(rune(text[at]))), `"`)
	return strings.Replace(fault.Error(), "'"+named+"'", "'"+string(whole)+"'", 1)
}

// jsonHint names the likely cause of a fault at an offset, in a clause that begins with a semicolon, or returns "".
func jsonHint(text []byte, offset int) string {
	rest := text[max(0, min(offset-1, len(text))):]
	switch {
	case slices.ContainsFunc([]string{"\u201c", "\u201d", "\u201e"}, func(q string) bool { return bytes.HasPrefix(rest, []byte(q)) }):
		return "; JSON has straight double quotes, and not those of a word processor"
	case bytes.HasPrefix(rest, []byte("'")):
		return "; JSON has double quotes, so write it with json.dumps and not with print or str"
	case slices.ContainsFunc([]string{"NaN", "Infinity", "nan", "inf"}, func(word string) bool { return bytes.HasPrefix(rest, []byte(word)) }),
		bytes.HasPrefix(rest, []byte("Inf")), offset > 1 && bytes.HasPrefix(text[offset-2:], []byte("-I")):
		return "; JSON has no NaN and no Infinity: write a finite number in its place"
	case bytes.HasPrefix(rest, []byte("None")), bytes.HasPrefix(rest, []byte("True")), bytes.HasPrefix(rest, []byte("False")):
		return "; JSON has null, true and false: write it with json.dumps"
	case decimalComma(text, offset) != "":
		return "; numbers have a point and no comma: write " + decimalComma(text, offset)
	case string(rest) == ",":
		return "; a comma follows the object: leave it out"
	case offset >= len(text) && text[len(text)-1] != '}':
		return "; an object over several lines has to be on one, and a file whose last line is cut short has to be written again"
	}
	return ""
}

// commaInNumber matches the end of a value of JSON that is the whole part of a number, and a comma after it.
var commaInNumber = regexp.MustCompile(`:\s*(-?\d+),$`)

// decimalComma returns the number with a decimal comma around the fault at an offset, written with a point, or "".
func decimalComma(text []byte, offset int) string {
	at := max(0, min(offset-1, len(text)))
	digits := len(text[at:]) - len(bytes.TrimLeft(text[at:], "0123456789"))
	whole := commaInNumber.FindSubmatch(text[:at])
	if digits == 0 || whole == nil {
		return ""
	}
	return fmt.Sprintf("%s.%s", whole[1], text[at:at+digits])
}

// JSONSpace lists the white space between tokens of JSON, except the line feed, which lines do not contain.
const JSONSpace = " \t\r"

func skipSpace(text []byte) []byte {
	for len(text) > 0 && (text[0] == ' ' || text[0] == '\t' || text[0] == '\r') {
		text = text[1:]
	}
	return text
}

// endsScalar marks the bytes that may follow a number, true, false or null.
var endsScalar = [256]bool{',': true, '}': true, ']': true, ' ': true, '\t': true, '\r': true}

// maxDepth is the maximum nesting of arrays and objects.
const maxDepth = bounds.Nesting

// valueEnd returns the length of the value at the start of a text, or 0 if there is no complete value. If strict, it also returns 0 unless
// all strings, numbers and literals in the value are valid. Otherwise it only looks for their ends, which is faster for long texts.
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

// containerEnd is valueEnd for an object or array. It calls yield with each key and value; the keys of an array are nil. It stops if yield
// returns false, and then all is false.
func containerEnd(text []byte, depth int, strict bool, yield func(key, value []byte) bool) (end int, all bool) {
	closing := text[0] + '}' - '{' // the distance of the brackets [ and ] is the same
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

// isScalar reports whether a number or literal is valid. It is much faster than json.Valid for most numbers.
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

// stringEnd returns the length of the string at the start of a text, with its quotes. It returns 0 if there is no complete string or, if
// strict, no valid string. It looks at the bytes of a short string one by one, which takes half as long as searching for a quote.
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
