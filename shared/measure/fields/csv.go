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

	"assay/shared/measure/lines"
)

// MaxRecord bounds in bytes what a quote that is never closed can swallow.
const MaxRecord = 1 << 20

// Records reads csv as RFC 4180 has it: fields separated by commas, a quoted one over several lines if need be, and as
// many in each record as in the first. Fields are separated by tabs instead when the first line has a tab and no comma, or
// when tabs alone separate the fields wanted.
type Records struct {
	text   csvText
	r      *csv.Reader
	wanted []string
	errorf func(line int, format string, args ...any)
	ended  bool
	fields [][]byte // of the last record
	split  int      // lines that splitLine took instead of r
}

// NewRecords reads the lines of in, of which the first names the fields, those wanted among them. Errors go to errorf.
func NewRecords(in *lines.Reader, errorf func(line int, format string, args ...any), wanted ...string) *Records {
	in.KeepCR()
	records := &Records{text: csvText{in: in}, wanted: wanted, errorf: errorf}
	records.r = csv.NewReader(&records.text)
	records.r.ReuseRecord = true
	return records
}

// Header returns the names of the fields, and their line; nil when there are none, and then no records either.
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

// All goes through the records after the header, each valid until the next one, with the lines where they start. What cannot be
// read as one is an error.
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

// splitLine splits the next line at its separators, if it is a record without quotes, of which encoding/csv would do no more in several
// times as long. Otherwise it returns false, and read reads the line.
func (r *Records) splitLine() bool {
	before := r.text.line
	if !r.text.fill() {
		return false
	}
	line, found := r.text.text[r.text.line-before-1:], true
	if line = line[:len(line)-1]; len(line) == 0 || bytes.IndexByte(line, '"') >= 0 || line[len(line)-1] == '\r' {
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

// read returns the next record and its line; none after the last one, and none but why when it cannot be read.
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

// csvText hands lines to the csv reader. Lines that were refused become empty ones, so that both count the same lines.
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
		if t.cut = t.taken > MaxRecord; t.cut || !t.fill() {
			return 0, io.EOF
		}
	}
	n := copy(p, t.text[t.at:])
	t.at += n
	t.taken += n
	return n, nil
}

// fill takes the next line; false when there is none.
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
