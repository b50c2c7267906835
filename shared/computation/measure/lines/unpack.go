package lines

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"unicode"
	"unicode/utf8"
)

// formats lists the formats that are refused by their first bytes. One diagnostic says more than one about each line.
var formats = []struct {
	magic, name string
}{
	{"PK\x03\x04", "a zip archive, or a spreadsheet such as .xlsx"},
	{"PK\x05\x06", "an empty zip archive"},
	{"BZh", "compressed with bzip2"},
	{"\xfd7zXZ\x00", "compressed with xz"},
	{"\x28\xb5\x2f\xfd", "compressed with zstd"},
	{"7z\xbc\xaf\x27\x1c", "a 7z archive"},
	{"\x04\x22\x4d\x18", "compressed with lz4"},
	{"\x1f\x9d", "compressed with compress (.Z)"},
	{"Rar!\x1a\x07", "a rar archive"},
	{"%PDF-", "a PDF document"},
	{"PAR1", "a Parquet file"},
	{"\x93NUMPY", "a saved array of NumPy (.npy)"},
	{"\x80\x02", pickle},
	{"\x80\x03", pickle},
	{"\x80\x04", pickle},
	{"\x80\x05", pickle},
	{"\xff\xfe", utf16Text},
	{"\xfe\xff", utf16Text},
}

const (
	utf16Text = "text in UTF-16"
	pickle    = "a pickle of Python"
)

// foreignTexts lists texts that stand in the place of a file, by their lower-case beginnings.
var foreignTexts = []struct{ begins, fault string }{
	{"<!doctype html", webPage},
	{"<html", webPage},
	{`{\rtf`, "the file is rich text (RTF); save it as plain text"},
	{"<?xml", "the file is XML; write it as lines of text in the expected format"},
	{"version https://git-lfs", "the file is a pointer of Git LFS, and not the file itself; get it with git lfs pull"},
	{"<<<<<<< ", "the file has the marks of a merge conflict (<<<<<<<); resolve the conflict"},
}

const webPage = "the file is a web page (HTML), and not the file itself; a server may have answered with its sign-in page or an error"

// tarMagicAt is the place of the text ustar in a tar archive.
const tarMagicAt = 257

// foreignText returns the fault of a text that stands in the place of a file, or "".
func foreignText(head []byte) string {
	if len(head) > tarMagicAt && bytes.HasPrefix(head[tarMagicAt:], []byte("ustar")) {
		return "the file is a tar archive, and not the file in it; send the one file itself, as tar -xOf ARCHIVE prints it"
	}
	if isBase64(head) {
		return "the file is in base64, and not the file itself; decode it, as base64 -d does, and encode the content of a request only once"
	}
	head = bytes.ToLower(bytes.TrimLeft(head[:min(len(head), 100)], " \t\r\n"))
	for _, f := range foreignTexts {
		if bytes.HasPrefix(head, []byte(f.begins)) {
			return f.fault
		}
	}
	return ""
}

// leastEncoded is the length from which on a line is taken for base64. Ids are shorter.
const leastEncoded = 40

// isBase64 reports whether the first line of a text is base64 of lines of text, or of a gzip file.
func isBase64(head []byte) bool {
	line, _, _ := bytes.Cut(head[:min(len(head), 1<<10)], []byte{'\n'})
	line = bytes.TrimRight(line, "\r=")
	if len(line) < leastEncoded {
		return false
	}
	decoded := make([]byte, len(line))
	n, err := base64.StdEncoding.Decode(decoded, line[:len(line)/4*4])
	if err != nil {
		return false
	}
	decoded = decoded[:n]
	return bytes.HasPrefix(decoded, []byte(gzipMagic)) || isReadable(decoded)
}

// isReadable reports whether a text has white space or commas, and no control characters. Its last character may be cut.
func isReadable(text []byte) bool {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		cut := r == utf8.RuneError && len(text)-i < utf8.UTFMax
		if !cut && !unicode.IsPrint(r) && !unicode.IsSpace(r) {
			return false
		}
		i += size
	}
	return bytes.ContainsAny(text, " \t\n,")
}

const (
	gzipMagic = "\x1f\x8b"
	byteOrder = "\xef\xbb\xbf" // the byte order mark in UTF-8
	plainText = "send it as plain UTF-8 text, or that text compressed with gzip"
)

// headBytes is the number of bytes that identify the format of a file.
const headBytes = 16

// isBinary reports whether a file with the head is binary, such as a picture or a saved array: its first byte begins no character, and
// there is a zero byte. Other files with zero bytes get a diagnostic for the line.
func isBinary(head []byte) bool {
	first, _ := utf8.DecodeRune(head)
	return (first == utf8.RuneError || first == 0) && bytes.IndexByte(head, 0) >= 0
}

// A Refusal says why the content of a file cannot be read. It becomes a diagnostic. All other errors come from the reader of the bytes.
type Refusal string

func (r Refusal) Error() string { return string(r) }

func refuse(format string, args ...any) error { return Refusal(fmt.Sprintf(format, args...)) }

// readSource counts the packed bytes and keeps an error of the underlying reader. This distinguishes it from a fault of the file, because a
// decompressor may return either.
type readSource struct {
	r     io.Reader
	count int64
	err   error
}

func (s *readSource) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	s.count += int64(n)
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}

// content reads the text of a file. It unpacks the file if necessary, under the limits of expansion.
type content struct {
	packed   *readSource
	text     io.Reader
	gzip     bool
	expanded int64
	limits   Expansion
}

// Unpack recognizes the format of a file by its first bytes, and returns a reader of its text. Errors of Unpack and of the reader are a
// Refusal, or errors of r. Reading on after an error of r returns it again.
func Unpack(r io.Reader, l Expansion) (io.Reader, error) {
	packed := &readSource{r: r}
	buffered := bufio.NewReaderSize(packed, 64<<10)
	head, err := buffered.Peek(headBytes)
	if packed.err != nil {
		return nil, packed.err
	}
	if err != nil && err != io.EOF {
		return nil, err
	}
	c := &content{packed: packed, text: buffered, limits: l}
	if bytes.HasPrefix(head, []byte(gzipMagic)) {
		unzipped, err := gzip.NewReader(buffered)
		if err != nil {
			return nil, c.explain(err)
		}
		c.gzip = true
		inner := bufio.NewReaderSize(unzipped, 64<<10)
		c.text = inner
		if head, err = inner.Peek(headBytes); err != nil && !errors.Is(err, io.EOF) {
			return nil, c.explain(err)
		}
		if bytes.HasPrefix(head, []byte(gzipMagic)) {
			return nil, refuse("the file is compressed with gzip twice; compress it once")
		}
	}
	for _, f := range formats {
		if bytes.HasPrefix(head, []byte(f.magic)) {
			heal := plainText
			if f.name == utf16Text {
				heal = "save it as UTF-8, as CSV UTF-8 in a spreadsheet, or convert it with iconv -f UTF-16 -t UTF-8"
			}
			return nil, refuse("the file is %s; %s", f.name, heal)
		}
	}
	if isBinary(head) {
		return nil, refuse("the file is not text; %s", plainText)
	}
	if bytes.HasPrefix(head, []byte(byteOrder)) {
		if _, err := io.ReadFull(c.text, make([]byte, len(byteOrder))); err != nil {
			return nil, c.explain(err)
		}
	}
	return c, nil
}

// Read implements io.Reader.
func (c *content) Read(p []byte) (int, error) {
	if c.packed.err != nil { // a buffer in between would return it only once
		return 0, c.packed.err
	}
	n, err := c.text.Read(p)
	c.expanded += int64(n)
	switch {
	case c.expanded > c.limits.Bytes:
		return n, refuse("the file has more than %d bytes of text, which is the most that is read; leave out what is not measured, such as "+
			"low ranks of a ranking or fields that are not read", c.limits.Bytes)
	case c.gzip && c.expanded > c.limits.RatioFrom && c.expanded > c.limits.Ratio*c.packed.count:
		return n, refuse("the file unpacks to more than %d times its size, more than text does; send the text itself", c.limits.Ratio)
	case err != nil && err != io.EOF:
		return n, c.explain(err)
	}
	return n, err
}

// explain distinguishes a damaged file from a failing reader.
func (c *content) explain(err error) error {
	switch {
	case c.packed.err != nil:
		return c.packed.err
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return refuse("the gzip file ends too early; it was probably cut short, so compress and send it again")
	default:
		return refuse("the gzip file is damaged (%v); compress and send it again", err)
	}
}
