package retrieval

import (
	"context"

	"assay/shared/measure"
)

// Computation is that of the evaluator of retrieval.
var Computation = measure.Computation{
	Version: Version,
	ReadTruth: func(ctx context.Context, _ measure.Format, asked []measure.Measure,
		files []measure.File) (*measure.Truth, []measure.Diagnostic, error) {
		qrels, diagnostics, err := ReadQrels(ctx, files...)
		if err != nil || qrels == nil {
			return nil, diagnostics, err
		}
		return &measure.Truth{
			Bytes: qrels.Bytes(), Topics: qrels.Topics(),
			Known: func(ids, _ bool) *measure.Known {
				if !ids {
					return nil
				}
				return qrels.Known().Measured(0)
			},
			Evaluate: func(ctx context.Context, files []measure.File) (*measure.Evaluation, error) {
				e, err := qrels.Read(ctx, asked, files...)
				if err != nil {
					return nil, err
				}
				return &measure.Evaluation{Result: e.Result, Diagnostics: e.Diagnostics, Kept: e}, nil
			},
		}, diagnostics, nil
	},
	ValidateRun: func(ctx context.Context, _ measure.Format, _ []measure.Measure, files []measure.File) ([]measure.Diagnostic, error) {
		_, diagnostics, err := ReadRankings(ctx, files...)
		return diagnostics, err
	},
}

// Measured is what is known as evaluators have it, taking so many bytes.
func (k *Known) Measured(bytes int64) *measure.Known {
	return &measure.Known{Compare: k.Compare, Bytes: bytes,
		CompareKept: func(run measure.Kept) []measure.Diagnostic { return k.CompareRead(run.(*Evaluation)) }}
}
