package classification

import (
	"context"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/steps"
)

// Evaluate compares predicted with true labels. truth and predicted hold indices in labels, for the same examples in the same order. There
// must be at least one example, and all measures must be of classification.
func Evaluate(measures []measure.Measure, labels []string, truth, predicted []int32) measure.Result {
	counter := steps.Of(context.Background())
	return evaluate(counter, measures, newCounts(counter, labels, truth, predicted))
}
