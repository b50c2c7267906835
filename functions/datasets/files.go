package datasets

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"

	"assay/shared/computation/measure/scoring"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/edge/compute"
	"assay/shared/language/problem"
	"assay/shared/service/truth"
)

// contents holds the bytes of inline files, parallel to the lists of files. It holds nil for files that are not inline.
type contents struct{ inputs, truths [][]byte }

// checkFiles checks the files and the evaluator of a draft, and returns the bytes of inline files. Files that old has already are kept; old
// is empty for a new dataset. checkFiles completes the files of the draft in new lists, and leaves the lists that it got unchanged.
func checkFiles(d *record.DatasetDraft, old *record.DatasetItem) (inline contents, err error) {
	d.Inputs, d.Truths = slices.Clone(d.Inputs), slices.Clone(d.Truths)
	var fields, more problem.Fields
	inline.inputs, fields = record.CheckFiles(record.In("/inputs"), d.Inputs, old.Inputs)
	inline.truths, more = record.CheckFiles(record.In("/truths"), d.Truths, old.Truths)
	if err := problem.Check(slices.Concat(fields, more, checkEvaluator(d))); err != nil {
		return inline, err
	}
	d.UseCanonicalNames()
	return inline, record.CheckInline(inline.inputs, inline.truths)
}

// checkEvaluator checks the columns, and the settings of a built-in evaluator.
func checkEvaluator(d *record.DatasetDraft) problem.Fields {
	fields := d.CheckColumns()
	if d.Evaluator.Kind != record.EvaluatorWorker {
		fields = append(fields, scoring.Check(truth.Settings(d.RunFormat, d.Evaluator))...)
		fields.AddIf(len(d.Truths) == 0, "/truths", "must have at least one file for the built-in evaluators")
		fields = append(fields, record.CheckEvaluated("/truths", d.Truths, "items that no run has")...)
	}
	return fields
}

// checkTruth reads the truth files, inline or stored, in a compute slot of the caller, and refuses a truth that the evaluator cannot use.
// All files must be inline or stored. The problem is TooLarge for a truth that takes more memory than a request may use.
func checkTruth(ctx context.Context, c *api.Call, id string, d *record.DatasetDraft, inline contents) (checked truth.Checked, err error) {
	open := opener(ctx, c, id, d, inline)
	err = compute.Process.Run(ctx, compute.Work{
		Caller: c.PoolCaller(),
		Memory: func(ctx context.Context) (int64, error) { return truth.Memory(ctx, d, open, compute.LargeBytes) },
		Do: func(ctx context.Context) (err error) {
			checked, err = truth.Check(ctx, d, open)
			return err
		},
	})
	if err != nil {
		return checked, err
	}
	pointer := func(name string) string { return truthPointer(d, name) }
	return checked, problem.Check(record.Faults(checked.Diagnostics, pointer))
}

// opener returns a function that opens the files of a dataset, inline or stored.
func opener(ctx context.Context, c *api.Call, id string, d *record.DatasetDraft, inline contents) truth.Open {
	return func(h record.Holder, f record.File) (io.ReadCloser, error) {
		if content := inline.of(h, d, f.SHA256); content != nil {
			return io.NopCloser(bytes.NewReader(content)), nil
		}
		return c.Files.Open(ctx, record.ObjectKey(h, id, f.SHA256))
	}
}

// of returns the bytes of an inline file of the draft, or nil.
func (c contents) of(h record.Holder, d *record.DatasetDraft, digest string) []byte {
	files, list := d.Inputs, c.inputs
	if h == record.HolderTruths {
		files, list = d.Truths, c.truths
	}
	for i, f := range files {
		if f.SHA256 == digest && list[i] != nil {
			return list[i]
		}
	}
	return nil
}

// truthPointer returns the JSON pointer to the truth file with the name, or to all truth files.
func truthPointer(d *record.DatasetDraft, name string) string {
	i := slices.IndexFunc(d.Truths, func(f record.File) bool { return f.Name == name })
	if i < 0 {
		return "/truths"
	}
	return fmt.Sprintf("/truths/%d", i)
}

// putFiles stores the inline files of the dataset with put.
func putFiles(ctx context.Context, d *record.DatasetItem, inline contents,
	put func(context.Context, string, record.File, []byte) error) error {
	files, keys := d.Files(), d.ObjectKeys()
	for i, content := range slices.Concat(inline.inputs, inline.truths) {
		if content == nil {
			continue
		}
		if err := put(ctx, keys[i], files[i], content); err != nil {
			return err
		}
	}
	return nil
}
