package evaluator

import (
	"context"

	"assay/shared/corpus"
	"assay/shared/measure"
	"assay/shared/measure/predictions"
	"assay/shared/measure/retrieval"
)

// Known is what participants know of the ids and labels of a dataset. What it reports of a run depends on nothing else of the truth.
type Known struct {
	compare func(context.Context, []measure.File) ([]measure.Diagnostic, error)
	bytes   int64
}

// Bytes is about how much memory it takes in addition to the truth; 0 of nil.
func (k *Known) Bytes() int64 {
	if k == nil {
		return 0
	}
	return k.bytes
}

// Compare says what of a run is not known, and what it lacks. The error is as that of ReadTruth.
func (k *Known) Compare(ctx context.Context, files []File) ([]measure.Diagnostic, error) {
	contents, done := Contents(files)
	defer done()
	return k.compare(ctx, contents)
}

// Known returns the ids of the truth, of topics or of items, and the set of its labels, as far as they are asked for and there;
// nil when there is nothing.
func (t *Truth) Known(ids, labels bool) *Known { return t.known(ids, labels) }

// ReadInputs returns the ids that the inputs of a dataset have; nil when there are none, or when not all are known. The error is
// as that of ReadTruth.
func ReadInputs(ctx context.Context, kind measure.Kind, format Format, files []File) (*Known, error) {
	switch kind {
	case measure.Retrieval:
		return readTopics(ctx, files)
	case measure.Classification:
		return readItems(ctx, format, predictions.Labels, files)
	default:
		return readItems(ctx, format, predictions.Numbers, files)
	}
}

func readTopics(ctx context.Context, files []File) (*Known, error) {
	ids, err := corpus.ReadIDs(ctx, files...)
	if err != nil || ids.Queries == nil && ids.Documents() == nil {
		return nil, err
	}
	known := retrieval.KnownOf(ids.Queries, ids.Documents())
	return &Known{bytes: ids.Bytes(), compare: func(ctx context.Context, files []measure.File) ([]measure.Diagnostic, error) {
		return known.Compare(ctx, files...)
	}}, nil
}

func readItems(ctx context.Context, format Format, values predictions.Values, files []File) (*Known, error) {
	known := predictions.NewInputs(predictions.Format(format), values)
	for _, f := range files {
		for _, kind := range evaluators[measure.Classification].formats {
			contents, done := Contents([]File{f})
			n, ok, err := known.AddInput(ctx, kind, contents[0])
			if done(); !ok || err != nil {
				return nil, err
			}
			if n > 0 {
				break
			}
		}
	}
	if known.Len() == 0 {
		return nil, nil
	}
	return knownPredictions(known, known.Bytes()), nil
}

func knownPredictions(known *predictions.Truth, bytes int64) *Known {
	return &Known{bytes: bytes, compare: func(ctx context.Context, files []measure.File) ([]measure.Diagnostic, error) {
		var report measure.Report
		_, err := known.ReadRun(ctx, files, &report)
		return report.Diagnostics(), err
	}}
}
