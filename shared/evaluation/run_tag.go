package evaluation

import (
	"bufio"
	"context"
	"io"
	"strings"

	"assay/shared/blob"
	"assay/shared/measure"
	"assay/shared/measure/lines"
	"assay/shared/record"
)

// RunTagBytes is how many bytes of a run RunTag reads at most.
const RunTagBytes = 64 << 10

const (
	tagColumn = 5   // of a line in TREC's format, counted from 0
	maxRunTag = 200 // characters
)

// RunTag returns the tag that the author of a run in TREC's format gave it, in the first line of its file. It is empty when
// there is no tag, or none that pages can show; faults of the file are left to the evaluation.
func RunTag(format record.RunFormat, file io.Reader) string {
	if format.Kind != measure.TRECRun {
		return ""
	}
	text, err := lines.Unpack(file, lines.StandardExpansion)
	if err != nil {
		return ""
	}
	for s := bufio.NewScanner(io.LimitReader(text, RunTagBytes)); s.Scan(); {
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

// readRunTag reads the tag of a run whose evaluator did not report it.
func readRunTag(ctx context.Context, files blob.Store, run *record.RunItem, format record.RunFormat) string {
	if format.Kind != measure.TRECRun || len(run.Files) == 0 {
		return ""
	}
	f, err := files.Open(ctx, record.ObjectKey(record.HolderRuns, run.ID, run.Files[0].SHA256))
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	return RunTag(format, f)
}
