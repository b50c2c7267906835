package conversion

import (
	"bufio"
	"bytes"
)

// writer writes lines in one format. Once err is set nothing more is written.
type writer struct {
	kind   *kind
	format Format
	w      *bufio.Writer
	line   []byte
	err    error
}

// begin writes the line that names the fields, if the format has one.
func (w *writer) begin() {
	switch w.format {
	case CSV:
		for i, c := range w.kind.columns {
			w.line = append(w.separated(i, ','), c.name...)
		}
		w.flush()
	case BEIR:
		for i, name := range beirHeader {
			w.line = append(w.separated(i, '\t'), name...)
		}
		w.flush()
	case JSONL, TRECRun, TRECQrels: // have none
	}
}

// write writes a line of sound values, in the order of the columns.
func (w *writer) write(values [][]byte) {
	switch w.format {
	case JSONL:
		for i := range w.kind.columns {
			c := &w.kind.columns[i]
			w.line = append(w.line, "{,"[min(i, 1)], '"')
			w.line = append(append(w.line, c.name...), '"', ':')
			w.line = c.appendJSON(w.line, values[i])
		}
		w.line = append(w.line, '}')
	case CSV:
		for i, v := range values {
			w.line = appendField(w.separated(i, ','), v)
		}
	case BEIR:
		for i, column := range w.kind.beir {
			w.line = append(w.separated(i, '\t'), values[column]...)
		}
	default:
		for i, column := range w.kind.trec {
			if w.line = w.separated(i, ' '); column == constant {
				w.line = append(w.line, "Q0"...)
			} else {
				w.line = append(w.line, values[column]...)
			}
		}
	}
	w.flush()
}

// separated is the line with the separator that stands before the field of that index.
func (w *writer) separated(i int, separator byte) []byte {
	if i == 0 {
		return w.line
	}
	return append(w.line, separator)
}

func (w *writer) flush() {
	if w.err == nil {
		_, w.err = w.w.Write(append(w.line, '\n'))
	}
	w.line = w.line[:0]
}

// appendField appends a field of csv, in quotes where it needs them.
func appendField(line, text []byte) []byte {
	if bytes.IndexByte(text, ',') < 0 && bytes.IndexByte(text, '"') < 0 {
		return append(line, text...)
	}
	line = append(append(line, '"'), bytes.ReplaceAll(text, []byte{'"'}, []byte(`""`))...)
	return append(line, '"')
}
