package tools

import (
	"context"

	"assay/functions/tools/chart"
	"assay/functions/tools/inputs"
	"assay/functions/tools/significance"
	"assay/shared/computation/measure"
	"assay/shared/computation/measure/steps"
	"assay/shared/domain/record"
	"assay/shared/language/lists"
	"assay/shared/language/problem"
)

// EvaluatorInput holds the runs to evaluate, the ground truth and the measures.
type EvaluatorInput struct {
	Runs     []inputs.RunReference  `json:"runs" minItems:"1" maxItems:"10" doc:"the runs"`
	Truth    *inputs.TruthReference `json:"truth,omitempty" doc:"the ground truth; by default, stored runs have the values of their evaluations"`
	Measures []string               `json:"measures,omitempty" maxItems:"50" maxLength:"100" doc:"names in the grammar of ir-measures, or of trec_eval; by default the measures of the dataset" example:"[\"nDCG@10\",\"AP\"]"`
	Seed     uint64                 `json:"seed,omitempty" maximum:"9007199254740991" doc:"of the bootstrap; the same seed gives the same intervals"`
	PerTopic *bool                  `json:"perTopic,omitempty" doc:"whether the answer has the values per topic or by example; by default it has the values per topic, and none of labels and numbers"`
}

// EvaluatorOutput holds the values of runs.
type EvaluatorOutput struct {
	Measures     []string       `json:"measures" doc:"canonical names, in the order asked for"`
	TruthVersion int64          `json:"truthVersion,omitempty" doc:"version of the dataset's ground truth and evaluator"`
	Rounds       int            `json:"rounds" doc:"number of samples of topics or examples behind each interval"`
	Runs         []EvaluatedRun `json:"runs" doc:"in the order asked for"`
}

// EvaluatedRun holds the values of one run.
type EvaluatedRun struct {
	MeasuredRun
	Measures    map[string]*float64              `json:"measures" doc:"by name; null when a measure is not defined for the data"`
	Reasons     map[string]string                `json:"reasons,omitempty" doc:"why a measure is null; under perTopic, why the values by topic or example are absent"`
	Intervals   map[string]significance.Interval `json:"intervals" doc:"95 % intervals of measures that are means over topics or examples. They come from the bootstrap. Where only organizers may see values by example, they come from the normal distribution and are rounded, and can end outside the range of the measure, such as above 1"`
	PerTopic    map[string]map[string]float64    `json:"perTopic,omitempty" doc:"values by topic or example, then by name; for stored runs, only organizers get values by example that reveal the truth"`
	Classes     *measure.Classes                 `json:"classes,omitempty" doc:"predictions for each label, for up to 50 labels; for stored runs, only organizers get them"`
	Diagnostics []measure.Diagnostic             `json:"diagnostics,omitempty" doc:"errors and warnings about the files"`
}

// maxTopicValues bounds the values per topic of an answer. About as many fit the answer of a function.
const maxTopicValues = 100_000

var evaluatorTool = define(metadata{
	name: "evaluator", kind: "evaluation", problems: valueProblems, summary: "Evaluate runs",
	description: "Computes measures of runs, overall and per topic, with the meaning of trec_eval and scikit-learn, and 95 % " +
		"intervals over topics or examples. For labels the answer also has the confusion matrix, with precision, recall and F1 of each label. " +
		"Name runs by `runId`, or send their files. Name the truth by `datasetId`, which only its organizers may use, or send your own.\n\n" +
		"Without `truth`, stored runs have the values of their evaluations. Everybody who sees the evaluations may read these values.\n\n" +
		"As `image/svg+xml` the answer is the confusion matrix of a single run, if the answer as JSON has it. Otherwise it is bars of the " +
		"first measure.",
}, EvaluatorInput{
	Runs: []inputs.RunReference{
		{Name: "mine", Files: []inputs.InlineFile{
			{Name: "run.txt", Text: "1 Q0 pond 1 4.0 mine\n1 Q0 road 2 3.0 mine\n1 Q0 lake 3 2.0 mine\n2 Q0 lake 1 1.0 mine\n"}}}},
	Truth: &inputs.TruthReference{
		Files: []inputs.InlineFile{{Name: "qrels.txt", Text: "1 0 lake 2\n1 0 pond 1\n1 0 road 0\n2 0 lake 1\n"}}},
	Measures: []string{"nDCG@10", "AP"},
}, func(ctx context.Context, resolver *inputs.Resolver, in EvaluatorInput) (compute[EvaluatorOutput], error) {
	results, err := resolver.Results(ctx, inputs.ResultsRequest{
		Runs: in.Runs, Truth: in.Truth, Measures: in.Measures, MeasurePointer: "/measures"})
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (out EvaluatorOutput, err error) {
		values, err := results.Values(ctx)
		if err != nil {
			return out, err
		}
		shown := !results.OfExamples()
		if in.PerTopic != nil {
			shown = *in.PerTopic
		}
		counter := steps.Of(ctx)
		draws := 0
		for _, v := range values {
			draws += v.Topics.Count()
		}
		if shown && draws > maxTopicValues {
			return out, problem.InvalidMember("/perTopic",
				"there are too many values per topic for one answer: give false, or fewer measures or runs")
		}
		out = EvaluatorOutput{Measures: results.Measures, TruthVersion: results.TruthVersion, Rounds: bootstrapRounds(draws)}
		for i, r := range results.Runs {
			v := values[i]
			e := EvaluatedRun{
				MeasuredRun: measuredRun(r), Measures: v.Measures, Reasons: v.Reasons, Diagnostics: record.Disclosed(v.Diagnostics),
				Classes:   v.Topics.Classes(),
				Intervals: map[string]significance.Interval{},
			}
			if shown {
				e.PerTopic = v.Topics.Shown()
			}
			for _, name := range results.Measures {
				interval, err := meanInterval(counter, v.Measures[name], v.Topics.Of(name), v.Topics.Hidden(), in.Seed, out.Rounds)
				if err != nil {
					return out, err
				}
				if interval != nil {
					e.Intervals[name] = *interval
				}
			}
			out.Runs = append(out.Runs, e)
		}
		return out, nil
	}, nil
})

func (out EvaluatorOutput) chart() chart.Chart {
	if c := out.Runs[0].Classes; c != nil && len(out.Runs) == 1 {
		return chart.Confusion(chart.Caption{
			ID: "confusion", Title: "Confusion matrix of " + out.Runs[0].Name, Description: "The answer as JSON has the same numbers.",
		}, lists.Map(c.Labels, func(l measure.Class) string { return l.Label }), c.Matrix)
	}
	name := out.Measures[0]
	return chart.Bars(chart.Caption{ID: "bars", Title: name, Description: "The answer as JSON has the same numbers."},
		lists.Map(out.Runs, func(r EvaluatedRun) chart.Bar {
			b := chart.Bar{Label: r.Name, Value: orNaN(r.Measures[name])}
			if interval, ok := r.Intervals[name]; ok {
				b.Interval = (*chart.Interval)(&interval)
			}
			return b
		}))
}
