package datasets

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"

	"assay/shared/api"
	"assay/shared/arrival"
	"assay/shared/measure"
	"assay/shared/measure/evaluator"
	"assay/shared/problem"
	"assay/shared/record"
)

// contents are the bytes of inline files, at the positions of the files.
type contents struct{ inputs, truths [][]byte }

// checkFiles checks the files of a draft, of which those of old are kept, and the settings of the evaluator.
func checkFiles(d *record.DatasetDraft, old *record.DatasetItem) (contents, error) {
	var inline contents
	var inputs, truths []record.File
	if old != nil {
		inputs, truths = old.Inputs, old.Truths
	}
	var fields, more []problem.Field
	inline.inputs, fields = record.CheckFiles("/inputs", d.Inputs, inputs, sum)
	inline.truths, more = record.CheckFiles("/truths", d.Truths, truths, sum)
	fields = append(fields, more...)
	if d.Evaluator.Kind != record.EvaluatorWorker {
		fields = append(fields, evaluator.Check(arrival.Settings(d))...)
		if len(d.Truths) == 0 {
			fields = append(fields, problem.Field{Pointer: "/truths", Detail: "must have at least one file for the built-in evaluators"})
		}
	}
	if err := problem.Check(fields); err != nil {
		return inline, err
	}
	if err := canonical(&d.Evaluator); err != nil {
		return inline, err
	}
	if n := record.InlineBytes(inline.inputs, inline.truths); n > record.MaxInlineBytes {
		return inline, problem.TooLarge.New("The inline files have %d bytes together; %d are allowed. Give size and sha256 instead of content, and upload the bytes to the address in the answer.", n, record.MaxInlineBytes)
	}
	return inline, nil
}

// canonical gives the measures of a built-in evaluator the names under which results have them.
func canonical(e *record.Evaluator) error {
	if e.Kind == record.EvaluatorWorker {
		return nil
	}
	e.Measures = slices.Clone(e.Measures)
	for i, name := range append(e.Measures, e.PrimaryMeasure) {
		m, err := measure.Parse(measure.Kind(e.Kind), name)
		if err != nil {
			return err
		}
		if i < len(e.Measures) {
			e.Measures[i] = m.String()
		} else {
			e.PrimaryMeasure = m.String()
		}
	}
	return nil
}

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// checkTruth reads a truth whose files are all there, inline or stored, and refuses one that cannot be used.
func checkTruth(ctx context.Context, c *api.Call, id string, d *record.DatasetDraft, inline contents) error {
	diagnostics, err := arrival.CheckTruth(ctx, d, func(f record.File) (io.ReadCloser, error) {
		for i, other := range d.Truths {
			if other.SHA256 == f.SHA256 && inline.truths[i] != nil {
				return io.NopCloser(bytes.NewReader(inline.truths[i])), nil
			}
		}
		return c.Files.Open(ctx, record.ObjectKey(record.HolderTruths, id, f.SHA256))
	})
	if err != nil {
		return err
	}
	if !arrival.Refused(diagnostics) {
		return nil
	}
	var fields []problem.Field
	for _, dg := range diagnostics {
		fields = append(fields, problem.Field{Pointer: pointer(d.Truths, dg), Detail: describe(dg)})
	}
	return problem.Check(fields)
}

func pointer(files []record.File, d measure.Diagnostic) string {
	for i, f := range files {
		if f.Name == d.File {
			return fmt.Sprintf("/truths/%d", i)
		}
	}
	return "/truths"
}

func describe(d measure.Diagnostic) string {
	text := d.Message
	if d.Line > 0 {
		text = fmt.Sprintf("line %d: %s", d.Line, text)
	}
	return text
}

// putFiles stores the inline files.
func putFiles(ctx context.Context, c *api.Call, id string, d *record.DatasetDraft, inline contents) error {
	for _, part := range []struct {
		holder   record.Holder
		files    []record.File
		contents [][]byte
	}{{record.HolderInputs, d.Inputs, inline.inputs}, {record.HolderTruths, d.Truths, inline.truths}} {
		for i, content := range part.contents {
			if content == nil {
				continue
			}
			if err := c.PutFile(ctx, record.ObjectKey(part.holder, id, part.files[i].SHA256), part.files[i], content); err != nil {
				return err
			}
		}
	}
	return nil
}
