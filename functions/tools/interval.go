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
	value := v.Measures[name]
	if value == nil {
		return nil, nil
	}
	var values []float64
	sum := 0.0
	for _, topic := range topicNames(v.Topics) {
		if x, ok := v.Topics[topic][name]; ok {
			values, sum = append(values, x), sum+x
		}
	}
	const rounding = 1e-9
	if len(values) == 0 || math.Abs(sum/float64(len(values))-*value) > rounding*max(1, math.Abs(*value)) {
		return nil, nil
	}
	interval, err := significance.Bootstrap(values, seed, rounds)
	if errors.Is(err, significance.ErrUndefined) {
		return nil, nil
	}
	return &interval, err
}
