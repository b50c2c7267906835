package evaluator

import (
	"bufio"
	"context"
	"io"
	"strings"

	"assay/shared/measure/evaluator"
	"assay/shared/measure/lines"
	"assay/shared/record"
)

const (
	tagBytes  = 64 << 10 // bytes that are read in search of the tag
	tagColumn = 5        // of a line in TREC's format, counted from 0
	maxRunTag = 200      // characters
)

// beginning is a file that keeps its first bytes as it is read.
type beginning struct {
	io.ReadCloser
	bytes []byte
}

// Read implements io.Reader.
func (b *beginning) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.bytes = append(b.bytes, p[:min(n, tagBytes-len(b.bytes))]...)
	return n, err
}

// keepStart has the first of the files, when it is read, keep its first bytes, and returns what returns them: to open the file
// once more for the tag would cost a request.
func keepStart(files []evaluator.File) func() []byte {
	last := new(beginning)
	if len(files) > 0 {
		open := files[0].Open
		files[0].Open = func() (io.ReadCloser, error) {
			f, err := open()
			last = &beginning{ReadCloser: f}
			return last, err
		}
	}
	return func() []byte { return last.bytes }
}

// readTag reads the tag of a run that something else has evaluated.
func (w *Worker) readTag(ctx context.Context, run *record.RunItem, format record.RunFormat) string {
	if format.Kind != evaluator.TRECRun || len(run.Files) == 0 {
		return ""
	}
	f, err := w.Files.Open(ctx, record.ObjectKey(record.HolderRuns, run.ID, run.Files[0].SHA256))
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	return runTag(format, f)
}

// runTag returns the tag in the first line of a run in TREC's format, which its author gave it; empty when it has none that can
// be shown. What is wrong with the files, evaluating them says.
func runTag(format record.RunFormat, file io.Reader) string {
	if format.Kind != evaluator.TRECRun {
		return ""
	}
	text, err := lines.Unpack(file, lines.StandardExpansion)
	if err != nil {
		return ""
	}
	for s := bufio.NewScanner(io.LimitReader(text, tagBytes)); s.Scan(); {
		columns := strings.Fields(s.Text())
		if len(columns) == 0 || strings.HasPrefix(columns[0], "#") {
			continue
		}
		if len(columns) <= tagColumn || len(columns[tagColumn]) > maxRunTag || record.CheckLine("", columns[tagColumn]) != nil {
			return ""
		}
		return columns[tagColumn]
	}
	return ""
}
