package predictions

import (
	"assay/shared/computation/measure"
	"assay/shared/computation/measure/steps"
)

// AddValues adds values by example to a result, for measures that are means over examples. For such a measure, of returns a function from
// the index of an example to its value. For any other measure, of returns nil.
func (t *Gold) AddValues(counter *steps.Counter, asked []measure.Measure, result *measure.Result,
	of func(measure.Measure) func(i int) float64) {
	for _, m := range asked {
		if value := of(m); value != nil {
			result.AddValues(counter, m.String(), t.Len(), t.ID, value)
		}
	}
}

// sample returns a truth and a run that have only the examples with the indices.
func sample(t *Gold, r *Run, examples []int) (*Gold, *Run) {
	truth, run := *t, *r
	truth.ids, run.truth = nil, &truth
	truth.codes, run.codes = pick(t.codes, examples), pick(r.codes, examples)
	truth.numbers = pick(t.numbers, examples)
	run.numbers = pick(r.numbers, examples)
	truth.sets.starts = pick(t.sets.starts, examples)
	run.sets.starts = pick(r.sets.starts, examples)
	run.scores.starts = pick(r.scores.starts, examples)
	return &truth, &run
}

// pick returns the elements with the indices. It returns nil for nil.
func pick[T any](all []T, indices []int) []T {
	if all == nil {
		return nil
	}
	picked := make([]T, len(indices))
	for i, from := range indices {
		picked[i] = all[from]
	}
	return picked
}
