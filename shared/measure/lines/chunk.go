package lines

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

var newline = []byte{'\n'}

// Chunk is a piece of a file that consists of whole lines.
type Chunk struct {
	// First is the number of the first line, counted from 1.
	First int

	text    []byte // what is still unread
	memory  []byte
	at      int  // lines read
	sound   bool // the text is UTF-8 without zero bytes, so that lines need not be looked at one by one
	returns bool // lines have to be looked at for carriage returns within them
	maxLine int
}

// Line returns the next line without its end (\n or \r\n) and its number; ok is false after the last one. When the
// line is not sound, fault says why and text is nil. The text is valid until the chunk is recycled.
func (c *Chunk) Line() (number int, text []byte, fault string, ok bool) {
	if len(c.text) == 0 {
		return 0, nil, "", false
	}
	number = c.First + c.at
	c.at++
	if end := bytes.IndexByte(c.text, '\n'); end >= 0 {
		text, c.text = c.text[:end], c.text[end+1:]
	} else {
		text, c.text = c.text, nil
	}
	if n := len(text); n > 0 && text[n-1] == '\r' {
		text = text[:n-1]
	}
	if fault = c.fault(text); fault != "" {
		return number, nil, fault, true
	}
	return number, text, "", true
}

// Recycle returns the memory of the chunk, which must not be used afterwards, for another Reader.Next.
func (c *Chunk) Recycle() []byte { return c.memory }

// isValid says whether no line of the text has a fault but perhaps its length.
func isValid(text []byte) bool {
	return bytes.IndexByte(text, 0) < 0 && utf8.Valid(text)
}

// fault says what is wrong with a line; "" when nothing is.
func (c *Chunk) fault(text []byte) string {
	switch {
	case c.returns && BareCR(text):
		return BareCRFault
	case len(text) > c.maxLine:
		return tooLong(c.maxLine, text)
	case c.sound:
		return ""
	case bytes.IndexByte(text, 0) >= 0:
		return "the line has a zero byte, so this is not a text file; " + plainText
	case !utf8.Valid(text):
		return "the line is not valid UTF-8; save the file as UTF-8"
	}
	return ""
}

// tooLong is the fault of a line that begins with the text. Without a line feed, a file that ends its lines otherwise is one line.
func tooLong(limit int, text []byte) string {
	if BareCR(text) {
		return BareCRFault
	}
	return fmt.Sprintf("the line is longer than %d bytes", limit)
}

// BareCRFault is the fault of a line that BareCR finds.
const BareCRFault = "a carriage return (CR) stands within the line; files whose lines end with CR alone are not read, so save the file " +
	"with LF or CRLF at the end of each line"

// BareCR reports whether a line has a carriage return elsewhere than at its end.
func BareCR(line []byte) bool {
	i := bytes.IndexByte(line, '\r')
	return i >= 0 && i < len(bytes.TrimRight(line, "\r"))
}
