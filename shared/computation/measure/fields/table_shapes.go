package fields

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// rowNames recognizes tables with a number before the fields that the first line names. All numbers count the lines.
func rowNames(h head, _ Expected) string {
	const what = "a table whose lines have a number before the fields that the first line names, as the row names of R and the index of " +
		"pandas are"
	for _, separator := range []string{",", ";", "\t", " "} {
		if len(h.lines) > 1 && countsRows(h.lines, separator) {
			return what
		}
	}
	return ""
}

// countsRows reports whether the lines after the first one have one field more, which counts them. A blank in or after the field
// behind it would be part of a text.
func countsRows(rows [][]byte, separator string) bool {
	split := func(line []byte) [][]byte { return bytes.Split(line, []byte(separator)) }
	names := split(rows[0])
	if len(names) < 2 || separator == " " && !IsQuoted(names[0]) {
		return false
	}
	first := -1
	for i, line := range rows[1:] {
		parts := withoutQuotes(split(line))
		if len(parts) != len(names)+1 || bytes.ContainsAny(parts[1], " \t") || bytes.HasPrefix(parts[2], []byte{' '}) {
			return false
		}
		number, err := strconv.Atoi(string(parts[0]))
		if err != nil || i > 0 && number != first+i {
			return false
		}
		if i == 0 {
			first = number
		}
	}
	return first == 0 || first == 1
}

// quotedLines recognizes tables each line of which is one quoted field. The first line may have no quotes.
func quotedLines(h head, _ Expected) string {
	quoted := h.lines
	if len(quoted) > 1 && bytes.IndexByte(quoted[0], '"') < 0 {
		quoted = quoted[1:]
	}
	if slices.ContainsFunc(quoted, func(line []byte) bool { return !isWhollyQuoted(line) }) {
		return ""
	}
	return "a table whose lines each stand in quotes, as a spreadsheet writes lines that are all in its first column"
}

// isWhollyQuoted reports whether a line is one quoted field with a separator in it.
func isWhollyQuoted(line []byte) bool {
	field := bytes.ReplaceAll(bytes.Trim(line, " "), []byte(`""`), nil)
	return IsQuoted(field) && bytes.IndexByte(field[1:len(field)-1], '"') < 0 && bytes.ContainsAny(field, ",;\t")
}

// separatorNames names the characters that separate fields.
var separatorNames = []struct{ character, name string }{{",", "commas"}, {"\t", "tabs"}, {";", "semicolons"}}

// otherSeparator recognizes tables whose first line has another separator than all other lines.
func otherSeparator(h head, _ Expected) string {
	if len(h.lines) < 2 {
		return ""
	}
	for _, of := range separatorNames {
		n := bytes.Count(h.lines[0], []byte(of.character))
		for _, other := range separatorNames {
			differs := func(line []byte) bool { return bytes.Count(line, []byte(other.character)) != n }
			if n > 0 && other != of && !bytes.Contains(h.lines[0], []byte(other.character)) && !slices.ContainsFunc(h.lines[1:], differs) {
				return fmt.Sprintf("a table whose first line is separated by %s, and whose other lines are separated by %s", of.name, other.name)
			}
		}
	}
	return ""
}

// bars recognizes tables that are separated by bars, whose first line has all names of fields.
func bars(h head, e Expected) string {
	names := strings.Split(string(h.lines[0]), "|")
	for i, name := range names {
		names[i] = strings.TrimSpace(name)
	}
	isMissing := func(name string) bool { return !slices.Contains(names, name) }
	if len(e.Names) < 2 || slices.ContainsFunc(e.Names, isMissing) {
		return ""
	}
	return "a table whose fields are separated by bars (|)"
}

// numberedColumns recognizes tables whose first line has the numbers from 0 in the place of names. If the second line begins with a number
// too, the first line may be an item.
func numberedColumns(h head, _ Expected) string {
	for _, separator := range []string{",", ";", "\t"} {
		names := strings.Split(string(h.lines[0]), separator)
		isOther := false
		for i, name := range names {
			isOther = isOther || name != strconv.Itoa(i)
		}
		if isOther || len(names) < 2 || len(h.lines) < 2 {
			continue
		}
		first, _, _ := bytes.Cut(h.lines[1], []byte(separator))
		if _, isItem := ParseScore(first); !isItem {
			return "a table whose columns have numbers and no names, as in a DataFrame without names"
		}
	}
	return ""
}
