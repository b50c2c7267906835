package scoring

import (
	"assay/shared/measure"
	"assay/shared/measure/classification"
	"assay/shared/measure/clustering"
	"assay/shared/measure/multilabel"
	"assay/shared/measure/probabilities"
	"assay/shared/measure/regression"
	"assay/shared/measure/retrieval"
	"assay/shared/measure/spans"
	"assay/shared/measure/text"
)

// computations holds the Computation of each kind in measure.Evaluators.
var computations = map[measure.Kind]measure.Computation{
	measure.Retrieval:      retrieval.Computation,
	measure.Classification: classification.Computation,
	measure.Regression:     regression.Computation,
	measure.Clustering:     clustering.Computation,
	measure.Text:           text.Computation,
	measure.Multilabel:     multilabel.Computation,
	measure.Diversity:      retrieval.Diversity,
	measure.Probabilities:  probabilities.Computation,
	measure.Spans:          spans.Computation,
}
