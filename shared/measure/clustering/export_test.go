package clustering

import (
	"context"

	"assay/shared/measure"
	"assay/shared/measure/steps"
)

// Evaluate compares predicted with true clusters. truth and predicted hold, for the same examples in the same order, a code below
// clusters. There is at least one example, and every measure is one of clustering.
func Evaluate(asked []measure.Measure, clusters int, truth, predicted []int32) measure.Result {
	counter := steps.Of(context.Background())
	return evaluate(counter, asked, newTable(counter, clusters, truth, predicted))
}
