package output

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"assay/grpc/assayv1"
)

// Writer splits what a program writes into lines. It belongs to one goroutine.
type Writer struct {
	log            *Log
	stream         assayv1.Stream
	line           []byte // the unfinished line, up to its limit
	hasLine        bool   // there is an unfinished line, even when it is empty
	carriageReturn bool   // the last byte was a carriage return
}

// Writer returns a writer to the log.
func (l *Log) Writer(stream assayv1.Stream) *Writer { return &Writer{log: l, stream: stream} }

// Write implements io.Writer, and never fails. Text that a terminal would overwrite after a carriage return is dropped, so a progress
// bar is one line.
func (w *Writer) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		if w.carriageReturn && b[0] != '\n' && b[0] != '\r' {
			w.line = w.line[:0]
		}
		i := bytes.IndexAny(b, "\r\n")
		if i < 0 {
			w.extend(b)
			w.carriageReturn = false
			break
		}
		w.extend(b[:i])
		if w.carriageReturn = b[i] == '\r'; !w.carriageReturn {
			w.end()
		}
		b = b[i+1:]
	}
	return n, nil
}

func (w *Writer) extend(b []byte) {
	w.hasLine = w.hasLine || len(b) > 0
	// One byte more than the limit shows that the line was cut, and where a rune ends.
	room := maxLineBytes + utf8.UTFMax - len(w.line)
	w.line = append(w.line, b[:max(min(room, len(b)), 0)]...)
}

func (w *Writer) end() {
	w.log.add(w.stream, clean(w.line))
	w.line, w.hasLine, w.carriageReturn = w.line[:0], false, false
}

// Close ends a last line that has no end of its own.
func (w *Writer) Close() {
	if w.hasLine {
		w.end()
	}
}

// clean makes a line valid UTF-8 within the limit.
func clean(line []byte) string {
	text := strings.ToValidUTF8(string(line), "\uFFFD")
	if len(text) > maxLineBytes {
		text = strings.ToValidUTF8(text[:maxLineBytes], "")
	}
	return text
}
