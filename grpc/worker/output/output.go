// Package output buffers lines of a program and its worker until the server has acknowledged them. Each line is sent once and in order.
// The memory is bounded, however much is printed.
package output

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"assay/grpc/assayv1"
	"assay/shared/language/plural"
	"assay/shared/language/wait"
)

// Limits of the protocol for one call, and limits of a whole log.
const (
	maxCallLines  = 1000
	maxCallBytes  = 250 << 10 // of texts and overhead; the server accepts 256 KiB
	lineOverhead  = 16        // greatest overhead of a line in a call
	maxLineBytes  = 8 << 10
	maxLogBytes   = 16 << 20 // the server stores no more
	lineFootprint = 128      // memory of a line in addition to its text
	tailLines     = 40
	tailBytes     = 1900
)

// streamTail holds the last lines of a stream. Each stream has its own tail, because the two pipes are read independently.
type streamTail struct {
	texts   []string
	omitted int // how many of the texts, counted from the end, are not in the log
}

// Log is the log of one lease. It is safe for concurrent use.
type Log struct {
	mu           sync.Mutex
	first        int64 // position of the first pending line
	pending      []*assayv1.OutputLine
	bytes        int                                          // of pending, with overhead
	room         int                                          // bytes that the log may still store
	omittedLines int64                                        // lines that were omitted because the log is full
	last         [assayv1.Stream_STREAM_STDERR + 1]streamTail // by stream
	changed      wait.Signal
}

// New returns an empty log.
func New() *Log { return &Log{room: maxLogBytes} }

// Changed returns a channel that receives when the first line becomes pending, and when one call's worth of lines is pending.
func (l *Log) Changed() <-chan struct{} { return l.changed.C() }

// Printf adds lines of the worker. They do not count against the limit of the log.
func (l *Log) Printf(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for text := range strings.SplitSeq(fmt.Sprintf(format, args...), "\n") {
		l.keep(&assayv1.OutputLine{Stream: assayv1.Stream_STREAM_WORKER, Text: clean([]byte(text))})
	}
}

// add adds a line of a program.
func (l *Log) add(stream assayv1.Stream, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	last := &l.last[stream]
	last.texts = append(last.texts, text)
	if len(last.texts) > tailLines {
		last.texts = slices.Delete(last.texts, 0, 1)
	}
	l.room -= len(text) + lineFootprint
	if l.room >= 0 && l.omittedLines == 0 {
		l.keep(&assayv1.OutputLine{Stream: stream, Text: text})
		return
	}
	if l.omittedLines == 0 {
		l.keep(&assayv1.OutputLine{Stream: assayv1.Stream_STREAM_WORKER, Text: fmt.Sprintf(
			"More than %d MiB were printed. What comes now is left out, except for the last %d lines of each stream.", maxLogBytes>>20, tailLines)})
	}
	l.omittedLines++
	last.omitted = min(last.omitted+1, tailLines)
}

// Close ends the output of programs. It adds the last omitted lines to the log.
func (l *Log) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.omittedLines == 0 {
		return
	}
	lost := l.omittedLines
	for _, stream := range l.last {
		lost -= int64(stream.omitted)
	}
	if lost > 0 {
		l.keep(&assayv1.OutputLine{Stream: assayv1.Stream_STREAM_WORKER, Text: plural.Count(lost, "line") + " left out here."})
	}
	for i, last := range l.last {
		for _, text := range last.texts[len(last.texts)-last.omitted:] {
			l.keep(&assayv1.OutputLine{Stream: assayv1.Stream(i), Text: text})
		}
		l.last[i].omitted = 0
	}
	l.omittedLines = 0
}

func (l *Log) keep(line *assayv1.OutputLine) {
	full := l.full()
	l.pending = append(l.pending, line)
	l.bytes += len(line.GetText()) + lineOverhead
	if len(l.pending) == 1 || l.full() != full {
		l.changed.Send()
	}
}

func (l *Log) full() bool { return len(l.pending) >= maxCallLines || l.bytes >= maxCallBytes }

// Pending reports whether there are lines to send, and whether they fill one call.
func (l *Log) Pending() (some, full bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.pending) > 0, l.full()
}

// Next returns the lines for the next call, and the position of the first. They remain pending until Acknowledge.
func (l *Log) Next() (first int64, lines []*assayv1.OutputLine) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, size := 0, 0
	for n < len(l.pending) && n < maxCallLines {
		size += len(l.pending[n].GetText()) + lineOverhead
		if size > maxCallBytes {
			break
		}
		n++
	}
	return l.first, slices.Clone(l.pending[:n])
}

// Acknowledge removes the lines before the position, which the server has received.
func (l *Log) Acknowledge(next int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := int(min(max(next-l.first, 0), int64(len(l.pending))))
	for _, line := range l.pending[:n] {
		l.bytes -= len(line.GetText()) + lineOverhead
	}
	l.pending = l.pending[n:]
	if len(l.pending) == 0 {
		l.pending = nil
	}
	l.first += int64(n)
}

// Tail returns the last lines of programs on the stream, as many as fit into a diagnostic.
func (l *Log) Tail(stream assayv1.Stream) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	texts := l.last[stream].texts
	size, from := 0, len(texts)
	for from > 0 && size+len(texts[from-1]) < tailBytes {
		from--
		size += len(texts[from]) + 1
	}
	if from == len(texts) && from > 0 {
		long := texts[from-1]
		return strings.ToValidUTF8(long[len(long)-tailBytes:], "")
	}
	return strings.Join(texts[from:], "\n")
}

// Writer splits the output of a program into lines. It is not safe for concurrent use.
type Writer struct {
	log            *Log
	stream         assayv1.Stream
	line           []byte // the unfinished line, truncated
	hasLine        bool   // there is an unfinished line, which may be empty
	carriageReturn bool   // the last byte was a carriage return
}

// Writer returns a writer to the log.
func (l *Log) Writer(stream assayv1.Stream) *Writer { return &Writer{log: l, stream: stream} }

// Write implements io.Writer, and never fails. It drops text that a terminal would overwrite after a carriage return, so that a progress
// bar becomes one line.
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
		w.carriageReturn = b[i] == '\r'
		if !w.carriageReturn {
			w.end()
		}
		b = b[i+1:]
	}
	return n, nil
}

func (w *Writer) extend(b []byte) {
	w.hasLine = w.hasLine || len(b) > 0
	// The line keeps some bytes beyond the limit, to show that it was cut and to complete the last rune.
	room := maxLineBytes + utf8.UTFMax - len(w.line)
	w.line = append(w.line, b[:max(min(room, len(b)), 0)]...)
}

func (w *Writer) end() {
	w.log.add(w.stream, clean(w.line))
	w.line = w.line[:0]
	w.hasLine = false
	w.carriageReturn = false
}

// Close ends a last line without a line break.
func (w *Writer) Close() {
	if w.hasLine {
		w.end()
	}
}

// clean converts a line to valid UTF-8 within the limit.
func clean(line []byte) string {
	text := strings.ToValidUTF8(string(line), "\uFFFD")
	if len(text) > maxLineBytes {
		text = strings.ToValidUTF8(text[:maxLineBytes], "")
	}
	return text
}
