package predictions

import (
	"context"
	"slices"

	"assay/shared/measure"
)

// Computation is that of an evaluator whose truth and runs are predictions, which evaluate compares. Details add to the result of a run
// what no measure is, such as values by example.
func Computation(version string, values Values, evaluate func([]measure.Measure, *Truth, *Run) measure.Result,
	details ...func([]measure.Measure, *Truth, *Run, *measure.Result)) measure.Computation {
	return computation(version, values, func([]measure.Measure) Values { return values }, ofRuns(evaluate, details...))
}

// ScoreComputation is that of an evaluator whose truth has Classes and whose runs have Scores, which have to be Probabilities where one of
// the measures needs them. Details are as of Computation.
func ScoreComputation(version string, needsProbabilities func(measure.Measure) bool,
	evaluate func([]measure.Measure, *Truth, *Run) measure.Result,
	details ...func([]measure.Measure, *Truth, *Run, *measure.Result)) measure.Computation {
	return computation(version, Classes, func(asked []measure.Measure) Values {
		if slices.ContainsFunc(asked, needsProbabilities) {
			return Probabilities
		}
		return Scores
	}, ofRuns(evaluate, details...))
}

func ofRuns(evaluate func([]measure.Measure, *Truth, *Run) measure.Result,
	details ...func([]measure.Measure, *Truth, *Run, *measure.Result)) evaluateFiles {
	return func(ctx context.Context, asked []measure.Measure, t *Truth, files []measure.File,
		report *measure.Report) (e measure.Evaluation, err error) {
		run, err := t.ReadRun(ctx, files, report)
		if err != nil || report.Failed() {
			return e, err
		}
		e.Result = evaluate(asked, t, run)
		for _, add := range details {
			add(asked, t, run, &e.Result)
		}
		// Of more examples or scores, the run would take memory as long as the evaluation is there, and samples of it long.
		if e.Examples = t.Len(); e.Examples <= measure.MaxExamples && len(run.scores.rows) <= measure.MaxTopicValues {
			e.Resample = func(examples []int) *float64 {
				sampledTruth, sampledRun := sample(t, run, examples)
				return evaluate(asked[:1], sampledTruth, sampledRun).Measures[asked[0].String()]
			}
		}
		return e, nil
	}
}

// evaluateFiles measures a run. The evaluation is not used if the report has errors, and has no diagnostics of its own.
type evaluateFiles func(context.Context, []measure.Measure, *Truth, []measure.File, *measure.Report) (measure.Evaluation, error)

func computation(version string, values Values, ofRun func([]measure.Measure) Values, evaluate evaluateFiles) measure.Computation {
	return measure.Computation{
		Version: version,
		ReadTruth: func(ctx context.Context, format measure.Format, asked []measure.Measure,
			files []measure.File) (*measure.Truth, []measure.Diagnostic, error) {
			var report measure.Report
			truth, err := ReadTruth(ctx, format, values, files, &report)
			if err != nil || report.Failed() {
				return nil, report.Diagnostics(), err
			}
			for _, m := range asked {
				for _, label := range m.Labels() {
					if !slices.Contains(truth.Labels(), label) {
						report.Warnf("", 0, "%s has no value for any run, since no example of the truth has the label %q; check how the label is written",
							m, label)
					}
				}
			}
			truth.runs = ofRun(asked)
			return truth.withMeasures(asked, evaluate), report.Diagnostics(), nil
		},
		ValidateRun: func(ctx context.Context, format measure.Format, asked []measure.Measure,
			files []measure.File) ([]measure.Diagnostic, error) {
			var report measure.Report
			_, err := ReadTruth(ctx, format, ofRun(asked), files, &report) // a truth asks of its files what a run does
			return report.Diagnostics(), err
		},
	}
}

func (t *Truth) withMeasures(asked []measure.Measure, evaluate evaluateFiles) *measure.Truth {
	return &measure.Truth{
		Bytes: t.Bytes(),
		Known: func(ids, labels bool) *measure.Known {
			if labels = labels && slices.Contains([]Values{Labels, Sets, Classes}, t.values); !ids && !labels {
				return nil
			}
			return &measure.Known{Compare: t.Known(ids, labels).compare}
		},
		Evaluate: func(ctx context.Context, files []measure.File) (*measure.Evaluation, error) {
			return measure.Evaluate(func(report *measure.Report) (measure.Evaluation, error) {
				return evaluate(ctx, asked, t, files, report)
			})
		},
	}
}

// compare reports how a run departs from what is known.
func (t *Truth) compare(ctx context.Context, files ...measure.File) ([]measure.Diagnostic, error) {
	var report measure.Report
	_, err := t.ReadRun(ctx, files, &report)
	return report.Diagnostics(), err
}

// KnownItems is what the ids of items say of a run; nil when there are none.
func KnownItems(items *Truth) *measure.Known {
	if items.Len() == 0 {
		return nil
	}
	return &measure.Known{Compare: items.compare, Bytes: items.Bytes()}
}
