package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"assay/local/cli/offline"
	"assay/shared/computation/measure/scoring"
	"assay/shared/domain/record"
	"assay/shared/language/lists"
)

// stdin stands for standard input in the place of a file.
const stdin = "-"

// files returns the files at the paths. Standard input can be one of them.
func (c *call) files(paths ...string) []scoring.File {
	c.requireOnce(paths)
	return lists.Map(paths, func(path string) scoring.File {
		file, ok := c.opened[path]
		switch {
		case ok:
			return file
		case path == stdin:
			file = offline.Stream(stdin, &interruptible{c})
		default:
			file = offline.Files(path)[0]
		}
		c.opened[path] = file
		return file
	})
}

// requireOnce refuses to read standard input in the place of several files.
func (c *call) requireOnce(paths []string) {
	if len(paths)-len(lists.Without(paths, stdin)) > 1 {
		c.fail(&refusal{failed, "Standard input (-) can stand for one file, and is named twice.", ""})
	}
}

// interruptible reads standard input. An interruption ends reading.
type interruptible struct{ *call }

// Read implements io.Reader.
func (r *interruptible) Read(p []byte) (n int, err error) {
	buffer := make([]byte, len(p)) // Nobody waits for a read that was interrupted, so p must not be written to.
	ended := make(chan struct{})
	go func() {
		n, err = r.in.Read(buffer)
		close(ended)
	}()
	select {
	case <-r.ctx.Done():
		return 0, r.ctx.Err()
	case <-ended:
		return copy(p, buffer[:n]), err
	}
}

// maxInput is the maximum size of a text that is sent in a request.
const maxInput = 1 << 20

// input returns the content of the file at the path or, for "-" or without a path, of standard input. It refuses a text longer than
// maxInput.
func (c *call) input(path string) ([]byte, error) {
	name, from := "Standard input", io.Reader(&interruptible{c})
	if path != "" && path != stdin {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }()
		name, from = path, f
	}
	text, err := io.ReadAll(io.LimitReader(from, maxInput+1))
	if err == nil && len(text) > maxInput {
		return nil, &refusal{fileRefused, fmt.Sprintf("%s has more than %d MiB, and a request takes no more.", name, maxInput>>20), ""}
	}
	return text, err
}

// saved returns the path of a file with the content of standard input, or another path unchanged. The file is deleted at the end of the
// command.
func (c *call) saved(path string) string {
	if path != stdin || c.err != nil {
		return path
	}
	var err error
	c.temporary, err = os.MkdirTemp("", "assay")
	if c.fail(err) {
		return path
	}
	content := bufio.NewReaderSize(&interruptible{c}, 1<<20)
	path = filepath.Join(c.temporary, "stdin.txt")
	if head, _ := content.Peek(2); string(head) == "\x1f\x8b" {
		path += ".gz"
	}
	c.fail(save(path, content, record.MaxFileBytes))
	return path
}

// save writes the content to a new file. Of longer content than most bytes it writes one byte more, so that the file is refused for its
// size: standard input may be endless.
func save(path string, content io.Reader, most int64) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, io.LimitReader(content, most+1))
	return errors.Join(err, f.Close())
}
