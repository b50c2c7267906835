package conversion

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/fields"
	"assay/shared/computation/measure/lines"
)

// reader reads one file and passes its lines to a writer until the first error.
type reader struct {
	kind   *Kind
	file   string
	report *measure.Report
	out    *writer
	values [][]byte // values of the current line, in the order of the columns

	whole []byte // memory for the text of a grade

	lines     int  // lines that had values, valid or not
	unheld    bool // it has warned that an iteration is left out
	extra     bool // it has warned that a field is left out
	commented bool // it has warned that a comment looks like a line
}

func (r *reader) errorf(line int, format string, args ...any) {
	r.lines++ // a file with only errors does not count as empty
	r.report.Errorf(r.file, line, format, args...)
}

// accept checks the values of a line and writes them. It returns false if reading should stop.
func (r *reader) accept(line int) bool {
	r.lines++
	sound := true
	for i := range r.kind.columns {
		c := &r.kind.columns[i]
		if r.values[i] == nil && c.otherwise != "" {
			r.values[i] = []byte(c.otherwise)
		}
		if fault := c.fault(r.values[i]); fault != "" {
			r.errorf(line, "%s", fault)
			sound = false
		} else if c.values == grade {
			n, _ := fields.ParseGrade(r.values[i])
			r.whole = strconv.AppendInt(r.whole[:0], int64(n), 10)
			r.values[i] = r.whole
		}
	}
	if (r.out.format == TRECRun || r.out.format == TRECQrels) && sound && fields.IsComment(r.values[topic]) {
		r.errorf(line, "the topic %s begins with #, and so would be a comment in the format %s; change its id, in all files",
			fields.Quote(r.values[topic]), r.out.format)
		return true
	}
	if sound && r.out.format == BEIR && !r.unheld && string(r.values[iteration]) != Qrels.columns[iteration].otherwise &&
		string(r.values[iteration]) != "Q0" {
		r.unheld = true
		r.report.Warnf(r.file, line, "the iteration %s is left out, here and in any other line, since the BEIR format has none",
			fields.Quote(r.values[iteration]))
	}
	if !r.report.Failed() {
		r.out.write(r.values)
	}
	return r.out.err == nil
}

// warnDropped warns, once for each file, that a field has no column.
func (r *reader) warnDropped(line int, name []byte) {
	if !r.extra {
		r.extra = true
		r.report.Warnf(r.file, line, "the field %s is left out, here and in any other line, as is any other than %s",
			fields.Quote(name), r.kind.names(", "))
	}
}

// readTREC reads fields separated by white space.
func (r *reader) readTREC(in *lines.Reader) {
	var memory [6][]byte
	order := r.kind.trec
	parts := memory[:len(order)]
	for in.Scan() {
		n := fields.Split(in.Text(), parts)
		switch {
		case n == 0:
			continue
		case fields.IsComment(parts[0]):
			if !r.commented && n == len(order) && len(parts[0]) > 1 && r.kind.matches(parts) {
				r.commented = true
				r.report.Warnf(r.file, in.Number(), "%s", fields.CommentedTopic(parts[0]))
			}
			continue
		case n < len(order), n > len(order) && r.kind == Qrels:
			r.errorf(in.Number(), "%s", fields.CountFault(in.Text(), parts, n, r.kind.layout))
			continue
		case n > len(order) && !r.extra:
			r.extra = true
			r.report.Warnf(r.file, in.Number(), "the line has more than six fields; what follows the sixth is left out, here and in any other line")
		}
		for i, column := range order {
			if column != constant {
				r.values[column] = parts[i]
			}
		}
		if !r.accept(in.Number()) {
			return
		}
	}
}

// readBEIR reads a header line and then fields separated by tabs.
func (r *reader) readBEIR(in *lines.Reader) {
	if in.Scan() && string(in.Text()) != beirHeader {
		r.errorf(in.Number(), "the first line is %s; expected query-id, corpus-id and score, separated by tabs", fields.Quote(in.Text()))
	}
	for in.Scan() {
		text := in.Text()
		if len(text) == 0 {
			continue
		}
		if n := bytes.Count(text, []byte{'\t'}) + 1; n != len(r.kind.beir) {
			r.errorf(in.Number(), "the line has %d of 3 fields: query-id, corpus-id and score, separated by tabs", n)
			continue
		}
		r.values[iteration] = nil
		for _, column := range r.kind.beir {
			r.values[column], text, _ = bytes.Cut(text, []byte{'\t'})
		}
		if !r.accept(in.Number()) {
			return
		}
	}
}

// readJSONL reads an object from each line.
func (r *reader) readJSONL(in *lines.Reader) {
	expected := "with " + r.kind.names(", ")
	for in.Scan() {
		clear(r.values)
		found, fault := fields.Object(in.Text(), expected, func(key, raw []byte) string { return r.member(in.Number(), key, raw) })
		for i, c := range r.kind.columns {
			if found && fault == "" && r.values[i] == nil && c.otherwise == "" {
				fault = fmt.Sprintf("the object has no %q; expected it in every line", c.name)
			}
		}
		if fault != "" {
			r.errorf(in.Number(), "%s", fault)
		} else if found && !r.accept(in.Number()) {
			return
		}
	}
}

// member stores a value of an object.
func (r *reader) member(line int, key, raw []byte) (fault string) {
	i := slices.IndexFunc(r.kind.columns, func(c column) bool { return fields.Names(key, c.name) })
	if i < 0 {
		r.warnDropped(line, key[1:len(key)-1])
		return ""
	}
	c := &r.kind.columns[i]
	if r.values[i] != nil {
		return fmt.Sprintf("the object has %q twice; expected it once", c.name)
	}
	r.values[i], fault = fields.Text(c.name, raw, jsonKinds[c.values])
	return fault
}

// readCSV reads a header record and then records of values.
func (r *reader) readCSV(in *lines.Reader) {
	records := fields.NewRecords(in, r.errorf, r.kind.required()...)
	line, header := records.Header()
	if header == nil {
		return
	}
	columns, ok := r.header(line, header)
	if !ok {
		return
	}
	for line, record := range records.All() {
		for i, column := range columns {
			if column >= 0 {
				r.values[column] = record[i]
			}
		}
		if !r.accept(line) {
			return
		}
	}
}

// header returns the column of each field of a csv file. It returns -1 for a field without a column.
func (r *reader) header(line int, names []string) (columns []int, ok bool) {
	ok = true
	for _, name := range names {
		i := slices.IndexFunc(r.kind.columns, func(c column) bool { return c.name == name })
		if i < 0 {
			r.warnDropped(line, []byte(name))
		} else if slices.Contains(columns, i) {
			ok = false
			r.errorf(line, "the first line names the field %q twice; expected it once", name)
		}
		columns = append(columns, i)
	}
	for i, c := range r.kind.columns {
		if c.otherwise == "" && !slices.Contains(columns, i) {
			ok = false
			r.errorf(line, "the first line names no field %q; expected %s, separated by commas or tabs", c.name, r.kind.names(", "))
		}
	}
	return columns, ok
}
