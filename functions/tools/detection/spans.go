package detection

import (
	"bytes"
	"encoding/json"
	"regexp"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/fields"
)

// tagged matches a line with a token and its tag, or an empty line between sentences.
var tagged = regexp.MustCompile(`^(?:\S+\s(?:.*\s)?(O|[BIESLU](?:-\S+)?)\s*|\s*)$`)

// detectSpans guesses the format of a text of spans from its head. ok is false if the text has no spans.
func detectSpans(kind measure.Kind, head []byte) (g Guess, ok bool) {
	if kind != "" && kind != measure.Spans {
		return g, false
	}
	first, _, _ := bytes.Cut(head, []byte("\n"))
	if !bytes.HasPrefix(first, []byte("{")) || !json.Valid(first) {
		conll := Guess{measure.Spans, measure.Format{Kind: measure.CoNLL}, "Its lines look like tokens with tags"}
		return conll, kind != "" || areTagged(head)
	}
	var names []string
	value := ""
	for key, member := range fields.Members(first) { // in the order of the line
		var name string
		var list []struct{ Start, End *int }
		switch {
		case json.Unmarshal(key, &name) != nil:
		case json.Unmarshal(member, &list) == nil && list != nil && (kind != "" || len(list) > 0 && list[0].Start != nil && list[0].End != nil):
			value = name
		default:
			names = append(names, name)
		}
	}
	id, _, found := chooseFields(append(names, value))
	return Guess{measure.Spans, measure.Format{Kind: measure.JSONL, IDField: id, ValueField: value},
		"The first line is a JSON object with a list of spans"}, value != "" && found && id != value
}

// areTagged reports whether all lines are tokens with tags and at least one tag is not O.
func areTagged(head []byte) bool {
	lines := bytes.Split(head, []byte("\n"))
	if len(head) > headBytes/2 && len(lines) > 1 {
		lines = lines[:len(lines)-1] // the last line may be cut
	}
	other := false
	for _, line := range lines {
		parts := tagged.FindSubmatch(line)
		if parts == nil {
			return false
		}
		other = other || len(parts[1]) > 0 && parts[1][0] != 'O'
	}
	return other
}
