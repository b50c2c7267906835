package corpus

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"assay/shared/computation/measure/lines"
	"assay/shared/computation/measure/steps"
)

// limits are the limits of one Read; tests lower them.
type limits struct {
	left      int64 // bytes that may still be read, over all files
	read      int64 // bytes that may be read in total
	line      int
	expansion lines.Expansion
}

var standard = limits{left: MaxRead, read: MaxRead, line: MaxLine, expansion: lines.StandardExpansion}

// fault says why a file is not read to its end. All other errors come from the reader of its bytes.
type fault string

func (f fault) Error() string { return string(f) }

const notText = fault("it is neither text nor text packed with gzip")

// content reads the text of a file within the limits, until the context ends.
type content struct {
	counter *steps.Counter // counts bytes
	limits  *limits
	text    io.Reader

	lines    *bufio.Reader
	overlong bool // a line was too long
}

// unpack returns the content of a file. It looks at the first bytes, and returns notText or another fault if the file is not text. c is
// never nil.
func unpack(ctx context.Context, r io.Reader, l *limits) (c *content, err error) {
	c = &content{counter: steps.Of(ctx), limits: l}
	if c.text, err = lines.Unpack(r, l.expansion); err != nil {
		return c, explain(err)
	}
	c.lines = bufio.NewReaderSize(c, l.line)
	// Binary files have zero bytes near the start. Text has none.
	head, err := c.lines.Peek(min(512, l.line))
	switch {
	case err != nil && !errors.Is(err, io.EOF) && len(head) == 0:
		return c, err
	case bytes.IndexByte(head, 0) >= 0:
		return c, notText
	}
	return c, nil
}

// Read reads text. Its error is io.EOF, a fault, the context's error, or an error of the reader of the bytes.
func (c *content) Read(p []byte) (int, error) {
	if err := c.counter.Add(1); err != nil {
		return 0, err
	}
	if c.limits.left <= 0 {
		return 0, fault(fmt.Sprintf("it was not read to its end: at most %d MiB of a dataset's texts are", c.limits.read>>20))
	}
	n, err := c.text.Read(p[:min(int64(len(p)), c.limits.left)])
	c.limits.left -= int64(n)
	if err := c.counter.Add(n); err != nil {
		return 0, err
	}
	return n, explain(err)
}

// explain turns a Refusal into a fault.
func explain(err error) error {
	if refusal, ok := errors.AsType[lines.Refusal](err); ok {
		return fault("it was not read to its end: " + refusal)
	}
	return err
}

// line returns the next line without its end. It is valid until the next call. The error is io.EOF after the last line. An overlong line is
// returned as an empty line. A line that a fault cuts short is not returned.
func (c *content) line() ([]byte, error) {
	line, err := c.lines.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		c.overlong = true
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
