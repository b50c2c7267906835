package predictions

import (
	"context"
	"fmt"
	"slices"

	"assay/shared/measure"
	"assay/shared/measure/steps"
	"assay/shared/plural"
)

// Evaluator measures runs whose truth and runs are predictions. Its functions count their steps and end early if the counter has an error:
// then their results are not used.
type Evaluator[C any] struct {
	Version string
	// Compare counts what the measures share, once for all of them.
	Compare func(*steps.Counter, *Truth, *Run) C
	// Measure returns the measures.
	Measure func(*steps.Counter, []measure.Measure, C) measure.Result
	// Steps returns about how many steps the evaluation of a run takes after it was read.
	Steps func([]measure.Measure, *Truth) int
	// Detail adds to the result of a run what no measure is, such as values by example; nil where there is nothing.
	Detail func(*steps.Counter, []measure.Measure, *Truth, C, *measure.Result)
}

// Computation returns the computation of an evaluator whose truth and runs have the values.
func (e Evaluator[C]) Computation(values Values) measure.Computation {
	return computation(e.Version, values, func([]measure.Measure) Values { return values }, e.evaluate, e.Steps)
}

// ScoreComputation returns the computation of an evaluator whose truth has Classes and whose runs have Scores, which have to be
// Probabilities where one of the measures needs them.
func (e Evaluator[C]) ScoreComputation(needsProbabilities func(measure.Measure) bool) measure.Computation {
	return computation(e.Version, Classes, func(asked []measure.Measure) Values {
		if slices.ContainsFunc(asked, needsProbabilities) {
			return Probabilities
		}
		return Scores
	}, e.evaluate, e.Steps)
}

func (e Evaluator[C]) evaluate(ctx context.Context, asked []measure.Measure, t *Truth, files []measure.File,
	report *measure.Report) (found measure.Evaluation, err error) {
	run, err := t.ReadRun(ctx, files, report)
	if err != nil || report.Failed() {
		return found, err
	}
	compared := e.Compare(run.counter, t, run)
	found.Result = e.Measure(run.counter, asked, compared)
	if e.Detail != nil {
		e.Detail(run.counter, asked, t, compared, &found.Result)
	}
	if err := run.counter.Err(); err != nil {
		return measure.Evaluation{}, err
	}
	// Of more examples or scores, the run would take memory as long as the evaluation is there, and samples of it long.
	if found.Examples = t.Len(); found.Examples <= measure.MaxExamples && len(run.scores.rows) <= measure.MaxTopicValues {
		found.Resample = func(counter *steps.Counter, examples []int) *float64 {
			sampledTruth, sampledRun := sample(t, run, examples)
			return e.Measure(counter, asked[:1], e.Compare(counter, sampledTruth, sampledRun)).Measures[asked[0].String()]
		}
	}
	return found, nil
}

// evaluateFiles measures a run. The evaluation is not used if the report has errors, and has no diagnostics of its own.
type evaluateFiles func(context.Context, []measure.Measure, *Truth, []measure.File, *measure.Report) (measure.Evaluation, error)

func computation(version string, values Values, ofRun func([]measure.Measure) Values, evaluate evaluateFiles,
	stepsOf func([]measure.Measure, *Truth) int) measure.Computation {
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
					if truth.labels.find([]byte(label)) < 0 {
						report.Warnf("", 0, "%s has no value for any run, since no example of the truth has the label %q; check how the label is written",
							m, label)
					}
				}
			}
			truth.runs = ofRun(asked)
			return truth.withMeasures(asked, evaluate, stepsOf), report.Diagnostics(), nil
		},
		ValidateRun: func(ctx context.Context, format measure.Format, asked []measure.Measure,
			files []measure.File) ([]measure.Diagnostic, error) {
			var report measure.Report
			_, err := ReadTruth(ctx, format, ofRun(asked), files, &report) // a truth asks of its files what a run does
			return report.Diagnostics(), err
		},
	}
}

func (t *Truth) withMeasures(asked []measure.Measure, evaluate evaluateFiles, stepsOf func([]measure.Measure, *Truth) int) *measure.Truth {
	return &measure.Truth{
		Steps: func(asked []measure.Measure) int {
			return int(t.Bytes()) + t.Len() + stepsOf(asked, t) // a file has about as many bytes as the truth takes
		},
		Extent: t.extent(),
		Bytes:  t.Bytes(),
		Shape:  measure.Shape{Examples: t.Len(), Labels: len(t.Labels())},
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

// extent says what the truth has.
func (t *Truth) extent() string {
	text := plural.Count(t.Len(), "example")
	switch {
	case t.values == Sets:
		text += fmt.Sprintf(" with %s of %d", plural.Count(t.Assigned(), "label"), len(t.labels.names))
	case t.values == References:
		text += fmt.Sprintf(" with %s", plural.Count(t.TextBytes(), "byte"))
	case len(t.labels.names) > 0:
		text += fmt.Sprintf(" with %s", plural.Count(len(t.labels.names), "label"))
	}
	return text
}

// Assigned is how many labels all examples have together, for Sets.
func (t *Truth) Assigned() int { return max(0, len(t.sets.codes)-t.Len()) }

// TextBytes is how many bytes all References have together.
func (t *Truth) TextBytes() int { return len(t.texts.all) }

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
