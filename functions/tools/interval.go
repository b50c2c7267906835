package tools

import (
	"context"
	"errors"
	"math"

	"assay/functions/tools/material"
	"assay/shared/measure/significance"
)

// maxDraws bounds what a bootstrap draws for one answer: some seconds' work.
const maxDraws = 1_000_000_000

// rounds is how many samples of topics each interval is drawn from, when one sample of all draws so many values.
func rounds(draws int) int {
	return max(100, min(significance.Rounds, maxDraws/max(1, draws)))
}

// intervalOf is the bootstrap interval of a measure that is the mean over topics; nil when it is none, such as a number of
// documents or a geometric mean. Topics go in byte order, so that a seed gives the same interval again.
func intervalOf(ctx context.Context, v *material.Values, name string, seed uint64, rounds int) (*significance.Interval, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var values []float64
	for _, topic := range topicNames(v.Topics) {
		if x, ok := v.Topics[topic][name]; ok {
			values = append(values, x)
		}
	}
	return intervalAround(v.Measures[name], values, seed, rounds)
}

// intervalAround is the bootstrap interval of the mean of the values; nil when the value is not their mean.
func intervalAround(value *float64, values []float64, seed uint64, rounds int) (*significance.Interval, error) {
	if value == nil || len(values) == 0 {
		return nil, nil
	}
	const rounding = 1e-9
	if math.Abs(average(values)-*value) > rounding*max(1, math.Abs(*value)) {
		return nil, nil
	}
	interval, err := significance.Bootstrap(values, seed, rounds)
	if errors.Is(err, significance.ErrUndefined) {
		return nil, nil
	}
	return &interval, err
}
