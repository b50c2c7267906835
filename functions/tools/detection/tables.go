package detection

import (
	"bytes"
	"encoding/csv"
	"math"
	"slices"
	"strings"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/fields"
)

// readHeader reads the names and the first values of a CSV file, which is separated by commas, tabs or semicolons.
func readHeader(head []byte) (first firstRecord, ok bool) {
	rows, separator, ok := rowsOf(head)
	if !ok {
		return firstRecord{}, false
	}
	names, err := rows.Read()
	if err != nil || len(names) < 2 {
		return firstRecord{}, false
	}
	names = slices.Clone(names)
	values, err := rows.Read()
	first = firstRecord{
		format:  measure.CSV,
		names:   names,
		values:  map[string]any{},
		again:   map[string]bool{},
		because: "The first line has names separated by " + separator,
	}
	for i := range min(len(names), len(values)) {
		first.values[names[i]] = values[i]
	}
	for record := values; err == nil; record, err = rows.Read() {
		for i, name := range names {
			if record[i] == name {
				first.again[name] = true
			}
		}
	}
	return first, true
}

// rowsOf returns a reader for the rows of a CSV file, and the name of its separator.
func rowsOf(head []byte) (rows *csv.Reader, separator string, ok bool) {
	line := firstLine(head)
	separatedByTabs := bytes.ContainsRune(line, '\t') && !bytes.ContainsRune(line, ',')
	separatedBySemicolons := bytes.ContainsRune(line, ';') && !bytes.ContainsAny(line, ",\t")
	if isRanking(head) || separatedByTabs && hasNumber(line) { // a header has no numbers
		return nil, "", false
	}
	rows = csv.NewReader(bytes.NewReader(head))
	separator = "commas"
	if separatedByTabs {
		rows.Comma = '\t'
		separator = "tabs"
	} else if separatedBySemicolons {
		rows.Comma = ';'
		separator = "semicolons"
	}
	return rows, separator, true
}

// records returns the names of a CSV file and the first records. The last record of a long text may be cut, so it is left out.
func records(head []byte) (names []string, all [][]string) {
	rows, _, ok := rowsOf(head)
	if !ok {
		return nil, nil
	}
	names, err := rows.Read()
	for err == nil {
		var record []string
		if record, err = rows.Read(); err == nil {
			all = append(all, record)
		}
	}
	if len(head) > headBytes/2 && len(all) > 1 {
		all = all[:len(all)-1]
	}
	return names, all
}

// haveScores reports whether the columns of a CSV file, except for an id, seem to be the scores of two and more labels: the numbers of each
// record are from 0 to 1, and their sum is 1. Some are neither 0 nor 1, which could be marks of labels.
func haveScores(head []byte) bool {
	const most = 1e-3 // of the difference that rounding makes
	names, all := records(head)
	id := slices.Index(names, usualName(names, idNames, ""))
	if slices.ContainsFunc(names, isUsualName) || len(names)-1 < 2 || len(all) == 0 {
		return false
	}
	between := false
	for _, record := range all {
		sum := 0.0
		for i, text := range record {
			if i == max(id, 0) {
				continue
			}
			score, ok := fields.ParseScore([]byte(text))
			if !ok || score < 0 || score > 1 {
				return false
			}
			between = between || score > 0 && score < 1
			sum += score
		}
		if math.Abs(sum-1) > most {
			return false
		}
	}
	return between
}

// haveLists reports whether the values of a field "labels" in CSV have the separator of labels or are lists, as Python prints them.
func haveLists(head []byte, format measure.Format) bool {
	names, all := records(head)
	at := slices.Index(names, format.ValueField)
	if format.Kind != measure.CSV || at < 0 || !strings.EqualFold(format.ValueField, "labels") {
		return false
	}
	return slices.ContainsFunc(all, func(record []string) bool {
		value := strings.TrimSpace(record[at])
		return strings.Contains(value, measure.DefaultSeparator) || strings.HasPrefix(value, "[") && strings.HasSuffix(value, "]")
	})
}
