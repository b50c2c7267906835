// Package jsoncheck checks a JSON document of a client before anything decodes it. encoding/json decodes each level and
// each value of a document into memory of its own, so a small document can cost much more than its size; and RFC 8259
// leaves open what two members of one name mean. Check bounds the first and refuses the second, in one pass that
// allocates nothing but the names of the objects that are open.
package jsoncheck

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"assay/shared/problem"
)

// Bounds of a document. The deepest body of the service has 6 levels, the largest about 5,000 values.
const (
	MaxDepth  = 32     // objects and arrays in each other
	MaxValues = 10_000 // of every kind, at every level
	MaxNumber = 100    // characters of a number
)

// Charset reports whether a media type with the parameters is in UTF-8, which JSON is when it does not say.
func Charset(parameters map[string]string) bool {
	charset, given := parameters["charset"]
	return !given || strings.EqualFold(charset, "utf-8")
}

// Check returns the problem of a document that is not JSON in UTF-8, exceeds a bound, has half a character, or two members of
// one name in an object; or the error of a context that has ended.
func Check(ctx context.Context, document []byte) error {
	if !utf8.Valid(document) {
		return problem.BadRequest.New("The body is not UTF-8, which JSON must be.")
	}
	if !json.Valid(document) {
		return problem.BadRequest.New("The body is not a JSON document: %v.", json.Unmarshal(document, new(json.RawMessage)))
	}
	s := scanner{rest: document}
	for len(s.rest) > 0 {
		if s.values%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := s.next(); err != nil {
			return err
		}
	}
	return nil
}

// scanner reads the tokens of a valid JSON document.
type scanner struct {
	rest   []byte
	open   []container
	names  [][]byte // of the members of all open objects
	named  bool     // the next string is the name of a member
	values int
}

// container is an object or an array whose end is not read yet.
type container struct {
	object bool
	first  int // position in names of an object's first
}

func (s *scanner) next() error {
	token := s.rest[0]
	length := 1
	switch token {
	case ' ', '\t', '\r', '\n', ':':
	case ',':
		s.named = s.open[len(s.open)-1].object
	case '}', ']':
		if err := s.close(); err != nil {
			return err
		}
	case '"':
		length = stringLength(s.rest)
		if half := loneSurrogate(s.rest[:length]); half != nil {
			return problem.BadRequest.New("A text of the body has the escape %s, which is half a character: write the character itself, or both of its halves.", half)
		}
		if s.named {
			s.named = false
			s.names = append(s.names, unescaped(s.rest[:length]))
			break
		}
		s.values++
	case '{', '[':
		s.values++
		s.open = append(s.open, container{token == '{', len(s.names)})
		s.named = token == '{'
	default: // a number, true, false or null
		s.values++
		if length = bytes.IndexAny(s.rest, " \t\r\n,:]}"); length < 0 {
			length = len(s.rest)
		}
		if number := s.rest[:length]; length <= MaxNumber && bytes.ContainsAny(number, "eE") {
			if _, err := strconv.ParseFloat(string(number), 64); errors.Is(err, strconv.ErrRange) {
				return problem.BadRequest.New("The number %s of the body is beyond what 64 bits hold as a floating-point number (IEEE 754), about 1.8e308.", number)
			}
		}
	}
	s.rest = s.rest[length:]
	switch {
	case len(s.open) > MaxDepth:
		return problem.BadRequest.New("The body has more than %d levels of objects and arrays in each other. Nothing here needs as many: compare it with /openapi.json.", MaxDepth)
	case s.values > MaxValues || len(s.names) > MaxValues:
		return problem.BadRequest.New("The body has more than %d values. Send it in several requests, or put large data into files.", MaxValues)
	case length > MaxNumber && token != '"':
		return problem.BadRequest.New("A number of the body has %d characters; %d are allowed. Round it.", length, MaxNumber)
	}
	return nil
}

// close ends the innermost container, whose names are to differ.
func (s *scanner) close() error {
	first := s.open[len(s.open)-1].first
	s.open, s.named = s.open[:len(s.open)-1], false
	names := s.names[first:]
	slices.SortFunc(names, bytes.Compare)
	for i := range names {
		if i > 0 && bytes.Equal(names[i-1], names[i]) {
			return problem.BadRequest.New("An object of the body has two members with the name %.100q: keep one of them.", names[i])
		}
	}
	s.names = s.names[:first]
	return nil
}

// stringLength is the length of the string that the text begins with, quotes included.
func stringLength(text []byte) int {
	for end := 1; ; end++ {
		end += bytes.IndexByte(text[end:], '"')
		backslashes := 0
		for text[end-1-backslashes] == '\\' {
			backslashes++
		}
		if backslashes%2 == 0 {
			return end + 1
		}
	}
}

// loneSurrogate is the first escape of a string that stands for half a character, of which encoding/json would make U+FFFD;
// nil when there is none.
func loneSurrogate(quoted []byte) []byte {
	for {
		at := bytes.IndexByte(quoted, '\\')
		if at < 0 {
			return nil
		}
		quoted = quoted[at:]
		first := escaped(quoted)
		switch {
		case !utf16.IsSurrogate(first):
			quoted = quoted[2:]
		case utf16.DecodeRune(first, escaped(quoted[6:])) == utf8.RuneError:
			return quoted[:6]
		default:
			quoted = quoted[12:]
		}
	}
}

// escaped is the code unit of the escape \uXXXX that a part of a valid string begins with; 0 when it begins with none.
func escaped(text []byte) rune {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0
	}
	unit, _ := strconv.ParseUint(string(text[2:6]), 16, 16) // it is valid
	return rune(unit)
}

// unescaped is the content of a string.
func unescaped(quoted []byte) []byte {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1]
	}
	var text string
	_ = json.Unmarshal(quoted, &text) // it is valid
	return []byte(text)
}
