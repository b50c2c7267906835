package detection

import (
	"bytes"
	"encoding/json"
	"math"
	"regexp"
	"slices"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/fields"
)

// tagged matches a line with a token and its tag, or an empty line between sentences. The token may be missing: the reader of the file
// reports it.
var tagged = regexp.MustCompile(`^(?:\S*\s(?:.*\s)?(O|[BIESLU](?:-\S+)?)\s*|\s*)$`)

// detectSpans guesses the format of a text of spans from its head. kind may be empty. ok is false if the text has no spans.
func detectSpans(kind measure.Kind, head []byte) (g Guess, ok bool) {
	known := kind == measure.Spans
	if kind != "" && !known {
		return Guess{}, false
	}
	first := firstLine(head)
	if bytes.HasPrefix(first, []byte("{")) && json.Valid(first) {
		return detectSpanFields(first, known)
	}
	guess := Guess{Kind: measure.Spans, Format: measure.Format{Kind: measure.CoNLL}}
	if areTagged(head) {
		guess.Because = "Its lines look like tokens with tags"
	}
	return guess, known || guess.Because != ""
}

// detectSpanFields finds the field with spans and the field of the id in a JSON object. known says that the evaluator is one of spans.
func detectSpanFields(object []byte, known bool) (g Guess, ok bool) {
	spans := ""
	var others []string
	for key, member := range fields.Members(object) { // in the order of the line
		var name string
		if json.Unmarshal(key, &name) != nil {
			continue
		}
		if isSpanList(member, known) {
			spans = name
		} else {
			others = append(others, name)
		}
	}
	if spans == "" {
		return Guess{}, false
	}
	id, _, ok := chooseFields(append(others, spans), func(string) bool { return false })
	if !ok || id == spans {
		return Guess{}, false
	}
	format := measure.Format{Kind: measure.JSONL, IDField: id, ValueField: spans}
	return Guess{Kind: measure.Spans, Format: format, Because: "The first line is a JSON object with a list of spans"}, true
}

// isSpanList reports whether a JSON value is a list of spans, by its first element. If the evaluator is known to be one of spans, the list
// may be empty or begin with any object or array. Otherwise the first element must look like a span.
func isSpanList(value []byte, known bool) bool {
	if !bytes.HasPrefix(value, []byte("[")) || !json.Valid(value) {
		return false
	}
	for first := range fields.Elements(value) {
		return isSpan(first) || known && (first[0] == '{' || first[0] == '[')
	}
	return known
}

// isSpan reports whether a JSON value looks like a span: an object with a start and an end, or an array of two whole numbers and a text, as
// other programs write spans. The reader of the file reports spans that are no such objects.
func isSpan(value []byte) bool {
	var object struct{ Start, End json.RawMessage }
	if json.Unmarshal(value, &object) == nil {
		return object.Start != nil && object.End != nil
	}
	if !bytes.HasPrefix(value, []byte("[")) {
		return false
	}
	var array []any
	for element := range fields.Elements(value) {
		if len(array) == 3 {
			return false
		}
		array = append(array, valueOf(element))
	}
	if len(array) != 3 {
		return false
	}
	if _, isText := array[0].(string); isText { // the type comes first
		slices.Reverse(array)
	}
	_, isText := array[2].(string)
	return isText && isWhole(array[0]) && isWhole(array[1])
}

func isWhole(value any) bool {
	number, ok := value.(float64)
	return ok && number == math.Trunc(number)
}

// areTagged reports whether all lines are tokens with tags and at least one tag is not O.
func areTagged(head []byte) bool {
	lines := bytes.Split(head, []byte("\n"))
	if len(head) > headBytes/2 && len(lines) > 1 {
		lines = lines[:len(lines)-1] // the last line may be cut
	}
	other := false
	within := false // a sentence has begun
	for _, line := range lines {
		if bytes.HasPrefix(line, []byte("#")) && !within && !tagged.Match(line) { // a comment
			continue
		}
		within = len(bytes.TrimSpace(line)) > 0
		parts := tagged.FindSubmatch(line)
		if parts == nil {
			return false
		}
		other = other || len(parts[1]) > 0 && parts[1][0] != 'O'
	}
	return other
}
