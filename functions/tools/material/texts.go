package material

import (
	"context"

	"assay/shared/collection"
	"assay/shared/problem"
	"assay/shared/record"
)

// Texts are the files that have texts of documents and queries.
type Texts struct{ source }

// Find looks for texts. There are none in no files. A file that came along and has nothing to show is the caller's problem.
func (t *Texts) Find(ctx context.Context, wanted collection.Wanted) (collection.Texts, error) {
	if t == nil {
		return collection.Texts{}, nil
	}
	files := make([]collection.File, len(t.files))
	for i, f := range t.files {
		files[i] = collection.File(f)
	}
	found, err := collection.Read(ctx, wanted, files...)
	if err != nil || !t.inline {
		return found, err
	}
	var fields []problem.Field
	for _, report := range found.Files {
		if report.Fault != "" {
			fields = append(fields, problem.Field{Pointer: t.FileAt(report.Name), Detail: "has no texts that can be shown: " + report.Fault})
		}
	}
	return found, problem.Check(fields)
}

// Texts gathers the files with the texts of documents and queries: those of the reference, which stands in the input at
// the pointer; without one, the inputs of the dataset that all the runs are on, if the caller sees it. nil is none.
func (d *Desk) Texts(ctx context.Context, pointer string, ref *TextsReference, runs []*Run) (*Texts, error) {
	t := &Texts{source{pointer: pointer}}
	id := dataset(runs)
	if ref != nil {
		if err := problem.Check(given(pointer, "datasetId", ref.DatasetID, ref.Files)); err != nil {
			return nil, err
		}
		if len(ref.Files) > 0 {
			t.inline = true
			var err error
			t.files, err = d.unpackInline(pointer+"/files", ref.Files)
			return t, err
		}
		id = ref.DatasetID
	}
	if id == "" {
		return nil, nil
	}
	item, _, _, err := d.dataset(ctx, pointer, id)
	if ref == nil && problem.NotFound.Is(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var stored []record.File
	for _, f := range item.Inputs {
		if f.State == record.FileStored {
			stored = append(stored, f)
		}
	}
	if ref == nil && d.stored+size(stored) > MaxStoredBytes {
		d.note("inputs too large")
		return nil, nil // the runs can be shown without
	}
	t.files, err = d.storedFiles(ctx, record.HolderInputs, id, stored)
	return t, err
}

func size(files []record.File) (n int64) {
	for _, f := range files {
		n += f.Size
	}
	return n
}
