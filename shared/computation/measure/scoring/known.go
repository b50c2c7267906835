package scoring

import (
	"context"

	"assay/shared/computation/corpus"
	"assay/shared/computation/measure"
	"assay/shared/computation/measure/predictions"
	"assay/shared/computation/measure/retrieval"
	"assay/shared/computation/measure/spans"
)

// KnownIDs holds the ids and labels of a dataset that participants know. Its diagnostics depend on no other part of the truth.
type KnownIDs struct{ of *measure.Known }

// Bytes estimates the memory in addition to the truth's. It returns 0 for nil.
func (k *KnownIDs) Bytes() int64 {
	if k == nil {
		return 0
	}
	return k.of.Bytes
}

// Compare reports the unknown ids and labels of a run, and the ids that the run lacks. Errors are like ReadTruth's.
func (k *KnownIDs) Compare(ctx context.Context, files []File) ([]measure.Diagnostic, error) {
	contents, done := Contents(files)
	defer done()
	return k.of.Compare(ctx, contents...)
}

// OnlyTexts returns the texts of inputs without their ids, for runs that a truth is compared with. It returns nil if there are no texts.
func (k *KnownIDs) OnlyTexts() *KnownIDs {
	if k == nil || k.of.CompareTexts == nil {
		return nil
	}
	return &KnownIDs{&measure.Known{Compare: k.of.CompareTexts}}
}

// known wraps of. It returns nil for nil.
func known(of *measure.Known) *KnownIDs {
	if of == nil {
		return nil
	}
	return &KnownIDs{of}
}

// Known returns the ids of topics or items in the truth, and the set of its labels, each only if asked for. It returns nil if the truth
// has neither.
func (e *Evaluator) Known(ids, labels bool) *KnownIDs { return known(e.truth.Known(ids, labels)) }

// ReadInputs returns the ids in the inputs of a dataset. It returns nil if they have no ids, or if some ids cannot be read. Errors are like
// ReadTruth's.
func ReadInputs(ctx context.Context, s Settings, files []File) (*KnownIDs, error) {
	format := s.Format
	switch {
	case format.Kind == measure.CoNLL && len(files) != 1: // it is unknown which of the files has the tokens
		return nil, nil
	case format.Kind == measure.CoNLL:
		contents, done := Contents(files)
		defer done()
		of, err := spans.KnownInput(ctx, contents[0])
		return known(of), err
	case format.IDField == "":
		return readTopics(ctx, files)
	}
	if s.Kind == measure.Spans {
		inputs := spans.NewInputs(format)
		complete, err := addItems(ctx, inputs.Gold, files)
		if !complete || err != nil {
			return nil, err
		}
		return known(inputs.Known()), nil
	}
	items := predictions.NewInputs(format)
	complete, err := addItems(ctx, items, files)
	if !complete || err != nil {
		return nil, err
	}
	return known(predictions.KnownItems(items)), nil
}

func readTopics(ctx context.Context, files []File) (*KnownIDs, error) {
	ids, err := corpus.ReadIDs(ctx, files...)
	if err != nil || ids.Queries == nil && ids.Documents() == nil {
		return nil, err
	}
	return &KnownIDs{retrieval.KnownOf(ids.Queries, ids.Documents()).Measured(ids.Bytes())}, nil
}

// addItems adds the ids of all files. complete is false if some of them cannot be read.
func addItems(ctx context.Context, items *predictions.Gold, files []File) (complete bool, err error) {
	for _, f := range files {
		for _, format := range []string{measure.JSONL, measure.CSV} {
			contents, done := Contents([]File{f})
			n, ok, err := items.AddInput(ctx, format, contents[0])
			done()
			if !ok || err != nil {
				return false, err
			}
			if n > 0 {
				break
			}
		}
	}
	return true, nil
}
