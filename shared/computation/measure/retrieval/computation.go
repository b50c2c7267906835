package retrieval

import (
	"context"
	"fmt"

	"assay/shared/computation/measure"
	"assay/shared/language/plural"
)

// Computation computes the measures of retrieval.
var Computation = computation(Version, func() *subtopics { return nil })

// Diversity computes the measures of rankings with subtopics.
var Diversity = computation(DiversityVersion, newSubtopics)

func computation(version string, ofTruth func() *subtopics) measure.Computation {
	return measure.Computation{
		Version: version,
		ReadTruth: func(ctx context.Context, _ measure.Format, options measure.Options, asked []measure.Measure,
			files []measure.File) (*measure.Reference, []measure.Diagnostic, error) {
			qrels, diagnostics, err := readQrels(ctx, options, ofTruth(), files)
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

// measured returns the qrels as the truth of an evaluator.
func (q *Qrels) measured(asked []measure.Measure) *measure.Reference {
	topics := q.Topics()
	if topics*len(asked) > measure.MaxTopicValues {
		topics = 0
	}
	return &measure.Reference{
		Steps: q.steps, IDs: q.ids(), Extent: q.extent(), Bytes: q.Bytes(), Topics: topics,
		Known: func(ids, _ bool) *measure.Known {
			if !ids {
				return nil
			}
			return q.Known().Measured(0)
		},
		Evaluate: func(ctx context.Context, files []measure.File) (*measure.Scores, error) {
			return q.Read(ctx, asked, files...)
		},
		Contents: q.contents,
	}
}

// usualDepth is the usual number of documents of a run for a topic.
const usualDepth = 1000

// steps estimates the steps for a run of the usual depth: reading, ranking, and computing the measures.
func (q *Qrels) steps(asked []measure.Measure) int {
	const line = 40 // bytes
	documents := usualDepth * q.Topics()
	n := documents*(line+perLookup+2) + perLookup*len(q.judgments)
	for _, m := range asked {
		depth := documents
		if d := m.Depth(); d > 0 {
			depth = min(d, usualDepth) * q.Topics()
		}
		n += depth + q.idealSteps(m)
	}
	return n
}

func (q *Qrels) extent() string {
	return fmt.Sprintf("%s with %s", plural.Count(q.Topics(), "topic"), plural.Count(len(q.judgments), "judgment"))
}

// Measured returns the known ids in the form that evaluators share. bytes is their memory in addition to the truth's.
func (k *KnownTopics) Measured(bytes int64) *measure.Known {
	return &measure.Known{Compare: k.Compare, Bytes: bytes, IDs: k.topics.ids(),
		CompareKept: func(ctx context.Context, run measure.Kept) ([]measure.Diagnostic, error) {
			return k.compareRead(ctx, run.(*kept))
		}}
}
