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
	"assay/shared/lists"
	"assay/shared/measure"
	"assay/shared/measure/steps"
	"assay/shared/plural"
	"assay/shared/problem"
)

// MeasuredRun is a run that is measured, as answers name it.
type MeasuredRun struct {
	Name         string `json:"name"`
	RunID        string `json:"runId,omitempty"`
	EvaluationID string `json:"evaluationId,omitempty" doc:"the evaluation that the values are from; absent when they were computed for this answer"`
}

func measuredRun(r *inputs.Run) MeasuredRun { return MeasuredRun{r.Name, r.ID, r.EvaluationID} }

// MeasureUsed is the one measure that runs are compared by.
type MeasureUsed struct {
	Measure       string `json:"measure" doc:"canonical name"`
	LowerIsBetter bool   `json:"lowerIsBetter" doc:"whether the least value is the best"`
	TruthVersion  int64  `json:"truthVersion,omitempty" doc:"of the dataset's truth"`
}

func measureUsed(r *inputs.Results) MeasureUsed {
	return MeasureUsed{r.Measures[0], r.LowerIsBetter(r.Measures[0]), r.TruthVersion}
}

// oneMeasureRequest asks for the values of runs by one measure.
func oneMeasureRequest(runs []inputs.RunReference, truth *inputs.TruthReference, name string) inputs.ResultsRequest {
	asked := inputs.ResultsRequest{Runs: runs, Truth: truth, MeasurePointer: "/measure", One: true}
	if name != "" {
		asked.Measures = []string{name}
	}
	return asked
}

// maxValue is the size up to which values are computed with: sums and differences of such are finite.
const maxValue = 1e300

// topicValues are the values of the one measure.
type topicValues struct {
	by     []map[string]float64 // of each run by topic, or by the id of an example
	topics []string             // all of them in byte order, so that a seed gives the same answer again
	hidden bool                 // the caller is shown none of the values
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

// require returns the problem that there are no values of the measure, with the reason, if it is known, or what to do.
func (v topicValues) require(name string, values []inputs.Values, hint string) error {
	if len(v.topics) > 0 {
		return nil
	}
	return problem.InvalidMember("/measure", "%q has no values per topic or by example: %s", name,
		cmp.Or(values[0].Reasons[measure.PerTopicReason], hint))
}

// whyNone says why a measure has neither values nor samples, or what to do.
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

// pairedP is the p of two runs on the topics that both have: of Student's t-test or, where the differences have no spread, of the
// randomization test. It is 1 when there is nothing to test.
func pairedP(counter *steps.Counter, a, b []float64) float64 {
	if t, err := significance.PairedT(a, b); err == nil {
		return t.P
	}
	if f, err := significance.Randomization(counter, a, b, 0, significance.Rounds); err == nil {
		return f.P
	}
	return 1
}

// roundedP is the p of two runs whose values are hidden, as little of it as may be known: of McNemar's test where all values are 0 or
// 1, and else as pairedP has it.
func roundedP(counter *steps.Counter, a, b []float64) float64 {
	if !significance.Binary(a) || !significance.Binary(b) {
		return significance.Level(pairedP(counter, a, b))
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

// inTopicOrder are the values in the byte order of their topics, so that what is drawn from or summed over them is the same each time.
func inTopicOrder(byTopic map[string]float64) []float64 {
	return lists.Map(slices.Sorted(maps.Keys(byTopic)), func(topic string) float64 { return byTopic[topic] })
}

// meanInterval is the bootstrap interval of a value that is the mean over topics, or that of the normal distribution where the values are
// hidden; nil when it is none, such as a number of documents or a geometric mean.
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

// exampleRuns are three runs that examples compare: they rank a lake, a pond and a road for eight topics.
var exampleRuns = []inputs.RunReference{
	{Name: "lakes", Files: exampleRunFile("lakes.txt", "lpr lpr plr lpr lpr lrp lpr lpr")},
	{Name: "ponds", Files: exampleRunFile("ponds.txt", "plr lpr plr plr prl plr lpr rlp")},
	{Name: "roads", Files: exampleRunFile("roads.txt", "rpl rlp prl rpl rpl rlp rpl rpl")},
}

// exampleTruth is their ground truth: on every topic the lake is best and the pond good.
var exampleTruth = &inputs.TruthReference{Files: []inputs.InlineFile{{Name: "qrels.txt", Text: exampleQrels(8)}}}

func exampleQrels(topics int) string {
	var b strings.Builder
	for topic := range topics {
		fmt.Fprintf(&b, "%d 0 lake 2\n%d 0 pond 1\n", topic+1, topic+1)
	}
	return b.String()
}

// exampleRunFile is a run in the format of TREC, of the orders in which it ranks the documents for each topic.
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
