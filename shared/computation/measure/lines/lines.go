// Package lines reads text files from unauthenticated callers, line by line or in chunks of whole lines. Any file takes bounded memory.
// Gzip is unpacked under a limit of expansion. Other packed or binary formats are refused by their first bytes. Overlong lines, zero bytes
// and text that is not UTF-8 become diagnostics with their line.
package lines

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/bounds"
	"assay/shared/computation/measure/steps"
)

// Reader reads one file. It adds the faults of the file to the report, so after the last line report.Failed says whether the file can be
// used. Err returns only errors of the io.Reader and the context.
//
// A Reader is used either line by line (Scan, Text, Number) or in chunks (Next), from one goroutine.
type Reader struct {
	counter *steps.Counter // each byte is a step, and each line takes perLine more
	file    string
	packed  io.Reader
	report  *measure.Report
	limits  limits
	keepCR  bool
	head    []byte // the first whole lines

	// The progress of Next.
	unpacked io.Reader // nil before the first chunk
	rest     []byte    // start of a line whose end was not read yet
	line     int       // number of this line
	ended    bool
	err      error

	// The progress of Scan.
	chunk   Chunk
	text    []byte // the current line
	number  int    // of the current line
	charged int    // errors of the report whose steps were counted
}

// NewReader returns a Reader for the raw bytes of an upload. file is the name for diagnostics.
func NewReader(ctx context.Context, file string, r io.Reader, report *measure.Report) *Reader {
	return &Reader{counter: steps.Of(ctx), file: file, packed: r, report: report, limits: standard, line: 1, charged: report.Errors()}
}

// AllowLines sets the maximum length of lines in bytes, instead of bounds.Line.
func (r *Reader) AllowLines(length int) {
	r.limits.line = int64(length)
	r.limits.chunk += length
}

// KeepCR allows carriage returns within lines, because a quoted field of csv may contain them.
func (r *Reader) KeepCR() { r.keepCR = true }

// Head returns the FirstLines of the file. It is empty before the first chunk.
func (r *Reader) Head() []byte { return r.head }

// maxHead is the maximum size of the FirstLines in bytes.
const maxHead = 4 << 10

// FirstLines returns the first whole lines of a text, of a few KiB together. If the first line is longer, it is cut.
func FirstLines(text []byte) []byte {
	if len(text) <= maxHead {
		return text
	}
	text = text[:maxHead]
	if end := endOfLines(text); end > 0 {
		return text[:end]
	}
	return text
}

// Scan goes to the next sound line, and reports whether there is one. It returns false at the end of the file, if the report is full, if
// the rest of the file cannot be read, and if the context is done.
func (r *Reader) Scan() bool {
	for !r.report.Full() && r.charge() {
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

// PerFault is the number of steps of a fault in addition to the steps of its line.
const PerFault = 300

// charge counts the steps of the faults since its last call. It returns false if the counter has an error.
func (r *Reader) charge() bool {
	faults := r.report.Errors()
	if n := faults - r.charged; n > 0 && r.err == nil {
		r.err = r.counter.Add(PerFault * n)
		r.report.FaultyText += int64(len(r.text))
	}
	r.charged = faults
	return r.err == nil
}

// Text returns the current line without its end (\n or \r\n). It is valid until the next Scan.
func (r *Reader) Text() []byte { return r.text }

// Number returns the number of the current line, counted from 1.
func (r *Reader) Number() int { return r.number }

// Err returns the error of the underlying reader or of the context, if one of them ended the reading.
func (r *Reader) Err() error { return r.err }

// Next returns the next chunk of the file. It returns false under the conditions of Scan. The chunk uses the memory of buffer if buffer is
// large enough; nil allocates. Callers that are done with a chunk pass its Recycle to a later Next.
func (r *Reader) Next(buffer []byte) (Chunk, bool) {
	if r.err != nil || r.ended || r.report.Full() || !r.open() {
		return Chunk{}, false
	}
	if least := min(r.limits.chunk, standard.chunk); cap(buffer) < least {
		buffer = make([]byte, least)
	}
	buffer = buffer[:cap(buffer)]
	filled := copy(buffer, r.rest)
	for !r.report.Full() {
		first := r.line == 1 && filled == 0
		n, err := r.read(buffer[filled:])
		filled += n
		if fault := foreignText(buffer[:filled]); first && fault != "" {
			r.fail(Refusal(fault))
			return Chunk{}, false
		}
		if err != nil {
			return r.finish(buffer[:filled], err)
		}
		if filled < len(buffer) {
			continue
		}
		if end := endOfLines(buffer); end > 0 {
			return r.cut(buffer, end)
		}
		if len(buffer) < r.limits.chunk { // Only long lines take more memory.
			longer := make([]byte, min(2*len(buffer), r.limits.chunk))
			filled = copy(longer, buffer)
			buffer = longer
			continue
		}
		// A line that fills a whole chunk is overlong. Nothing of it is kept.
		filled = r.skipLine(buffer)
	}
	return Chunk{}, false
}

// open begins to unpack the file, unless an earlier call did. It reports false if the file cannot be unpacked.
func (r *Reader) open() bool {
	if r.unpacked != nil {
		return true
	}
	unpacked, err := Unpack(r.packed, r.limits.Expansion)
	if err != nil {
		r.fail(err)
		return false
	}
	r.unpacked = unpacked
	return true
}

// errTooMuchText ends the reading of a file whose text exceeds the limit. The report says so already.
var errTooMuchText = errors.New("the files have too much text")

// read reads text into buffer, and counts it.
func (r *Reader) read(buffer []byte) (int, error) {
	if err := r.counter.Add(1); err != nil {
		return 0, err
	}
	n, err := r.unpacked.Read(buffer)
	if stopped := r.counter.Add(n); stopped != nil {
		return n, stopped
	}
	if !r.fits(n) {
		return n, errTooMuchText
	}
	return n, err
}

// finish ends the reading with the error of the last read. It returns the text that is left:
//
//	end of the file     all of it
//	damaged file        the whole lines before the damage, which may have faults of their own
//	too much text       nothing
//	any other error     nothing
func (r *Reader) finish(text []byte, err error) (Chunk, bool) {
	r.ended = true
	switch {
	case errors.Is(err, io.EOF):
		return r.cut(text, len(text))
	case errors.Is(err, errTooMuchText):
		return Chunk{}, false
	}
	r.fail(err)
	if r.err != nil {
		return Chunk{}, false
	}
	return r.cut(text, endOfLines(text))
}

// endOfLines returns the end of the last whole line in text, or 0.
func endOfLines(text []byte) int { return bytes.LastIndexByte(text, '\n') + 1 }

// fits counts n bytes of text, and reports whether this file and the files before it are within the limit.
func (r *Reader) fits(n int) bool {
	r.report.Text += int64(n)
	if r.report.Text <= r.limits.text {
		return true
	}
	if r.ended {
		return false
	}
	r.report.Errorf(r.file, 0, "the file has, together with those before it, more than %d MiB of text; expected at most so much: leave out "+
		"what is not measured, such as low ranks of a ranking or fields that are not read", r.limits.text>>20)
	r.ended = true
	return false
}

// perLine is the number of steps of a line in addition to the steps of its bytes. A line takes about as many bytes of memory.
const perLine = 40

// cut returns a chunk of the text before end, and keeps the rest for the next chunk.
func (r *Reader) cut(buffer []byte, end int) (Chunk, bool) {
	if end == 0 {
		return Chunk{}, false
	}
	r.rest = append(r.rest[:0], buffer[end:]...)
	text := buffer[:end]
	if r.line == 1 {
		r.head = bytes.Clone(FirstLines(text))
	}
	chunk := Chunk{First: r.line, text: text, memory: buffer, maxLine: int(r.limits.line)}
	chunk.sound = bytes.IndexByte(text, 0) < 0 && utf8.Valid(text)
	chunk.returns = !r.keepCR && bytes.IndexByte(text, '\r') >= 0
	ends := bytes.Count(text, newline)
	r.line += ends
	r.err = r.counter.Add(perLine * ends)
	return chunk, r.err == nil
}

// skipLine reports that the line in buffer is too long, reads to its end, and moves the text after it to the start of buffer. It returns
// the length of this text. It ignores errors, because the next read returns them again.
func (r *Reader) skipLine(buffer []byte) int {
	r.report.Errorf(r.file, r.line, "%s", tooLong(int(r.limits.line), buffer))
	before := r.report.Text
	defer func() { r.report.FaultyText += int64(len(buffer)) + min(r.report.Text-before, 1<<20) }()
	r.line++
	for r.counter.Add(len(buffer)) == nil {
		n, err := r.unpacked.Read(buffer)
		if !r.fits(n) {
			break
		}
		if end := bytes.IndexByte(buffer[:n], '\n') + 1; end > 0 {
			return copy(buffer, buffer[end:n])
		}
		if err != nil {
			break
		}
	}
	return 0
}

// fail ends the reading. It reports a Refusal to the report, and keeps any other error for Err.
func (r *Reader) fail(err error) {
	r.ended = true
	if fault, ok := errors.AsType[Refusal](err); ok {
		r.report.Errorf(r.file, 0, "%s", fault)
		return
	}
	r.err = err
}

// Expansion limits the unpacked size of a file: to Bytes and, for more than RatioFrom bytes, to Ratio times its packed size.
type Expansion struct{ Bytes, Ratio, RatioFrom int64 }

// StandardExpansion is the limit for files that evaluators read.
var StandardExpansion = Expansion{Bytes: bounds.Files, Ratio: bounds.Ratio, RatioFrom: bounds.RatioFrom}

// limits are the bounds of one Reader; tests lower them.
type limits struct {
	Expansion
	text  int64
	line  int64
	chunk int
}

// A chunk of 128 KiB fits into the second-level cache of a core. It is so large that the cost of passing chunks between goroutines is
// negligible.
var standard = limits{Expansion: StandardExpansion, text: bounds.Files, line: bounds.Line, chunk: 128 << 10}

var newline = []byte{'\n'}

// Chunk is a piece of a file that consists of whole lines.
type Chunk struct {
	// First is the number of the first line, counted from 1.
	First int

	text    []byte
	memory  []byte
	read    int    // bytes of the text that were read
	at      int    // lines that were read
	marked  int    // end of the window that Columns marked last
	marks   uint64 // marks of the window after read
	sound   bool   // the whole text is UTF-8 without zero bytes, so single lines need no check
	returns bool   // the text has carriage returns, so each line needs a check for carriage returns within it
	maxLine int
}

// Line returns the next line without its end (\n or \r\n), and its number. ok is false after the last line. If the line is not sound, fault
// says why and text is nil. The text is valid until the chunk is recycled.
func (c *Chunk) Line() (number int, text []byte, fault string, ok bool) {
	text = c.text[c.read:]
	if len(text) == 0 {
		return 0, nil, "", false
	}
	number = c.First + c.at
	c.at++
	if end := bytes.IndexByte(text, '\n'); end >= 0 {
		text = text[:end]
		c.read++
	}
	c.read += len(text)
	c.marked, c.marks = c.read, 0
	if n := len(text); n > 0 && text[n-1] == '\r' {
		text = text[:n-1]
	}
	if fault = c.fault(text); fault != "" {
		return number, nil, fault, true
	}
	return number, text, "", true
}

// IsCut reports whether the line that Line returned last has no end. It is the last line of a file, which may be cut short.
func (c *Chunk) IsCut() bool { return c.read == len(c.text) && c.read > 0 && c.text[c.read-1] != '\n' }

// Recycle returns the memory of the chunk for another Reader.Next. The chunk must not be used afterwards.
func (c *Chunk) Recycle() []byte { return c.memory }

// fault says why a line is not sound. It returns "" for a sound line.
func (c *Chunk) fault(text []byte) string {
	switch {
	case !c.sound && bytes.IndexByte(text, 0) >= 0:
		return "the line has a zero byte, so this is not a text file; " + plainText
	case c.returns && BareCR(text):
		return BareCRFault
	case len(text) > c.maxLine:
		return tooLong(c.maxLine, text)
	case c.sound:
		return ""
	case !utf8.Valid(text):
		return "the line is not valid UTF-8; save the file as UTF-8"
	}
	return ""
}

// tooLong returns the fault of an overlong line that begins with text. A file whose lines end with carriage returns looks like one line.
func tooLong(limit int, text []byte) string {
	if BareCR(text) {
		return BareCRFault
	}
	return fmt.Sprintf("the line is longer than %d bytes", limit)
}

// BareCRFault is the fault of a line that BareCR finds.
const BareCRFault = "a carriage return (CR) stands within the line; lines must not end with CR only, so save the file with LF or " +
	"CRLF at the end of each line"

// BareCR reports whether a line has a carriage return before its end.
func BareCR(line []byte) bool {
	i := bytes.IndexByte(line, '\r')
	return i >= 0 && i < len(bytes.TrimRight(line, "\r"))
}
