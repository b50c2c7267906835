package corpus

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"assay/shared/measure/lines"
	"assay/shared/measure/steps"
)

// limits are the bounds of one Read; tests lower them. What is left to read is counted down over all files.
type limits struct {
	left, read int64
	line       int
	expansion  lines.Expansion
}

var standard = limits{left: MaxRead, read: MaxRead, line: MaxLine, expansion: lines.StandardExpansion}

// fault is why a file is not read, or not to its end. Every other error is one of where its bytes come from.
type fault string

func (f fault) Error() string { return string(f) }

const notText = fault("it is neither text nor text packed with gzip")

// content is the text of a file under the limits, until the context ends.
type content struct {
	counter *steps.Counter // of which each byte is a step
	limits  *limits
	text    io.Reader

	lines    *bufio.Reader
	overlong bool // a line was
}

// unpack looks at how a file begins. The content can be asked whether a line was overlong whatever the error is.
func unpack(ctx context.Context, r io.Reader, l *limits) (c *content, err error) {
	c = &content{counter: steps.Of(ctx), limits: l}
	if c.text, err = lines.Unpack(r, l.expansion); err != nil {
		return c, explain(err)
	}
	c.lines = bufio.NewReaderSize(c, l.line)
	// Binary files have zero bytes soon; text never does.
	head, err := c.lines.Peek(min(512, l.line))
	switch {
	case err != nil && !errors.Is(err, io.EOF) && len(head) == 0:
		return c, err
	case bytes.IndexByte(head, 0) >= 0:
		return c, notText
	}
	return c, nil
}

// Read reads text. Its error is io.EOF, a fault, that of the context, or one of where the bytes come from.
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

// explain makes a fault of the reason why a file cannot be read.
func explain(err error) error {
	if refusal, ok := errors.AsType[lines.Refusal](err); ok {
		return fault("it was not read to its end: " + refusal)
	}
	return err
}

// line returns the next line without its end, valid until the next call; io.EOF after the last. An overlong line comes as
// an empty one, and a line that a fault cuts short does not come.
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
