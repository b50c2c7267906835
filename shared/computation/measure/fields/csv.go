package fields

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"regexp"
	"slices"
	"strings"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/bounds"
	"assay/shared/computation/measure/lines"
	"assay/shared/language/plural"
)

// MaxRecord is the maximum size of a record in bytes, also of one in a single line. It bounds the text after a quote that is never closed.
const MaxRecord = bounds.Record

// Records reads csv as RFC 4180 defines it: fields are separated by commas, a quoted field may have several lines, and all records have as
// many fields as the first. The separator is a tab instead if the first line has a tab and no comma, or if splitting it at tabs yields the
// wanted fields. It is a semicolon, as spreadsheets write it in many languages, on the same conditions or if there is no tab either.
type Records struct {
	text   csvText
	r      *csv.Reader
	wanted []string
	errorf func(line int, format string, args ...any)
	ended  bool
	begun  bool     // a record after the header was read, or has a fault
	fields [][]byte // fields of the last record
	unseen int      // lines that r does not count, because splitLine read them
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
	if separatorLine.Match(first) {
		r.ended = true
		r.errorf(r.text.line, "the line names the separator of fields for a spreadsheet; delete it, so that the names of the fields come first")
		return 0, nil
	}
	r.r.Comma = separatorOf(string(first), r.wanted)
	line, header, fault := r.read()
	if fault != "" && !r.RefuseShape() {
		r.ended = true
		r.errorf(line, "%s", fault)
	}
	return line, header
}

// RefuseShape reports that the file has a known shape that is no csv, and ends the reading. It returns false for other files. Callers ask
// it if the header lacks wanted names.
func (r *Records) RefuseShape() bool {
	found := ShapeOf(r.text.in.Head(), Expected{Kind: measure.CSV, Names: r.wanted})
	if found.Fault == "" {
		return false
	}
	r.ended = true
	r.errorf(0, "%s", found.Fault)
	return true
}

// separatorLine matches a line before the names of fields that only Excel reads.
var separatorLine = regexp.MustCompile(`^(?i)"?sep=.?"?[,;\t]?\s*$`)

// Separator returns the character that separates the fields. It is known after Header.
func (r *Records) Separator() rune { return r.r.Comma }

// separatorOf returns the character that separates the fields of the first line.
func separatorOf(first string, wanted []string) rune {
	others := ","
	for _, separator := range []string{"\t", ";"} {
		if strings.Contains(first, separator) && (!strings.ContainsAny(first, others) || splits(first, separator, wanted)) {
			return rune(separator[0])
		}
		others += separator
	}
	// A spreadsheet that separates by semicolons may also write numbers with commas.
	if strings.Count(first, ";") > strings.Count(first, ",") && !strings.Contains(first, "\t") && !splits(first, ",", wanted) {
		return ';'
	}
	return ','
}

// splits reports whether splitting a line at the separator yields the wanted names, of which there must be some.
func splits(line, separator string, wanted []string) bool {
	names := strings.Split(strings.Trim(line, "\r\n"), separator)
	for i, name := range names {
		names[i] = strings.Trim(name, `"`)
	}
	return len(wanted) > 0 && !slices.ContainsFunc(wanted, func(name string) bool { return !slices.Contains(names, name) })
}

// All returns an iterator over the records after the header, with the line where each record starts. A record is valid until the next one.
// Text that is not a record is reported to errorf.
func (r *Records) All() iter.Seq2[int, [][]byte] {
	return func(yield func(int, [][]byte) bool) {
		for !r.ended {
			line, ok := r.next()
			if ok && !yield(line, r.fields) {
				return
			}
		}
	}
}

// next reads the next record into r.fields, and returns its line. ok is false at the end of the file, and for a fault, which is reported.
func (r *Records) next() (line int, ok bool) {
	if r.splitLine() {
		return r.text.line, true
	}
	line, record, fault := r.read()
	isFirst := !r.begun
	r.begun = true
	if fault != "" {
		if !isFirst || !r.RefuseShape() {
			r.errorf(line, "%s", fault)
		}
		return 0, false
	}
	r.setFields(record)
	return line, record != nil
}

// setFields copies the fields of a record to r.fields. One allocation holds the text of all fields.
func (r *Records) setFields(record []string) {
	text := []byte(strings.Join(record, ""))
	r.fields = r.fields[:0]
	for _, field := range record {
		r.fields = append(r.fields, text[:len(field)])
		text = text[len(field):]
	}
}

// splitLine reads the next line into r.fields by splitting it at its separators, if the line is a record without quotes. encoding/csv would
// return the same record, but takes several times as long. For any other line splitLine returns false, and read reads the line.
func (r *Records) splitLine() bool {
	if !r.text.fill() {
		return false
	}
	line := r.text.lastLine()
	if len(line) == 0 || bytes.IndexByte(line, '"') >= 0 || line[len(line)-1] == '\r' {
		return false
	}
	r.fields = appendFields(r.fields[:0], line, byte(r.r.Comma))
	if len(r.fields) != r.r.FieldsPerRecord {
		return false
	}
	r.text.skip()
	r.unseen += r.text.faulty + 1
	r.begun = true
	return true
}

// appendFields appends the parts of a line between its separators.
func appendFields(fields [][]byte, line []byte, separator byte) [][]byte {
	for {
		field, rest, found := bytes.Cut(line, []byte{separator})
		fields = append(fields, field)
		if !found {
			return fields
		}
		line = rest
	}
}

// read returns the next record and its line. The record is nil after the last record. If a record cannot be read, it is nil and fault says
// why.
func (r *Records) read() (line int, record []string, fault string) {
	r.text.taken = 0
	record, err := r.r.Read()
	if err == nil {
		line, _ = r.r.FieldPos(0)
		return line + r.unseen, record, ""
	}
	parse, ok := errors.AsType[*csv.ParseError](err)
	if !ok {
		r.ended = true
		if r.text.cut {
			fault = fmt.Sprintf("before this line are %d bytes of empty lines; leave them out", MaxRecord)
		}
		return r.text.line, nil, fault
	}
	return parse.StartLine + r.unseen, nil, r.faultOf(parse, record)
}

// faultOf describes a fault that encoding/csv found in a record.
func (r *Records) faultOf(err *csv.ParseError, record []string) string {
	isMark := isConflictMark(r.text.lastLine())
	switch {
	case isMark:
		r.ended = true
		return conflict
	case r.text.cut: // the text ended early, because a record is too long
		return fmt.Sprintf("the record that starts here has a quoted field that is not closed within %d bytes; close it, and write a quote "+
			"within it twice", MaxRecord)
	case errors.Is(err, csv.ErrFieldCount):
		return r.countFault(record)
	case errors.Is(err, csv.ErrBareQuote):
		return "a quote stands within a field that does not begin with one; put the whole field in quotes, and write a quote within it twice"
	default:
		return "a quoted field does not end with a quote before a separator or the end of the line; close it, and write a quote within it twice"
	}
}

// countFault says that a record has not as many fields as the first line.
func (r *Records) countFault(record []string) string {
	n := len(record)
	expected := r.r.FieldsPerRecord
	fault := fmt.Sprintf("the record has %s, and the first line has %d; expected as many", plural.Count(n, "field"), expected)
	switch {
	case n > expected && record[n-1] == "":
		return fault + "; a separator ends the line: leave it out"
	case n > expected:
		return fault + ", and quotes around a field that has the separator in it"
	}
	return fault
}

// csvText passes the lines of a file to the csv reader. Lines with faults become empty lines, so that line numbers agree. Its text is
// always one sound line after any number of faulty ones. The csv reader has read the whole text at the end of each record.
type csvText struct {
	in     *lines.Reader
	line   int    // number of the last line in text
	text   []byte // whole lines
	faulty int    // empty lines in text for faulty lines, before the last line
	at     int    // bytes of text that the csv reader has read
	taken  int    // bytes that the csv reader has read since the last record
	cut    bool   // the text ended early, because a record is too long
}

// Read implements io.Reader for the csv reader.
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
	t.faulty = t.in.Number() - t.line - 1
	t.line = t.in.Number()
	t.at = 0
	t.text = t.text[:0]
	for range t.faulty {
		t.text = append(t.text, '\n')
	}
	t.text = append(t.text, t.in.Text()...)
	t.text = append(t.text, '\n')
	return true
}

// lastLine returns the last line in text, without its end.
func (t *csvText) lastLine() []byte { return t.text[t.faulty : len(t.text)-1] }

// skip hides the text from the csv reader.
func (t *csvText) skip() { t.at = len(t.text) }
