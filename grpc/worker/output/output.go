// Package output buffers the lines that a program and its worker write until the server has acknowledged them, each once and in
// order. Its memory is bounded however much is printed.
package output

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"assay/grpc/assayv1"
	"assay/shared/plural"
	"assay/shared/wait"
)

// The limits of the protocol for one call, and those of a whole log.
const (
	maxCallLines  = 1000
	maxCallBytes  = 250 << 10 // of texts and overhead; the server takes 256 KiB
	lineOverhead  = 16        // of a line in a call, at most
	maxLineBytes  = 8 << 10
	maxLogBytes   = 16 << 20 // the server stores no more
	lineFootprint = 128      // of a line in memory, in addition to its text
	tailLines     = 40
	tailBytes     = 1900
)

// streamTail is the last lines of a stream. The two pipes are read independently, so each has its own.
type streamTail struct {
	texts   []string
	omitted int // how many of the last of them were left out
}

// Log is the log of one lease. It can be used by several goroutines at once.
type Log struct {
	mu           sync.Mutex
	first        int64 // the position of the first of pending
	pending      []*assayv1.OutputLine
	bytes        int                                          // of the texts of pending
	room         int                                          // bytes that may still be kept
	omittedLines int64                                        // lines that were left out since there is no more room
	last         [assayv1.Stream_STREAM_STDERR + 1]streamTail // by stream
	changed      wait.Signal
}

// New returns an empty log.
func New() *Log { return &Log{room: maxLogBytes} }

// Changed receives when the first line is pending, and when as many are as one call takes.
func (l *Log) Changed() <-chan struct{} { return l.changed.C() }

// Printf adds lines of the worker's own, for which there is always room.
func (l *Log) Printf(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for text := range strings.SplitSeq(fmt.Sprintf(format, args...), "\n") {
		l.keep(&assayv1.OutputLine{Stream: assayv1.Stream_STREAM_WORKER, Text: clean([]byte(text))})
	}
}

// add adds a line of a program's.
func (l *Log) add(stream assayv1.Stream, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	last := &l.last[stream]
	if last.texts = append(last.texts, text); len(last.texts) > tailLines {
		last.texts = slices.Delete(last.texts, 0, 1)
	}
	if l.room -= len(text) + lineFootprint; l.room >= 0 && l.omittedLines == 0 {
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

// Close ends the output of programs, and adds the last lines of what was left out.
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

// Pending reports whether there are lines to send, and whether there are as many as one call takes.
func (l *Log) Pending() (some, full bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.pending) > 0, l.full()
}

// Next returns the lines to send next, as many as one call takes, and the position of the first. They stay until Acknowledge.
func (l *Log) Next() (first int64, lines []*assayv1.OutputLine) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, bytes := 0, 0
	for n < len(l.pending) && n < maxCallLines {
		if bytes += len(l.pending[n].GetText()) + lineOverhead; bytes > maxCallBytes {
			break
		}
		n++
	}
	return l.first, slices.Clone(l.pending[:n])
}

// Acknowledge removes the lines before the position, which the server has.
func (l *Log) Acknowledge(next int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := int(min(max(next-l.first, 0), int64(len(l.pending))))
	for _, line := range l.pending[:n] {
		l.bytes -= len(line.GetText()) + lineOverhead
	}
	if l.pending = l.pending[n:]; len(l.pending) == 0 {
		l.pending = nil
	}
	l.first += int64(n)
}

// Tail returns the last lines that programs wrote to the stream, as many as a diagnostic holds.
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
	w.line = w.line[:0]
	w.hasLine = false
	w.carriageReturn = false
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
