package inputs

import (
	"context"
	"fmt"

	"assay/shared/corpus"
	"assay/shared/problem"
	"assay/shared/record"
)

// Texts are the files that have texts of documents and queries.
type Texts struct {
	source
	tooLarge bool // to be read
}

// TextFault says why there are texts that cannot be shown.
type TextFault struct {
	File   string `json:"file,omitempty" doc:"the file that was looked in; absent when it is about all"`
	Detail string `json:"detail" doc:"what is wrong, or what to do"`
}

// maxTextFaults is how many faults an answer has.
const maxTextFaults = 5

// Find looks for texts. There are none in no files. A file that came along and has nothing to show is the caller's problem;
// stored ones are others' files, so their faults come with the texts that were found, where some were not.
func (t *Texts) Find(ctx context.Context, wanted corpus.Wanted) (corpus.Texts, []TextFault, error) {
	if t == nil {
		return corpus.Texts{}, nil, nil
	}
	if t.tooLarge {
		return corpus.Texts{}, []TextFault{{Detail: fmt.Sprintf(
			"The inputs of the dataset and what else is read have more than %d bytes together, so texts are not looked for: they must be sent along",
			MaxStoredBytes)}}, nil
	}
	found, err := corpus.Read(ctx, wanted, t.files...)
	if err != nil {
		return found, nil, err
	}
	if !t.inline {
		return found, faults(wanted, found), nil
	}
	var fields problem.Fields
	for _, report := range found.Files {
		fields.AddIf(report.Fault != "", t.FilePointer(report.Name), "has no texts that can be shown: %s", report.Fault)
	}
	return found, nil, problem.Check(fields)
}

// faults are those of stored files, when not all that was wanted was found.
func faults(wanted corpus.Wanted, found corpus.Texts) (list []TextFault) {
	if len(found.Documents) >= len(wanted.Documents) && len(found.Queries) >= len(wanted.Queries) {
		return nil
	}
	for _, report := range found.Files {
		if report.Fault != "" && len(list) < maxTextFaults {
			list = append(list, TextFault{File: report.Name, Detail: report.Fault})
		}
	}
	return list
}

// Texts gathers the files with the texts of documents and queries: those of the reference, which stands in the input at
// the pointer; without one, the inputs of the dataset that all the runs are on, if the caller sees it. nil is none.
func (resolver *Resolver) Texts(ctx context.Context, pointer string, ref *TextsReference, runs []*Run) (*Texts, error) {
	t := &Texts{source: source{pointer: pointer}}
	id := commonDataset(runs)
	if ref != nil {
		if err := problem.Check(checkReference(pointer, "datasetId", ref.DatasetID, ref.Files)); err != nil {
			return nil, err
		}
		if len(ref.Files) > 0 {
			t.inline = true
			var err error
			t.files, err = resolver.unpackInline(ctx, pointer+"/files", ref.Files)
			return t, err
		}
		id = ref.DatasetID
	}
	if id == "" {
		return nil, nil
	}
	item, _, _, err := resolver.dataset(ctx, pointer, id)
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
	if ref == nil && resolver.storedBytes+record.SizeOf(stored) > MaxStoredBytes {
		resolver.addDependency("inputs too large")
		t.tooLarge = true
		return t, nil // the runs can be shown without
	}
	t.files, err = resolver.storedFiles(ctx, record.HolderInputs, id, stored)
	return t, err
}
