package multilabel

import (
	"context"

	"assay/shared/measure"
	"assay/shared/measure/steps"
)

// Evaluate compares predicted with true labels. truth and predicted return, for each of n examples, the indices of its labels in labels, in
// ascending order and none twice.
func Evaluate(measures []measure.Measure, labels []string, n int, truth, predicted func(i int) []int16) measure.Result {
	counter := steps.Of(context.Background())
	return evaluate(counter, measures, newExamples(counter, labels, n, truth, predicted))
}
