package predictions

import (
	"slices"
	"strings"

	"assay/shared/measure/fields"
	"assay/shared/measure/lines"
)

// readCSV reads a header and one record for each example.
func (f *file) readCSV(in *lines.Reader, add func(example) bool) {
	records := fields.NewRecords(in, f.format.IDField, f.format.ValueField)
	line, header, fault, ok := records.Next()
	if !ok || fault != "" {
		if ok {
			f.errorf(line, "%s", fault)
		}
		return
	}
	id := f.column(header, f.format.IDField)
	value := f.column(header, f.format.ValueField)
	if id < 0 || value < 0 {
		return
	}
	var idText, valueText []byte
	for {
		line, record, fault, ok := records.Next()
		switch {
		case !ok:
			return
		case fault != "":
			f.errorf(line, "%s", fault)
			continue
		}
		idText = append(idText[:0], record[id]...)
		valueText = append(valueText[:0], record[value]...)
		e := example{line: line}
		f.setValue(&e, valueText)
		if f.setID(&e, idText) && !add(e) {
			return
		}
	}
}

// column finds a field in the header, and reports one that is not there exactly once.
func (f *file) column(header []string, field string) int {
	at := slices.Index(header, field)
	switch {
	case at < 0:
		f.errorf(1, "the first line names no field %q; it has %s, and fields are separated by commas or tabs", field, excerpt([]byte(strings.Join(header, ", "))))
	case slices.Contains(header[at+1:], field):
		f.errorf(1, "the first line names the field %q twice; expected it once", field)
		return -1
	}
	return at
}
