package multilabel

import (
	"context"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/steps"
)

// Evaluate compares predicted with true labels of n examples. truth and predicted return the labels of an example as indices in labels, in
// ascending order and without duplicates.
func Evaluate(measures []measure.Measure, labels []string, n int, truth, predicted func(i int) []int16) measure.Result {
	counter := steps.Of(context.Background())
	return evaluate(counter, measures, newExamples(counter, labels, n, truth, predicted))
}
