package tools

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"assay/functions/tools/inputs"
	"assay/functions/tools/significance"
	"assay/shared/computation/measure"
	"assay/shared/computation/measure/steps"
	"assay/shared/language/lists"
	"assay/shared/language/plural"
	"assay/shared/language/problem"
)

// MeasuredRun identifies a measured run in an answer.
type MeasuredRun struct {
	Name         string `json:"name"`
	RunID        string `json:"runId,omitempty"`
	EvaluationID string `json:"evaluationId,omitempty" doc:"the evaluation that stores the values; absent if they were computed for this answer"`
}

func measuredRun(r *inputs.Run) MeasuredRun { return MeasuredRun{r.Name, r.ID, r.EvaluationID} }

// MeasureUsed describes the measure by which runs are compared.
type MeasureUsed struct {
	Measure       string `json:"measure" doc:"canonical name"`
	LowerIsBetter bool   `json:"lowerIsBetter" doc:"whether lower values are better"`
	TruthVersion  int64  `json:"truthVersion,omitempty" doc:"version of the dataset's ground truth and evaluator"`
}

func measureUsed(r *inputs.Results) MeasureUsed {
	return MeasureUsed{r.Measures[0], r.LowerIsBetter(r.Measures[0]), r.TruthVersion}
}

// oneMeasureRequest asks for the values of runs by one measure. An empty name asks for the measure that ranks.
func oneMeasureRequest(runs []inputs.RunReference, truth *inputs.TruthReference, name string) inputs.ResultsRequest {
	asked := inputs.ResultsRequest{Runs: runs, Truth: truth, MeasurePointer: "/measure", One: true}
	if name != "" {
		asked.Measures = []string{name}
	}
	return asked
}

// maxValue bounds the values that the tools calculate with, so that sums and differences stay finite.
const maxValue = 1e300

// topicValues holds the values of one measure.
type topicValues struct {
	by     []map[string]float64 // for each run, by topic or by the id of an example
	topics []string             // all topics in byte order, so that a seed always gives the same answer
	hidden bool                 // the caller may see none of the values
}

func valuesByTopic(results *inputs.Results, values []inputs.Values) (v topicValues, err error) {
	all := map[string]bool{}
	for i := range values {
		one := values[i].Topics.Of(results.Measures[0])
		for topic, x := range one {
			if math.Abs(x) > maxValue {
				return v, problem.InvalidMember(fmt.Sprintf("/runs/%d", i), "has values of single topics that are too large to be computed with")
			}
			all[topic] = true
		}
		v.by, v.hidden = append(v.by, one), v.hidden || values[i].Topics.Hidden()
	}
	v.topics = slices.Sorted(maps.Keys(all))
	return v, nil
}

// require returns a problem if the measure has no values. The problem has the reason, if it is known, or the hint.
func (v topicValues) require(name string, values []inputs.Values, hint string) error {
	if len(v.topics) > 0 {
		return nil
	}
	return problem.InvalidMember("/measure", "%q has no values per topic or by example: %s", name,
		cmp.Or(values[0].Reasons[measure.PerTopicReason], hint))
}

// whyNone explains why a measure has neither values nor samples, or says what to do.
func whyNone(results *inputs.Results, v inputs.Values) string {
	switch {
	case v.Examples > measure.MaxExamples:
		return fmt.Sprintf("there are %s, and runs are compared by other measures on up to %d", plural.Count(v.Examples, "example"),
			measure.MaxExamples)
	case results.Unit() == "example" && results.Truth == nil:
		return "the ground truth has changed since the runs were evaluated. Try again once they are evaluated against the new one"
	case results.Unit() == "example" && v.Measures[results.Measures[0]] != nil:
		return fmt.Sprintf("a run has more than %d scores, which are too many to be measured on samples. Name a measure that is a mean over "+
			"examples, or leave out runs", measure.MaxTopicValues)
	}
	return "name a measure that is a mean over them"
}

// pairedP compares two runs on the topics that both have, by Student's t-test. p is 0 if all differences are the same and not 0: otherwise
// a run that becomes better on a topic could lose its distinction. p is 1 if there is nothing to test: no difference, or fewer than two
// topics.
func pairedP(a, b []float64) float64 {
	if t, err := significance.PairedT(a, b); err == nil {
		return t.P
	}
	if significance.Shifted(a, b) {
		return 0
	}
	return 1
}

// roundedP returns the p of two runs whose values are hidden, rounded up to a level that everyone may know. It uses McNemar's
// test if all values are 0 or 1, and otherwise the test of pairedP.
func roundedP(a, b []float64) float64 {
	if !significance.Binary(a) || !significance.Binary(b) {
		return significance.Level(pairedP(a, b))
	}
	if m, err := significance.McNemar(a, b); err == nil {
		return significance.Level(m.P)
	}
	return 1
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

const (
	// maxDraws bounds the values that the bootstrap draws for one answer. They take about two seconds.
	maxDraws = 200_000_000
	// minRounds is the least number of rounds. With fewer, intervals and p would say nothing.
	minRounds = 100
)

// bootstrapRounds returns the number of samples for each interval. draws is the number of values that one sample of each run
// draws. The result is 0 if there is no time for minRounds; inputs.MaxValues draws never are too many.
func bootstrapRounds(draws int) int {
	if most := min(significance.Rounds, maxDraws/max(1, draws)); most >= minRounds {
		return most
	}
	return 0
}

// inTopicOrder returns the values in the byte order of their topics, so that draws and sums are the same each time.
func inTopicOrder(byTopic map[string]float64) []float64 {
	return lists.Map(slices.Sorted(maps.Keys(byTopic)), func(topic string) float64 { return byTopic[topic] })
}

// meanInterval returns the interval of a value that is the mean over topics. It comes from the bootstrap or, if the values are
// hidden, from the normal distribution. The interval is nil for other values, such as a number of documents or a geometric mean.
func meanInterval(counter *steps.Counter, value *float64, byTopic map[string]float64, hidden bool, seed uint64,
	rounds int) (*significance.Interval, error) {
	if err := counter.Add(len(byTopic)); err != nil {
		return nil, err
	}
	values := inTopicOrder(byTopic)
	if value == nil || len(values) == 0 {
		return nil, nil
	}
	const rounding = 1e-9
	if math.Abs(average(values)-*value) > rounding*max(1, math.Abs(*value)) {
		return nil, nil
	}
	interval, err := significance.Normal(values)
	if !hidden {
		interval, err = significance.Bootstrap(counter, values, seed, rounds)
	}
	if errors.Is(err, significance.ErrUndefined) {
		return nil, nil
	}
	return &interval, err
}

// intervalsNote says where intervals come from: for hidden values from the normal distribution.
func intervalsNote(hidden bool) string {
	if hidden {
		return "Intervals (95 %) come from the normal distribution, are rounded, and can end outside the range of the measure."
	}
	return "Intervals (95 %) come from the bootstrap, and end within the range of the measure."
}

// exampleRuns are three runs for examples of comparisons. They rank a lake, a pond and a road for eight topics.
var exampleRuns = []inputs.RunReference{
	{Name: "lakes", Files: exampleRunFile("lakes.txt", "lpr lpr plr lpr lpr lrp lpr lpr")},
	{Name: "ponds", Files: exampleRunFile("ponds.txt", "plr lpr plr plr prl plr lpr rlp")},
	{Name: "roads", Files: exampleRunFile("roads.txt", "rpl rlp prl rpl rpl rlp rpl rpl")},
}

// exampleTruth is the ground truth of exampleRuns. On every topic the lake is best and the pond is good.
var exampleTruth = &inputs.TruthReference{Files: []inputs.InlineFile{{Name: "qrels.txt", Text: exampleQrels(8)}}}

func exampleQrels(topics int) string {
	var b strings.Builder
	for topic := range topics {
		fmt.Fprintf(&b, "%d 0 lake 2\n%d 0 pond 1\n", topic+1, topic+1)
	}
	return b.String()
}

// exampleRunFile returns a run in the format of TREC. orders has a word for each topic, with the initials of the documents by
// rank.
func exampleRunFile(name, orders string) []inputs.InlineFile {
	words := map[rune]string{'l': "lake", 'p': "pond", 'r': "road"}
	var b strings.Builder
	for topic, order := range strings.Fields(orders) {
		for i, document := range order {
			fmt.Fprintf(&b, "%d Q0 %s %d %d x\n", topic+1, words[document], i+1, 9-i)
		}
	}
	return []inputs.InlineFile{{Name: name, Text: b.String()}}
}
