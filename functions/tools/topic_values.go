package tools

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"assay/functions/tools/inputs"
	"assay/shared/measure"
	"assay/shared/problem"
)

// oneMeasureRequest asks for the values of runs by one measure.
func oneMeasureRequest(runs []inputs.RunReference, truth *inputs.TruthReference, name string) inputs.ResultsRequest {
	asked := inputs.ResultsRequest{Runs: runs, Truth: truth, MeasurePointer: "/measure", One: true, Default: map[measure.Kind][]string{}}
	if name != "" {
		asked.Measures = []string{name}
	}
	for kind, names := range defaultMeasures {
		asked.Default[kind] = names[:1]
	}
	return asked
}

// maxValue is the size up to which values are computed with: sums and differences of such are finite.
const maxValue = 1e300

// valuesByTopic returns, of each run, the values of the one measure by topic, and all topics in byte order, so that a seed gives the
// same answer again.
func valuesByTopic(ctx context.Context, results *inputs.Results) (by []map[string]float64, topics []string, err error) {
	values, err := results.Values(ctx)
	if err != nil {
		return nil, nil, err
	}
	name, all := results.Measures[0], map[string]bool{}
	for i := range values {
		one := inputs.ByTopic(values[i].Topics, name)
		for topic, x := range one {
			if math.Abs(x) > maxValue {
				return nil, nil, problem.InvalidMember(fmt.Sprintf("/runs/%d", i), "has the value %v, which is too large to be computed with", x)
			}
			all[topic] = true
		}
		by = append(by, one)
	}
	if len(all) == 0 {
		return nil, nil, problem.InvalidMember("/measure",
			"%q has no values per topic here: name a measure that evaluates each topic, as those of retrieval do", name)
	}
	return by, slices.Sorted(maps.Keys(all)), nil
}

// pairedValues returns the values of each run for the topics that all runs have, in the order of the topics.
func pairedValues(by []map[string]float64, topics []string) (paired [][]float64) {
	paired = make([][]float64, len(by))
	for _, topic := range topics {
		shared := !slices.ContainsFunc(by, func(one map[string]float64) bool { _, ok := one[topic]; return !ok })
		for i := range by {
			if shared {
				paired[i] = append(paired[i], by[i][topic])
			}
		}
	}
	return paired
}
