package tools

import (
	"context"

	"assay/functions/tools/chart"
	"assay/functions/tools/inputs"
	"assay/functions/tools/significance"
	"assay/shared/lists"
	"assay/shared/measure"
	"assay/shared/measure/steps"
	"assay/shared/problem"
	"assay/shared/record"
)

// EvaluatorInput has the runs to evaluate, the ground truth and the measures.
type EvaluatorInput struct {
	Runs     []inputs.RunReference  `json:"runs" minItems:"1" maxItems:"10" doc:"the runs"`
	Truth    *inputs.TruthReference `json:"truth,omitempty" doc:"what to evaluate against; unless given, runs of the platform have the values that they were evaluated with"`
	Measures []string               `json:"measures,omitempty" maxItems:"50" maxLength:"100" doc:"names in the grammar of ir-measures, or of trec_eval; unless given, those of the dataset" example:"[\"nDCG@10\",\"AP\"]"`
	Seed     uint64                 `json:"seed,omitempty" maximum:"9007199254740991" doc:"of the bootstrap; the same seed gives the same intervals"`
	PerTopic *bool                  `json:"perTopic,omitempty" doc:"whether the answer has the values per topic or by example; unless given, it has those per topic, and none of labels and numbers"`
}

// EvaluatorOutput is the values of runs.
type EvaluatorOutput struct {
	Measures     []string       `json:"measures" doc:"canonical names, in the order asked for"`
	TruthVersion int64          `json:"truthVersion,omitempty" doc:"of the dataset's truth"`
	Rounds       int            `json:"rounds" doc:"samples of topics or examples that each interval was drawn from"`
	Runs         []EvaluatedRun `json:"runs" doc:"in the order asked for"`
}

// EvaluatedRun is the values of one run.
type EvaluatedRun struct {
	MeasuredRun
	Measures    map[string]*float64              `json:"measures" doc:"by name; null when a measure is not defined for the data"`
	Reasons     map[string]string                `json:"reasons,omitempty" doc:"why a measure is null and, as perTopic, why the values by topic or example are absent"`
	Intervals   map[string]significance.Interval `json:"intervals" doc:"95 % intervals of measures that are means over topics or examples: by the bootstrap or, where values by example are for organizers, by the normal distribution, and rounded"`
	PerTopic    map[string]map[string]float64    `json:"perTopic,omitempty" doc:"values by topic or example, and name; of stored runs, values by example that tell the truth are for organizers"`
	Classes     *measure.Classes                 `json:"classes,omitempty" doc:"what was predicted for each label, of up to 50; of stored runs, for organizers"`
	Diagnostics []measure.Diagnostic             `json:"diagnostics,omitempty" doc:"what was noticed while the files were read"`
}

// maxTopicValues is how many values per topic an answer has: about as many as fit one of a function.
const maxTopicValues = 100_000

var evaluatorTool = define(metadata{
	name: "evaluator", kind: "evaluation", problems: valueProblems, summary: "Evaluate runs",
	description: "Computes measures of runs, overall and per topic, with the meaning of trec_eval and scikit-learn, and 95 % bootstrap " +
		"intervals over topics or examples. Of labels the answer has the confusion matrix too, with precision, recall and F1 of each label. " +
		"Name runs by `runId`, or send their files; name the truth by `datasetId`, which takes one of its organizers, or send your own.\n\n" +
		"Without `truth`, runs of the platform have the values of their evaluations, which everybody who sees those may have.\n\n" +
		"As `image/svg+xml` the answer is the confusion matrix of one run, where the answer as JSON has it, and else bars of the first measure.",
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
