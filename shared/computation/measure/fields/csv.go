package fields

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"assay/shared/computation/measure/lines"
)

// MaxRecord is the maximum size of a record in bytes. It bounds the text after a quote that is never closed.
const MaxRecord = 1 << 20

// Records reads csv as RFC 4180 defines it: fields are separated by commas, a quoted field may have several lines, and all records have as
// many fields as the first. The separator is a tab instead if the first line has a tab and no comma, or if splitting it at tabs yields the
// wanted fields.
type Records struct {
	text   csvText
	r      *csv.Reader
	wanted []string
	errorf func(line int, format string, args ...any)
	ended  bool
	fields [][]byte // fields of the last record
	split  int      // lines that splitLine read instead of r
}

// NewRecords returns a reader for the lines of in. The first line names the fields, which must include the wanted ones. Faults go to
// errorf.
func NewRecords(in *lines.Reader, errorf func(line int, format string, args ...any), wanted ...string) *Records {
	in.KeepCR()
	records := &Records{text: csvText{in: in}, wanted: wanted, errorf: errorf}
	records.r = csv.NewReader(&records.text)
	records.r.ReuseRecord = true
	return records
}

// Header returns the names of the fields, and their line. It returns nil if the file has no header; All then returns no records.
func (r *Records) Header() (line int, header []string) {
	if !r.text.fill() {
		return 0, nil
	}
	first := r.text.text
	if lines.BareCR(bytes.TrimRight(first, "\n")) {
		r.ended = true
		r.errorf(r.text.line, lines.BareCRFault)
		return 0, nil
	}
	names := strings.Split(strings.Trim(string(first), "\r\n"), "\t")
	for i, name := range names {
		names[i] = strings.Trim(name, `"`)
	}
	missing := slices.ContainsFunc(r.wanted, func(name string) bool { return !slices.Contains(names, name) })
	if len(names) > 1 && (!missing || bytes.IndexByte(first, ',') < 0) {
		r.r.Comma = '\t'
	}
	line, header, fault := r.read()
	if fault != "" && bytes.HasPrefix(bytes.TrimSpace(r.text.text), []byte{'{'}) {
		fault = "the line looks like one of JSON lines; expected the names of fields, separated by commas or tabs"
	}
	if fault != "" {
		r.ended = true
		r.errorf(line, "%s", fault)
	}
	return line, header
}

// All returns an iterator over the records after the header, with the line where each record starts. A record is valid until the next one.
// Text that is not a record is reported to errorf.
func (r *Records) All() iter.Seq2[int, [][]byte] {
	return func(yield func(int, [][]byte) bool) {
		for !r.ended {
			if r.splitLine() {
				if !yield(r.text.line, r.fields) {
					return
				}
				continue
			}
			line, record, fault := r.read()
			if fault != "" {
				r.errorf(line, "%s", fault)
				continue
			}
			all := []byte(strings.Join(record, ""))
			r.fields = r.fields[:0]
			for _, field := range record {
				r.fields, all = append(r.fields, all[:len(field)]), all[len(field):]
			}
			if record != nil && !yield(line, r.fields) {
				return
			}
		}
	}
}

// splitLine splits the next line at its separators, if the line is a record without quotes. encoding/csv would return the same record in
// several times as long. For any other line splitLine returns false, and read reads the line.
func (r *Records) splitLine() bool {
	before := r.text.line
	if !r.text.fill() {
		return false
	}
	line, found := r.text.text[r.text.line-before-1:], true
	line = line[:len(line)-1]
	if len(line) == 0 || bytes.IndexByte(line, '"') >= 0 || line[len(line)-1] == '\r' {
		return false
	}
	for r.fields = r.fields[:0]; found; {
		var field []byte
		field, line, found = bytes.Cut(line, []byte{byte(r.r.Comma)})
		r.fields = append(r.fields, field)
	}
	if len(r.fields) != r.r.FieldsPerRecord {
		return false
	}
	r.text.at = len(r.text.text)
	r.split += r.text.line - before
	return true
}

// read returns the next record and its line. The record is nil after the last record. If a record cannot be read, it is nil and fault says
// why.
func (r *Records) read() (line int, record []string, fault string) {
	r.text.taken = 0
	record, err := r.r.Read()
	if err == nil {
		line, _ = r.r.FieldPos(0)
		return line + r.split, record, ""
	}
	parse, ok := errors.AsType[*csv.ParseError](err)
	if !ok {
		r.ended = true
		if r.text.cut {
			fault = fmt.Sprintf("before this line are %d bytes of empty lines; leave them out", MaxRecord)
		}
		return r.text.line, nil, fault
	}
	switch {
	case r.text.cut:
		fault = fmt.Sprintf("the record that starts here has a quoted field that is not closed within %d bytes; close it, and write a quote "+
			"within it twice", MaxRecord)
	case errors.Is(err, csv.ErrFieldCount):
		fault = "the record has more or fewer fields than the first line; expected as many, and quotes around a field that has the separator " +
			"in it"
	case errors.Is(err, csv.ErrBareQuote):
		fault = "a quote stands within a field that does not begin with one; put the whole field in quotes, and write a quote within it twice"
	default:
		fault = "a quoted field does not end with a quote before a separator or the end of the line; close it, and write a quote within it twice"
	}
	return parse.StartLine + r.split, nil, fault
}

// csvText passes the lines of a file to the csv reader. Lines with faults become empty lines, so that line numbers agree.
type csvText struct {
	in    *lines.Reader
	line  int    // number of the last line in text
	text  []byte // whole lines
	at    int    // bytes of text that the csv reader has read
	taken int    // bytes that the csv reader has read since the last record
	cut   bool   // the text ended early, because a record is too long
}

func (t *csvText) Read(p []byte) (int, error) {
	if t.at == len(t.text) {
		t.cut = t.taken > MaxRecord
		if t.cut || !t.fill() {
			return 0, io.EOF
		}
	}
	n := copy(p, t.text[t.at:])
	t.at += n
	t.taken += n
	return n, nil
}

// fill puts the next sound line, and empty lines for faulty lines before it, into text. It returns false at the end.
func (t *csvText) fill() bool {
	if !t.in.Scan() {
		return false
	}
	t.text, t.at = t.text[:0], 0
	for t.line++; t.line < t.in.Number(); t.line++ {
		t.text = append(t.text, '\n')
	}
	t.text = append(append(t.text, t.in.Text()...), '\n')
	return true
}
