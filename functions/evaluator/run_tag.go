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
	tagLines  = 64 << 10 // bytes that are read in search of the tag
	tagColumn = 5        // of a line in TREC's format, counted from 0
	maxRunTag = 200      // characters
)

// runTag returns the tag in the first line of a run in TREC's format, which its author gave it; empty when it has none that can
// be shown. What is wrong with the files, evaluating them says.
func (w *Worker) runTag(ctx context.Context, run *record.RunItem, truth *record.Truth) string {
	if truth.RunFormat.Kind != evaluator.TRECRun || len(run.Files) == 0 {
		return ""
	}
	f, err := w.Files.Open(ctx, record.ObjectKey(record.HolderRuns, run.ID, run.Files[0].SHA256))
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	text, err := lines.Unpack(f, lines.StandardExpansion)
	if err != nil {
		return ""
	}
	for s := bufio.NewScanner(io.LimitReader(text, tagLines)); s.Scan(); {
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
