package submissions

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strings"

	"assay/shared/measure"
	"assay/shared/measure/evaluator"
	"assay/shared/problem"
	"assay/shared/record"
)

// checkFiles checks the files of an upload, and returns the bytes of those that are inline, at their positions.
func checkFiles(d *record.SubmissionDraft) ([][]byte, error) {
	var fields []problem.Field
	inline := make([][]byte, len(d.Files))
	for _, id := range d.DatasetIDs {
		var list []record.File
		var at []int
		for i, f := range d.Files {
			if f.DatasetID == id {
				list, at = append(list, f.File), append(at, i)
			}
		}
		contents, faults := record.CheckFiles("/files", list, nil, sum)
		for _, f := range faults {
			fields = append(fields, problem.Field{Pointer: reposition(f.Pointer, at), Detail: f.Detail})
		}
		for n, i := range at {
			d.Files[i].File, inline[i] = list[n], contents[n]
		}
	}
	if err := problem.Check(fields); err != nil {
		return nil, err
	}
	if n := record.InlineBytes(inline); n > record.MaxInlineBytes {
		return nil, problem.TooLarge.New("The inline files have %d bytes together; %d are allowed. Give size and sha256 instead of content, and upload the bytes to the address in the answer.", n, record.MaxInlineBytes)
	}
	return inline, nil
}

// reposition makes a pointer into the files of one dataset (/files/0/name) one into all files.
func reposition(pointer string, at []int) string {
	rest := strings.TrimPrefix(pointer, "/files/")
	var n int
	if _, err := fmt.Sscanf(rest, "%d", &n); err != nil || n >= len(at) {
		return pointer
	}
	return fmt.Sprintf("/files/%d%s", at[n], strings.TrimPrefix(rest, fmt.Sprint(n)))
}

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// validate reads the inline files as the built-in evaluators will, and refuses those with faults.
func (e *entry) validate(ctx context.Context, d *record.SubmissionDraft, inline [][]byte) error {
	var fields []problem.Field
	for n, id := range d.DatasetIDs {
		truth := e.truths[n]
		if truth.Evaluator.Kind == record.EvaluatorWorker {
			continue
		}
		count := 0
		for i, f := range d.Files {
			if f.DatasetID != id {
				continue
			}
			if count++; count > 1 {
				fields = append(fields, problem.Field{Pointer: fmt.Sprintf("/files/%d", i), Detail: "is a second file for the dataset; its evaluator reads one"})
				continue
			}
			if inline[i] == nil {
				continue
			}
			file := evaluator.File{Name: f.Name, Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(inline[i])), nil }}
			found, err := evaluator.ValidateRun(ctx, measure.Kind(truth.Evaluator.Kind), evaluator.Format(truth.RunFormat), []evaluator.File{file})
			if err != nil {
				return err
			}
			fields = append(fields, faults(i, found)...)
		}
	}
	return problem.Check(fields)
}

// faults are the diagnostics of a file, when one of them is an error.
func faults(i int, found []measure.Diagnostic) []problem.Field {
	var fields []problem.Field
	refused := false
	for _, d := range found {
		refused = refused || d.Severity == measure.Error
		text := d.Message
		if d.Line > 0 {
			text = fmt.Sprintf("line %d: %s", d.Line, text)
		}
		fields = append(fields, problem.Field{Pointer: fmt.Sprintf("/files/%d", i), Detail: text})
	}
	if !refused {
		return nil
	}
	return fields
}
