package predictions

import (
	"bytes"
	"fmt"
	"strings"
)

// separatedHint returns a clause about a line that is probably one of CSV and not of JSON lines, or "".
func separatedHint(line []byte) string {
	text := bytes.TrimSpace(line)
	if len(text) == 0 || text[0] == '{' || text[0] == '[' {
		return ""
	}
	for _, separator := range []byte{',', ';', '\t'} {
		if first, _, found := bytes.Cut(text, []byte{separator}); found && len(bytes.Fields(first)) == 1 {
			return "; it looks like CSV: convert it to JSON lines, with such an object in each line"
		}
	}
	return ""
}

// missingID is a clause about items with a value and no id.
const missingID = "; rename the field that has the ids, or write the id of its item into each line if none has them"

// sample returns an object of the file for messages.
func (f *file) sample() string {
	value := "..."
	if f.values == Arrays {
		value = `[{"start": 0, "end": 4, "type": "PER"}]`
	}
	members := []string{fmt.Sprintf("%q: ...", f.format.IDField)}
	if f.format.ValueField != "" {
		members = append(members, fmt.Sprintf("%q: %s", f.format.ValueField, value))
	}
	return "{" + strings.Join(members, ", ") + "}"
}
