package collection

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"

	"assay/shared/measure/lines"
)

// limits are the bounds of one Read; tests lower them. What is left to read is counted down over all files.
type limits struct {
	left, read       int64
	line             int
	ratio, ratioFrom int64
}

var standard = limits{left: MaxRead, read: MaxRead, line: MaxLine, ratio: lines.MaxRatio, ratioFrom: 64 << 20}

// fault is why a file is not read, or not to its end. Every other error is one of where its bytes come from.
type fault string

func (f fault) Error() string { return string(f) }

const notText = fault("it is neither text nor text packed with gzip")

// packed counts the bytes of a file as it is stored, and remembers an error that gzip would mix up with its own.
type packed struct {
	r     io.Reader
	count int64
	err   error
}

func (p *packed) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	p.count += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		p.err = err
	}
	return n, err
}

// content is the text of a file under the limits, until the context ends.
type content struct {
	ctx    context.Context
	limits *limits
	packed *packed
	r      io.Reader
	gzip   bool
	count  int64

	lines    *bufio.Reader
	overlong int
}

// unpack looks at how a file begins. The content can be asked how many lines were overlong whatever the error is.
func unpack(ctx context.Context, r io.Reader, l *limits) (*content, error) {
	c := &content{ctx: ctx, limits: l, packed: &packed{r: r}}
	stored := bufio.NewReaderSize(c.packed, 64<<10)
	c.r = stored
	magic, err := stored.Peek(2)
	if c.packed.err != nil {
		return c, c.packed.err
	}
	if err == nil && string(magic) == "\x1f\x8b" {
		if c.r, err = gzip.NewReader(stored); err != nil {
			err = c.explain(err)
			return c, err
		}
		c.gzip = true
	}
	c.lines = bufio.NewReaderSize(c, l.line)
	// Archives, other ways of packing and UTF-16 have zero bytes soon; text never does.
	head, err := c.lines.Peek(min(512, l.line))
	if err != nil && !errors.Is(err, io.EOF) && len(head) == 0 {
		return c, err
	}
	if bytes.IndexByte(head, 0) >= 0 {
		return c, notText
	}
	if mark := "\xef\xbb\xbf"; bytes.HasPrefix(head, []byte(mark)) {
		_, err = c.lines.Discard(len(mark))
		return c, err
	}
	return c, nil
}

// Read reads text. Its error is io.EOF, a fault, that of the context, or one of where the bytes come from.
func (c *content) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	if c.packed.err != nil { // a buffer in between tells an error only once
		return 0, c.packed.err
	}
	if c.limits.left <= 0 {
		return 0, fault(fmt.Sprintf("it was not read to its end: at most %d MiB of a dataset's texts are", c.limits.read>>20))
	}
	n, err := c.r.Read(p[:min(int64(len(p)), c.limits.left)])
	c.count += int64(n)
	c.limits.left -= int64(n)
	switch {
	case c.gzip && c.count > c.limits.ratioFrom && c.count > c.limits.ratio*c.packed.count:
		return n, fault(fmt.Sprintf("it was not read to its end: it unpacks to more than %d times its size", c.limits.ratio))
	case err != nil && !errors.Is(err, io.EOF):
		return n, c.explain(err)
	}
	return n, err
}

// explain tells a damaged file from failing storage.
func (c *content) explain(err error) error {
	if c.packed.err != nil {
		return c.packed.err
	}
	return fault(fmt.Sprintf("it was not read to its end: its gzip is damaged (%v)", err))
}

// line returns the next line without its end, valid until the next call; io.EOF after the last. An overlong line comes as
// an empty one, and a line that a fault cuts short does not come.
func (c *content) line() ([]byte, error) {
	line, err := c.lines.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		c.overlong++
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = c.lines.ReadSlice('\n')
		}
		return nil, err
	}
	if err != nil && (!errors.Is(err, io.EOF) || len(line) == 0) {
		return nil, err
	}
	return bytes.TrimRight(line, "\r\n"), nil
}
