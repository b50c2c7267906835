package fields

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
)

// Members goes through the keys, in their quotes, and the raw values of a JSON object that json.Valid has accepted.
// encoding/json checks a line in one pass without allocating; to walk what is then known to be valid is several times
// faster than decoding into a map.
func Members(object []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		rest := skipSpace(object[1:])
		for rest[0] != '}' {
			key := rest[:stringEnd(rest)]
			rest = skipSpace(rest[len(key):])
			rest = skipSpace(rest[1:]) // the colon
			value := rest[:valueEnd(rest)]
			rest = skipSpace(rest[len(value):])
			if rest[0] == ',' {
				rest = skipSpace(rest[1:])
			}
			if !yield(key, value) {
				return
			}
		}
	}
}

// Names says whether a key, in its quotes, is the name.
func Names(key []byte, name string) bool {
	if inner := key[1 : len(key)-1]; bytes.IndexByte(inner, '\\') < 0 {
		return string(inner) == name
	}
	text, ok := Unquoted(key)
	return ok && string(text) == name
}

// Unquoted is the content of a valid JSON string. Half a surrogate pair is refused, since encoding/json would make
// every one of them the same replacement character, and so is the zero byte.
func Unquoted(raw []byte) ([]byte, bool) {
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

// JSONKind names the kind of a raw JSON value in one word.
func JSONKind(raw []byte) string {
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

// Phrase puts a kind into a sentence.
func Phrase(kind string) string {
	switch kind {
	case "object", "array":
		return "an " + kind
	case "string", "number":
		return "a " + kind
	}
	return kind
}

// JSONFault tells where a line stops being JSON.
func JSONFault(text []byte) string {
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
	return bytes.IndexAny(text, ",}"+JSONSpace)
}
