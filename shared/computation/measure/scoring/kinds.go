package scoring

import (
	"assay/shared/computation/measure"
	"assay/shared/computation/measure/classification"
	"assay/shared/computation/measure/clustering"
	"assay/shared/computation/measure/multilabel"
	"assay/shared/computation/measure/probabilities"
	"assay/shared/computation/measure/regression"
	"assay/shared/computation/measure/retrieval"
	"assay/shared/computation/measure/spans"
	"assay/shared/computation/measure/text"
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
