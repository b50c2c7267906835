package clustering

import (
	"context"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/steps"
)

// Evaluate compares predicted with true clusters. truth and predicted hold codes below clusters, for the same examples in the same order.
// There must be at least one example, and all measures must be of clustering.
func Evaluate(asked []measure.Measure, clusters int, truth, predicted []int32) measure.Result {
	counter := steps.Of(context.Background())
	return evaluate(counter, asked, newTable(counter, clusters, clusters, truth, predicted))
}
