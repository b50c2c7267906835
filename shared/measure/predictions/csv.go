package predictions

import (
	"slices"

	"assay/shared/lists"
	"assay/shared/measure/fields"
	"assay/shared/measure/lines"
)

// readCSV reads a header and one record for each example.
func (f *file) readCSV(in *lines.Reader, add func(example) bool) {
	wanted := f.format.fields()
	records := fields.NewRecords(in, f.errorf, wanted...)
	_, header := records.Header()
	if header == nil {
		return
	}
	columns := lists.Map(wanted, func(name string) int { return f.column(header, name) })
	if slices.Contains(columns, -1) {
		return
	}
	var idText, valueText []byte
	for line, record := range records.All() {
		e := example{line: line}
		if len(columns) > 1 {
			valueText = append(valueText[:0], record[columns[1]]...)
			f.setValue(&e, valueText)
		}
		idText = append(idText[:0], record[columns[0]]...)
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
		f.errorf(1, "the first line names no field %q; it has %s, and fields are separated by commas or tabs", field,
			fields.Some(header, len(header)))
	case slices.Contains(header[at+1:], field):
		f.errorf(1, "the first line names the field %q twice; expected it once", field)
		return -1
	}
	return at
}
