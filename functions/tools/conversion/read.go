package conversion

import (
	"bytes"
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

	whole []byte // memory for the text of a grade, or of a score from a rank

	columns      []int  // the column of each field in the last line, or -1; nil before the first line
	decimalComma bool   // numbers may have a comma for the point, because it separates no fields
	where        string // the place in a JSON file, for messages

	lines     int  // lines that had values, valid or not
	unscored  bool // it has warned that the file has no scores
	unheld    bool // it has warned that an iteration is left out
	extra     bool // it has warned that a field is left out
	commented bool // it has warned that a comment looks like a line
}

func (r *reader) errorf(line int, format string, args ...any) {
	r.lines++ // a file with only errors does not count as empty
	if r.where != "" {
		format, args = "%s"+format, append([]any{r.where}, args...)
	}
	r.report.Errorf(r.file, line, format, args...)
}

// expectLines reports a file without lines.
func (r *reader) expectLines() {
	if r.lines == 0 && !r.report.Failed() {
		r.report.Errorf(r.file, 0, "the file is empty or has no lines of %s; expected one for each document", r.kind.name)
	}
}

// setScore gives a document without a score the score -rank. ok is false if the rank is not a number, which it reports.
func (r *reader) setScore(line int) (ok bool) {
	x, ok := fields.ParseScore(r.values[rankOfRun])
	if !ok {
		r.errorf(line, "there is no score, and the rank %s is not a number that could take its place", fields.Quote(r.values[rankOfRun]))
		return false
	}
	if !r.unscored {
		r.unscored = true
		r.report.Warnf(r.file, line, "the file has no scores, so each document gets the score -rank, here and in any other line")
	}
	r.whole = strconv.AppendFloat(r.whole[:0], 0-x, 'g', -1, 64)
	r.values[lastOfBoth] = r.whole
	return true
}

// accept checks the values of a line and writes them. It returns false if reading should stop.
func (r *reader) accept(line int) bool {
	r.lines++
	if r.kind == Runs && r.values[lastOfBoth] == nil && r.values[rankOfRun] != nil && !r.setScore(line) {
		return true
	}
	sound := r.check(line)
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

// check puts the values of a line into their usual form. It reports values that have faults, and returns false.
func (r *reader) check(line int) (sound bool) {
	sound = true
	for i := range r.kind.columns {
		c := &r.kind.columns[i]
		if r.decimalComma && i == lastOfBoth {
			r.values[i] = bytes.Replace(r.values[i], []byte{','}, []byte{'.'}, 1)
		}
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
	return sound
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
			r.errorf(in.Number(), "%s", fields.CountFault(in.Text(), parts, n, r.kind.layout, fields.NumbersOf(in.Head())))
			continue
		}
		if fault := r.kind.faultOf(parts, n, in.Number() == 1); fault != "" {
			r.errorf(in.Number(), "%s", fault)
			continue
		}
		if n > len(order) && !r.extra {
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

// faultOf returns the fault of a line in a format of TREC, by what its n fields hold, or "".
func (k *Kind) faultOf(parts [][]byte, n int, isFirst bool) string {
	if k == Qrels {
		return fields.QrelsFault(parts, k.layout)
	}
	return fields.RunFault(parts, n, isFirst)
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
