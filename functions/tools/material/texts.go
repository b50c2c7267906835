package material

import (
	"context"

	"assay/shared/measure/evaluator"
	"assay/shared/problem"
	"assay/shared/record"
)

// Texts gathers the files with the texts of documents and queries: those of the reference, which stands in the input at
// the pointer; without one, the inputs of the dataset that all the runs are on, if the caller sees it. There may be none.
func (d *Desk) Texts(ctx context.Context, pointer string, ref *TextsReference, runs []*Run) ([]evaluator.File, error) {
	id := dataset(runs)
	if ref != nil {
		if err := problem.Check(given(pointer, "datasetId", ref.DatasetID, ref.Files)); err != nil {
			return nil, err
		}
		if len(ref.Files) > 0 {
			return d.unpackInline(pointer+"/files", ref.Files)
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
	return d.storedFiles(ctx, record.HolderInputs, id, stored)
}

func size(files []record.File) (n int64) {
	for _, f := range files {
		n += f.Size
	}
	return n
}
