// Package lines reads text files from unauthenticated callers, line by line or in chunks of whole lines. Whatever the file is,
// it costs bounded memory: gzip is unpacked under a limit of expansion, other packed or binary formats are refused by
// their first bytes, and overlong lines, zero bytes and text that is not UTF-8 become diagnostics with their line.
package lines

import (
	"bytes"
	"context"
	"errors"
	"io"

	"assay/shared/measure"
)

// Reader reads one file. Faults of the file go to the report, so that after the last line report.Failed says whether
// the file can be used; Err is only about the io.Reader and the context.
//
// A Reader is used either line by line (Scan, Text, Number) or in chunks (Next), from one goroutine.
type Reader struct {
	ctx    context.Context
	file   string
	r      io.Reader
	report *measure.Report
	limits limits
	keepCR bool

	content io.Reader
	rest    []byte // start of a line whose end is not read yet
	line    int    // number of the line that rest starts
	ended   bool
	err     error

	chunk  Chunk
	text   []byte
	number int
}

// NewReader reads the raw bytes of an upload from r. file is its name in diagnostics.
func NewReader(ctx context.Context, file string, r io.Reader, report *measure.Report) *Reader {
	return &Reader{ctx: ctx, file: file, r: r, report: report, limits: standard, line: 1}
}

// KeepCR has lines with carriage returns within them count as sound: a quoted field of csv may have some.
func (r *Reader) KeepCR() { r.keepCR = true }

// Scan goes to the next sound line and says whether there is one. It returns false at the end of the file, when the
// report is full, when the rest of the file can't be read, and when the context is done.
func (r *Reader) Scan() bool {
	for !r.report.Full() {
		var fault string
		var ok bool
		if r.number, r.text, fault, ok = r.chunk.Line(); ok {
			if fault == "" {
				return true
			}
			r.report.Errorf(r.file, r.number, "%s", fault)
			continue
		}
		if r.chunk, ok = r.Next(r.chunk.Recycle()); !ok {
			return false
		}
	}
	return false
}

// Text is the current line without its end (\n or \r\n), valid until the next Scan.
func (r *Reader) Text() []byte { return r.text }

// Number is the number of the current line, counted from 1.
func (r *Reader) Number() int { return r.number }

// Err is the error of the underlying reader or of the context, if one of them ended the reading.
func (r *Reader) Err() error { return r.err }

// Next returns the next chunk of the file; false under the conditions of Scan. The chunk's memory is buffer if that is
// large enough, so a caller that is done with a chunk hands its Recycle to a later Next; nil makes a new one.
func (r *Reader) Next(buffer []byte) (Chunk, bool) {
	if r.err != nil || r.ended || r.report.Full() {
		return Chunk{}, false
	}
	if r.err = r.ctx.Err(); r.err != nil {
		return Chunk{}, false
	}
	if r.content == nil {
		content, err := Unpack(r.r, r.limits.Expansion)
		if err != nil {
			r.fail(err)
			return Chunk{}, false
		}
		r.content = content
	}
	if cap(buffer) < r.limits.chunk {
		buffer = make([]byte, r.limits.chunk)
	}
	buffer = buffer[:cap(buffer)]
	filled := copy(buffer, r.rest)
	for {
		n, err := r.content.Read(buffer[filled:])
		filled += n
		if err != nil {
			r.ended = true
			if errors.Is(err, io.EOF) {
				return r.cut(buffer[:filled], filled)
			}
			if r.fail(err); r.err != nil {
				return Chunk{}, false
			}
			// The lines before the damage may have faults of their own; the one that it cut is lost.
			return r.cut(buffer[:filled], bytes.LastIndexByte(buffer[:filled], '\n')+1)
		}
		if filled < len(buffer) {
			continue
		}
		if end := bytes.LastIndexByte(buffer, '\n') + 1; end > 0 {
			return r.cut(buffer, end)
		}
		// A line that fills a whole chunk is overlong whatever follows: its end is sought and nothing of it kept.
		if filled, err = r.skipLine(buffer); err != nil {
			r.fail(err)
			return Chunk{}, false
		}
		if r.report.Full() {
			return Chunk{}, false
		}
	}
}

// cut makes a chunk of what stands before end and keeps the rest for the next one.
func (r *Reader) cut(buffer []byte, end int) (Chunk, bool) {
	if end == 0 {
		return Chunk{}, false
	}
	r.rest = append(r.rest[:0], buffer[end:]...)
	text := buffer[:end]
	chunk := Chunk{First: r.line, text: text, memory: buffer, sound: isValid(text), maxLine: int(r.limits.line)}
	chunk.returns = !r.keepCR && bytes.IndexByte(text, '\r') >= 0
	r.line += bytes.Count(text, newline)
	return chunk, true
}

// skipLine reports the line that buffer starts, reads on to its end, and returns how much of the text after it now
// fills the buffer.
func (r *Reader) skipLine(buffer []byte) (int, error) {
	r.report.Errorf(r.file, r.line, "%s", tooLong(int(r.limits.line), buffer))
	r.line++
	for {
		if err := r.ctx.Err(); err != nil {
			return 0, err
		}
		n, err := r.content.Read(buffer)
		if end := bytes.IndexByte(buffer[:n], '\n') + 1; end > 0 {
			return copy(buffer, buffer[end:n]), ignoreEOF(err)
		}
		if err != nil {
			return 0, ignoreEOF(err)
		}
	}
}

// ignoreEOF leaves the end of the file to the next read, which meets it again.
func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// fail ends the reading: a fault of the file is reported, anything else is the error.
func (r *Reader) fail(err error) {
	r.ended = true
	if fault, ok := errors.AsType[Refusal](err); ok {
		r.report.Errorf(r.file, 0, "%s", fault)
		return
	}
	r.err = err
}
