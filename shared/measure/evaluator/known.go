package evaluator

import (
	"context"

	"assay/shared/corpus"
	"assay/shared/measure"
	"assay/shared/measure/predictions"
	"assay/shared/measure/retrieval"
	"assay/shared/measure/spans"
)

// Known has the ids and labels of a dataset that participants know. Its diagnostics of a run depend on no other part of the truth.
type Known struct{ of *measure.Known }

// Bytes is about how much memory it takes in addition to the truth; 0 of nil.
func (k *Known) Bytes() int64 {
	if k == nil {
		return 0
	}
	return k.of.Bytes
}

// Compare reports ids and labels of a run that are unknown, and ids that it lacks. The error is as that of ReadTruth.
func (k *Known) Compare(ctx context.Context, files []File) ([]measure.Diagnostic, error) {
	contents, done := Contents(files)
	defer done()
	return k.of.Compare(ctx, contents...)
}

// known is what there is to compare with; nil when it is nothing.
func known(of *measure.Known) *Known {
	if of == nil {
		return nil
	}
	return &Known{of}
}

// Known returns the ids of the truth, of topics or of items, and the set of its labels, as far as they are asked for and there;
// nil when there is nothing.
func (t *Truth) Known(ids, labels bool) *Known { return known(t.of.Known(ids, labels)) }

// ReadInputs returns the ids that the inputs of a dataset have; nil when there are none, or when not all are known. The error is
// as that of ReadTruth.
func ReadInputs(ctx context.Context, format measure.Format, files []File) (*Known, error) {
	switch {
	case format.Kind == measure.CoNLL && len(files) != 1: // of which nobody knows which has the tokens
		return nil, nil
	case format.Kind == measure.CoNLL:
		contents, done := Contents(files)
		defer done()
		of, err := spans.KnownInput(ctx, contents[0])
		return known(of), err
	case format.IDField == "":
		return readTopics(ctx, files)
	}
	return readItems(ctx, predictions.NewInputs(format), files)
}

func readTopics(ctx context.Context, files []File) (*Known, error) {
	ids, err := corpus.ReadIDs(ctx, files...)
	if err != nil || ids.Queries == nil && ids.Documents() == nil {
		return nil, err
	}
	return &Known{retrieval.KnownOf(ids.Queries, ids.Documents()).Measured(ids.Bytes())}, nil
}

func readItems(ctx context.Context, items *predictions.Truth, files []File) (*Known, error) {
	for _, f := range files {
		for _, format := range []string{measure.JSONL, measure.CSV} {
			contents, done := Contents([]File{f})
			n, ok, err := items.AddInput(ctx, format, contents[0])
			done()
			if !ok || err != nil {
				return nil, err
			}
			if n > 0 {
				break
			}
		}
	}
	return known(predictions.KnownItems(items)), nil
}
