package submissions

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/lines"
	"assay/shared/computation/measure/scoring"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/edge/compute"
	"assay/shared/language/problem"
	"assay/shared/service/truth"
)

// checkFiles checks the files of an upload, and returns the bytes of inline files, parallel to the files. It is nil for other files.
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
		contents, faults := record.CheckFiles(func(n int) string { return fmt.Sprintf("/files/%d", at[n]) }, list, nil)
		fields = append(fields, faults...)
		for n, i := range at {
			d.Files[i].File, inline[i] = list[n], contents[n]
		}
	}
	if err := problem.Check(fields); err != nil {
		return nil, err
	}
	return inline, record.CheckInline(inline)
}

// validate reads the inline files like the built-in evaluators, and refuses files with faults. It does not read the ground truth, so the
// faults reveal nothing about it.
func (adm *admission) validate(ctx context.Context, c *api.Call, d *record.SubmissionDraft, inline [][]byte) error {
	var fields problem.Fields
	for n, inUse := range adm.truths {
		if inUse.Evaluator.Kind == record.EvaluatorWorker {
			continue
		}
		first := true
		for i, f := range d.Files {
			if f.DatasetID != d.DatasetIDs[n] {
				continue
			}
			pointer := fmt.Sprintf("/files/%d", i)
			if !first {
				fields.Add(pointer, "is a second file for the dataset; its evaluator reads one")
				continue
			}
			first = false
			if inline[i] == nil {
				continue
			}
			found, err := validate(ctx, c, inUse, f.Name, inline[i])
			if err != nil {
				return err
			}
			fields = append(fields, record.Faults(found, func(string) string { return pointer })...)
		}
	}
	return problem.Check(fields)
}

// maxInlineText is the largest size of an unpacked inline file, in bytes.
const maxInlineText = 64 << 20

// validate checks one file in a compute slot of the caller. Previews create nothing, so they use the same slots as tools.
func validate(ctx context.Context, c *api.Call, inUse *record.TruthVersion, name string, content []byte) (
	found []measure.Diagnostic, err error) {
	settings := truth.Settings(inUse.RunFormat, inUse.Evaluator)
	file := scoring.File{Name: name, Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }}
	var size lines.Size
	err = compute.Process.Run(ctx, compute.Work{
		Caller: c.PoolCaller(), Check: !c.Previewing(),
		Memory: func(ctx context.Context) (_ int64, err error) {
			size, err = lines.Count(ctx, bytes.NewReader(content), maxInlineText)
			if size.Bytes > maxInlineText {
				return 0, err // Do refuses the file.
			}
			return settings.Memory(size), err
		},
		Do: func(ctx context.Context) (err error) {
			if size.Bytes > maxInlineText {
				found = []measure.Diagnostic{{Severity: measure.Error, File: name, Message: fmt.Sprintf(
					"the file unpacks to more than %d MiB; leave its content out, and upload it to the URL that the answer names",
					maxInlineText>>20)}}
				return nil
			}
			found, err = scoring.ValidateRun(ctx, settings, []scoring.File{file})
			return err
		},
	})
	return found, err
}
