package evaluator

import (
	"bufio"
	"bytes"
	"context"
	"errors"
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

// keepStart has the first of the files keep its first bytes when it is opened, and returns what returns them: to open it once more
// for the tag would cost a request.
func keepStart(files []evaluator.File) func() []byte {
	var start []byte
	if len(files) > 0 {
		open := files[0].Open
		files[0].Open = func() (io.ReadCloser, error) {
			f, err := open()
			if err != nil {
				return nil, err
			}
			if start, err = io.ReadAll(io.LimitReader(f, tagBytes)); err != nil {
				return nil, errors.Join(err, f.Close())
			}
			return struct {
				io.Reader
				io.Closer
			}{io.MultiReader(bytes.NewReader(start), f), f}, nil
		}
	}
	return func() []byte { return start }
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
