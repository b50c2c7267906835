package tools

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"

	"assay/functions/tools/significance"
	"assay/shared/lists"
)

const (
	// maxDraws bounds what a bootstrap draws for one answer: about two seconds' work.
	maxDraws = 200_000_000
	// minRounds are drawn at least, or neither intervals nor p would say anything.
	minRounds = 100
)

// bootstrapRounds is how many samples of topics each interval is drawn from, when one sample of all draws so many values; 0 when
// there is no time for minRounds, for which inputs.MaxValues are too few.
func bootstrapRounds(draws int) int {
	if most := min(significance.Rounds, maxDraws/max(1, draws)); most >= minRounds {
		return most
	}
	return 0
}

// meanInterval is the bootstrap interval of a value that is the mean over topics; nil when it is none, such as a number of
// documents or a geometric mean. Topics come in byte order, so that a seed gives the same interval again.
func meanInterval(ctx context.Context, value *float64, byTopic map[string]float64, seed uint64,
	rounds int) (*significance.Interval, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	values := lists.Map(slices.Sorted(maps.Keys(byTopic)), func(topic string) float64 { return byTopic[topic] })
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
