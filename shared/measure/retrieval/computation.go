package retrieval

import (
	"context"

	"assay/shared/measure"
)

// Computation is that of the evaluator of retrieval.
var Computation = computation(Version, ReadQrels)

// Diversity is that of the evaluator of rankings with subtopics.
var Diversity = computation(DiversityVersion, ReadDiversityQrels)

func computation(version string,
	readQrels func(context.Context, ...measure.File) (*Qrels, []measure.Diagnostic, error)) measure.Computation {
	return measure.Computation{
		Version: version,
		ReadTruth: func(ctx context.Context, _ measure.Format, asked []measure.Measure,
			files []measure.File) (*measure.Truth, []measure.Diagnostic, error) {
			qrels, diagnostics, err := readQrels(ctx, files...)
			if err != nil || qrels == nil {
				return nil, diagnostics, err
			}
			return qrels.measured(asked), diagnostics, nil
		},
		ValidateRun: func(ctx context.Context, _ measure.Format, _ []measure.Measure, files []measure.File) ([]measure.Diagnostic, error) {
			_, diagnostics, err := ReadRankings(ctx, files...)
			return diagnostics, err
		},
	}
}

// measured are the qrels as evaluators have them.
func (q *Qrels) measured(asked []measure.Measure) *measure.Truth {
	topics := q.Topics()
	if topics*len(asked) > measure.MaxTopicValues {
		topics = 0
	}
	return &measure.Truth{
		Bytes: q.Bytes(), Topics: topics,
		Known: func(ids, _ bool) *measure.Known {
			if !ids {
				return nil
			}
			return q.Known().Measured(0)
		},
		Evaluate: func(ctx context.Context, files []measure.File) (*measure.Evaluation, error) {
			return q.Read(ctx, asked, files...)
		},
	}
}

// Measured is what is known as evaluators have it, taking so many bytes.
func (k *Known) Measured(bytes int64) *measure.Known {
	return &measure.Known{Compare: k.Compare, Bytes: bytes,
		CompareKept: func(run measure.Kept) []measure.Diagnostic { return k.compareRead(run.(*kept)) }}
}
