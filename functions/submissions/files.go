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
	"assay/shared/language/lists"
	"assay/shared/language/problem"
	"assay/shared/service/truth"
)

// checkFiles checks the files of an upload and completes them in d. The result holds the bytes of each file at its position, or nil for
// files that are not inline.
func checkFiles(d *record.SubmissionDraft) ([][]byte, error) {
	var fields problem.Fields
	inline := make([][]byte, len(d.Files))
	for _, datasetID := range d.DatasetIDs {
		fields = append(fields, checkFilesFor(datasetID, d, inline)...)
	}
	if err := problem.Check(fields); err != nil {
		return nil, err
	}
	return inline, record.CheckInline(inline)
}

// checkFilesFor checks and completes the files for one dataset. It stores the bytes of inline files in inline.
func checkFilesFor(datasetID string, d *record.SubmissionDraft, inline [][]byte) problem.Fields {
	indexes := filesFor(datasetID, d)
	list := lists.Map(indexes, func(i int) record.File { return d.Files[i].File })
	pointer := func(n int) string { return filePointer(indexes[n]) }
	contents, fields := record.CheckFiles(pointer, list, nil)
	for n, i := range indexes {
		d.Files[i].File = list[n]
		inline[i] = contents[n]
	}
	return fields
}

// filesFor returns the indexes in d.Files of the files for the dataset.
func filesFor(datasetID string, d *record.SubmissionDraft) (indexes []int) {
	for i, f := range d.Files {
		if f.DatasetID == datasetID {
			indexes = append(indexes, i)
		}
	}
	return indexes
}

// filePointer returns the JSON pointer to a file of the draft.
func filePointer(i int) string { return fmt.Sprintf("/files/%d", i) }

// validate reads the inline files like the built-in evaluators, and refuses files with faults. It does not read the ground truth, so the
// faults reveal nothing about it.
func (adm *admission) validate(ctx context.Context, c *api.Call, d *record.SubmissionDraft, inline [][]byte) error {
	var fields problem.Fields
	for n, inUse := range adm.truths {
		if inUse.Evaluator.Kind == record.EvaluatorWorker {
			continue
		}
		for position, i := range filesFor(d.DatasetIDs[n], d) {
			pointer := filePointer(i)
			if position > 0 {
				fields.Add(pointer, "is a second file for the dataset; its evaluator reads one")
				continue
			}
			if inline[i] == nil {
				fields = append(fields, record.CheckEvaluated(pointer, []record.File{d.Files[i].File}, spare(inUse))...)
				continue
			}
			found, err := validateFile(ctx, c, inUse, d.Files[i].Name, inline[i])
			if err != nil {
				return err
			}
			fields = append(fields, record.Faults(found, func(string) string { return pointer })...)
		}
	}
	return problem.Check(fields)
}

// spare names what people can leave out of a run without changing its scores.
func spare(inUse *record.TruthVersion) string {
	if measure.Kind(inUse.Evaluator.Kind).Ranks() {
		return "low ranks"
	}
	return "fields that are not read"
}

// validateFile validates one file in a compute slot of the caller. Previews create nothing, so they use the same slots as tools.
func validateFile(ctx context.Context, c *api.Call, inUse *record.TruthVersion, name string, content []byte) ([]measure.Diagnostic, error) {
	v := validation{settings: truth.Settings(inUse.RunFormat, inUse.Evaluator), name: name, content: content}
	err := compute.Process.Run(ctx, compute.Work{Caller: c.PoolCaller(), Check: !c.Previewing(), Memory: v.memory, Do: v.run})
	return v.found, err
}

// maxInlineText is the largest size of an unpacked inline file, in bytes.
const maxInlineText = 64 << 20

// validation is the work of validating one inline file.
type validation struct {
	settings scoring.Settings
	name     string
	content  []byte

	unpacked lines.Size           // set by memory
	found    []measure.Diagnostic // set by run
}

// memory estimates the memory that run takes.
func (v *validation) memory(ctx context.Context) (int64, error) {
	var err error
	v.unpacked, err = lines.Count(ctx, bytes.NewReader(v.content), maxInlineText)
	if v.tooLarge() {
		return 0, err // run refuses the file without reading it
	}
	return v.settings.Memory(v.unpacked), err
}

// run reads the file and sets found.
func (v *validation) run(ctx context.Context) (err error) {
	if v.tooLarge() {
		v.found = []measure.Diagnostic{{Severity: measure.Error, File: v.name, Message: fmt.Sprintf(
			"the file unpacks to more than %d MiB; leave its content out, and upload it to the URL that the answer names", maxInlineText>>20)}}
		return nil
	}
	v.found, err = scoring.ValidateRun(ctx, v.settings, []scoring.File{{Name: v.name, Open: v.open}})
	return err
}

func (v *validation) tooLarge() bool { return v.unpacked.Bytes > maxInlineText }

func (v *validation) open() (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(v.content)), nil
}
