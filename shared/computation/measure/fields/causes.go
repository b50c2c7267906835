package fields

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// The layouts of lines whose fields white space separates.
const (
	RunLayout            = "topic, Q0, document, rank, score and tag"
	QrelsLayout          = "topic, iteration, document and grade"
	DiversityQrelsLayout = "topic, subtopic, document and grade"
)

const (
	// InQuotes is the clause about a field that stands in quotes. It begins with a semicolon.
	InQuotes = "; write the file without quotes, as R does with quote = FALSE"

	countedFields = "the line has "
	scorePlace    = "the fifth field is the score"

	quotedFields = "fields of the line stand in quotes, which would be a part of the ids: write the file without quotes, as R does with " +
		"quote = FALSE"
	fieldTooMany = "a field too many seems to stand before the topic, such as the index of pandas or the row names of R: leave it out, as " +
		"they do with index=False and row.names = FALSE"
	exchangedFields = "the second field and the third one seem to be exchanged: write Q0 before the document"
	pythonLine      = "the line is a dictionary or list of Python, with single quotes: write JSON, as json.dump does, and convert it to " +
		"the format of TREC"
	jsonLine = "the line is JSON, as of texts or labels; expected "
	jsonHeal = ": write a line with these fields for each document of a topic"

	// PrintedTable is the fault of lines of a table that pandas printed.
	PrintedTable = "the line belongs to a table that pandas printed, which leaves rows out and rounds numbers: write the table with to_csv " +
		"or to_json"
)

// Lines of a table that pandas printed: its last line, dots in the place of rows that it leaves out, and the first line, where names stand
// above an index.
var (
	printedTable  = regexp.MustCompile(`^\s*\[\d+ rows x \d+ columns\]\s*$|^\s*\.{2,}(\s+\.{3})+\s*$`)
	printedHeader = regexp.MustCompile(`^ +[\pL_][^\s,;{\["']*( +[\pL_][^\s,;{\["']*)+\s*$`)
)

// startsWith reports whether a line begins with one of the characters. Readers ask for patterns of each faulty line: the first character
// spares most lines the memory that matching takes.
func startsWith(line []byte, chars string) bool {
	return len(line) > 0 && strings.IndexByte(chars, line[0]) >= 0
}

// IsPrintedTable reports whether a line is the last one of a table that pandas printed, or dots in the place of its rows.
func IsPrintedTable(line []byte) bool {
	return len(line) < 100 && startsWith(bytes.TrimLeft(line, " \t"), "[.") && printedTable.Match(line)
}

// IsPrintedHeader reports whether the first line of a file is the first one of a table that pandas printed.
func IsPrintedHeader(line []byte) bool { return startsWith(line, " ") && printedHeader.Match(line) }

// isConflictMark reports whether Git writes the line around the two sides of a merge conflict.
func isConflictMark(line []byte) bool { return startsWith(line, "<=>|") && conflictMark.Match(line) }

var conflictMark = regexp.MustCompile(`^(<{7} .*|={7}|>{7} .*|\|{7}( .*)?)\r?$`)

// conflict is the fault of these lines.
const conflict = "the line is a mark of a merge conflict in Git, whose two sides stand after another: resolve the conflict"

// IsQuoted reports whether a field stands in double quotes.
func IsQuoted(field []byte) bool {
	last := len(field) - 1
	return last > 0 && field[0] == '"' && field[last] == '"'
}

// withoutQuotes returns the fields without quotes around them. Where no field has quotes, as in most lines, it returns parts.
func withoutQuotes(parts [][]byte) [][]byte {
	if !slices.ContainsFunc(parts, IsQuoted) {
		return parts
	}
	bare := make([][]byte, len(parts))
	for i, p := range parts {
		bare[i] = p
		if IsQuoted(p) {
			bare[i] = p[1 : len(p)-1]
		}
	}
	return bare
}

// IsQ0 reports whether a field is the second one of a run in TREC's format.
func IsQ0(field []byte) bool {
	return len(field) == 2 && (field[0] == 'Q' || field[0] == 'q') && field[1] == '0'
}

// otherNotation returns the fault of a line that is JSON or Python, by its first field, or "".
func otherNotation(first []byte, layout string) string {
	if len(first) == 0 || first[0] != '{' && first[0] != '[' {
		return ""
	}
	inner := bytes.TrimLeft(first, "[{")
	switch {
	case bytes.HasPrefix(inner, []byte{'\''}):
		return pythonLine
	case len(inner) == 0, inner[0] == '"', inner[0] == '}', inner[0] == ']':
		return jsonLine + layout + jsonHeal
	}
	return ""
}

// RunFault says what is wrong with a line of a run whose first six fields are parts, or returns "". n is the number of fields, at most 7.
// isFirst says that the line is the first one, which may name the fields.
func RunFault(parts [][]byte, n int, isFirst bool) string {
	bare := withoutQuotes(parts)
	_, scored := ParseScore(bare[4])
	if fault := otherNotation(parts[0], RunLayout); !scored && fault != "" {
		return fault
	}
	var faults []string
	if IsQuoted(parts[0]) || IsQuoted(parts[2]) || IsQuoted(parts[4]) {
		faults = append(faults, quotedFields)
	}
	switch {
	case !scored && isFirst && bytes.EqualFold(bare[4], []byte("score")):
		faults = append(faults, ScoreFault(bare[4], scorePlace), "the line seems to name the fields: leave it out")
	case isShifted(bare, n):
		faults = append(faults, fieldTooMany)
	case isDivided(bare, n):
		faults = append(faults, spacedID(bare[2:4]))
	case isExchanged(bare, n):
		faults = append(faults, exchangedFields)
	case !scored:
		faults = append(faults, ScoreFault(bare[4], scorePlace))
	}
	return strings.Join(faults, "; ")
}

// isShifted reports whether a line of a run seems to have a field before the topic, so that Q0 is the third field or the fourth field has
// the documents.
func isShifted(parts [][]byte, n int) bool {
	if IsQ0(parts[1]) {
		return false
	}
	_, ranked := ParseScore(parts[3])
	_, score := ParseScore(parts[5])
	return IsQ0(parts[2]) && (n > 6 || !ranked) || n > 6 && !ranked && score
}

// isDivided reports whether the document of a line of a run seems to have spaces, so that words stand in the place of the rank and, if
// there are several spaces, in the place of the score.
func isDivided(parts [][]byte, n int) bool {
	_, ranked := ParseScore(parts[3])
	_, scored := ParseScore(parts[4])
	_, third := ParseScore(parts[5])
	isWord := bytes.ContainsFunc(parts[3], unicode.IsLetter) && !bytes.EqualFold(parts[3], []byte("nan"))
	return n > 6 && IsQ0(parts[1]) && !ranked && isWord && (third || !scored)
}

// isExchanged reports whether Q0 stands in the place of the document of a line of a run, and the document seems to stand before it.
func isExchanged(parts [][]byte, n int) bool {
	_, ranked := ParseScore(parts[3])
	return n == 6 && ranked && IsQ0(parts[2]) && !IsQ0(parts[1]) && string(parts[1]) != "0"
}

// QrelsFault says what is wrong with the line of four fields of relevance judgments, or returns "".
func QrelsFault(parts [][]byte, layout string) string {
	bare := withoutQuotes(parts)
	_, graded := ParseGrade(bare[3])
	_, third := ParseGrade(bare[2])
	_, number := ParseScore(bare[3])
	if fault := otherNotation(parts[0], layout); !graded && fault != "" {
		return fault
	}
	var faults []string
	if IsQuoted(parts[0]) || IsQuoted(parts[2]) || IsQuoted(parts[3]) {
		faults = append(faults, quotedFields)
	}
	switch {
	case graded:
	case third && !number:
		faults = append(faults, GradeFault(bare[3]), "document and grade seem to be exchanged: the third field is the document")
	default:
		faults = append(faults, GradeFault(bare[3]))
	}
	return strings.Join(faults, "; ")
}

// IsOpen reports whether a fault of a line names no cause. The file may have another format.
func IsOpen(fault string) bool {
	counted := strings.HasPrefix(fault, countedFields) && !strings.Contains(fault, ";")
	return counted || strings.HasPrefix(fault, "the score ") && strings.HasSuffix(fault, scorePlace) ||
		strings.HasPrefix(fault, "the grade ") && !strings.Contains(fault, ";")
}

// missingField names the field that a line with a field too few probably lacks, in a clause that begins with a semicolon, or returns "".
func missingField(parts [][]byte, layout string, numbers Numbers) string {
	parts = withoutQuotes(parts)
	isNumber := func(field int) bool {
		_, ok := ParseScore(parts[field])
		return ok
	}
	if len(parts) == 4 {
		if _, graded := ParseGrade(parts[2]); !graded || isNumber(1) {
			return ""
		}
		if strings.Contains(layout, "subtopic") {
			return "; the subtopic seems to be missing: write it after the topic"
		}
		return "; the iteration seems to be missing: write 0 after the topic"
	}
	switch {
	case IsQ0(parts[0]):
		return "; the topic seems to be missing: write it before Q0"
	case isNumber(2) && isNumber(3) && !IsQ0(parts[1]) && string(parts[1]) != "0" && !isNumber(4):
		return "; Q0 seems to be missing: write it after the topic"
	case isNumber(3) && isNumber(4):
		return "; the tag, which is the name of the run, seems to be missing: write any word after the score"
	case isNumber(3):
		return missing[numbers]
	}
	return ""
}
