package regression

import (
	"context"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/steps"
)

// Evaluate compares predicted with true numbers. Both lists are for the same examples in the same order.
func Evaluate(asked []measure.Measure, truth, predicted []float64) measure.Result {
	counter := steps.Of(context.Background())
	return evaluate(counter, asked, newPairs(counter, truth, predicted))
}
