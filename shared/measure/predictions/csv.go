package predictions

import (
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strings"

	"assay/shared/measure/lines"
)

// maxRecord bounds what a quote that is never closed can swallow.
const maxRecord = 1 << 20

// readCSV reads a header and one record for each example.
func (f *file) readCSV(in *lines.Reader, add func(example) bool) {
	text := &csvText{in: in}
	r := csv.NewReader(text)
	r.ReuseRecord = true
	header, err := r.Read()
	if err != nil {
		f.csvFault(err, text)
		return
	}
	id := f.column(header, f.format.IDField)
	value := f.column(header, f.format.ValueField)
	if id < 0 || value < 0 {
		return
	}
	var idText, valueText []byte
	for {
		text.taken = 0
		record, err := r.Read()
		if err != nil {
			if !f.csvFault(err, text) {
				return
			}
			continue
		}
		line, _ := r.FieldPos(0)
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
		f.errorf(1, "the first line names no field %q; it has %s, and fields are separated by commas", field, excerpt([]byte(strings.Join(header, ", "))))
	case slices.Contains(header[at+1:], field):
		f.errorf(1, "the first line names the field %q twice; expected it once", field)
		return -1
	}
	return at
}

// csvFault reports an error of the csv reader. It returns false at the end of the file.
func (f *file) csvFault(err error, text *csvText) bool {
	var fault *csv.ParseError
	if !errors.As(err, &fault) {
		if text.cut {
			f.errorf(text.line, "before this line are %d bytes of empty lines; leave them out", maxRecord)
		}
		return false
	}
	switch {
	case text.cut:
		f.errorf(fault.StartLine, "the record that starts here has a quoted field that is not closed within %d bytes; close it, and write a quote within it twice", maxRecord)
	case errors.Is(err, csv.ErrFieldCount):
		f.errorf(fault.StartLine, "the record has more or fewer fields than the first line; expected as many, and quotes around a field that has a comma in it")
	case errors.Is(err, csv.ErrBareQuote):
		f.errorf(fault.StartLine, "a quote stands within a field that does not begin with one; put the whole field in quotes, and write a quote within it twice")
	default:
		f.errorf(fault.StartLine, "a quoted field does not end with a quote before a comma or the end of the line; close it, and write a quote within it twice")
	}
	return true
}

// csvText hands lines to the csv reader. Lines that were refused become empty ones, so that both count alike.
type csvText struct {
	in    *lines.Reader
	line  int    // number of the last line in text
	text  []byte // whole lines
	at    int    // what stands before is handed over
	taken int    // bytes handed over since the last record
	cut   bool   // the file was ended because a record became too long
}

func (t *csvText) Read(p []byte) (int, error) {
	if t.at == len(t.text) {
		if t.cut = t.taken > maxRecord; t.cut || !t.in.Scan() {
			return 0, io.EOF
		}
		t.text, t.at = t.text[:0], 0
		for t.line++; t.line < t.in.Number(); t.line++ {
			t.text = append(t.text, '\n')
		}
		t.text = append(append(t.text, t.in.Text()...), '\n')
	}
	n := copy(p, t.text[t.at:])
	t.at += n
	t.taken += n
	return n, nil
}
