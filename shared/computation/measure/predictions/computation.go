package predictions

import (
	"context"
	"fmt"
	"slices"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/steps"
	"assay/shared/language/plural"
)

// Evaluator measures runs of predictions. Its functions count their steps. They end early if the counter has an error; their results are
// invalid then.
type Evaluator[C any] struct {
	Version string
	// Compare compares a run with its truth, once for all measures.
	Compare func(*steps.Counter, *Gold, *Run) C
	// Measure computes the measures from the comparison.
	Measure func(*steps.Counter, []measure.Measure, C) measure.Result
	// Steps estimates the steps of evaluating a run, without the steps of reading it.
	Steps func([]measure.Measure, *Gold) int
	// Detail adds data to the result that is not a measure, such as values by example. It may be nil.
	Detail func(*steps.Counter, []measure.Measure, *Gold, C, *measure.Result)
	// Doubt returns a warning that only the comparison shows, or "". It may be nil.
	Doubt func(*steps.Counter, C) string
}

// Computation returns the computation of an evaluator whose truths and runs both have the values.
func (e Evaluator[C]) Computation(values Values) measure.Computation {
	return computation(e.Version, values, func([]measure.Measure) Values { return values }, e.evaluate, e.Steps, uninspected)
}

// ScoreComputation returns the computation of an evaluator whose truths have Classes and whose runs have Scores. If one of the measures
// needs probabilities, the scores must be Probabilities.
func (e Evaluator[C]) ScoreComputation(needsProbabilities func(measure.Measure) bool) measure.Computation {
	return computation(e.Version, Classes, func(asked []measure.Measure) Values {
		if slices.ContainsFunc(asked, needsProbabilities) {
			return Probabilities
		}
		return Scores
	}, e.evaluate, e.Steps, uninspected)
}

func (e Evaluator[C]) evaluate(ctx context.Context, asked []measure.Measure, t *Gold, files []measure.File,
	report *measure.Report) (found measure.Scores, err error) {
	run, err := t.ReadRun(ctx, files, report)
	if err != nil || report.Failed() {
		return found, err
	}
	compared := e.Compare(run.counter, t, run)
	found.Result = e.Measure(run.counter, asked, compared)
	if e.Detail != nil {
		e.Detail(run.counter, asked, t, compared, &found.Result)
	}
	if e.Doubt != nil {
		if warning := e.Doubt(run.counter, compared); warning != "" {
			report.Warnf(files[0].Name, 0, "%s", warning)
		}
	}
	if err := run.counter.Err(); err != nil {
		return measure.Scores{}, err
	}
	found.Examples = t.Len()
	// A larger run would take memory as long as the evaluation exists, and resampling it would take long.
	if found.Examples <= measure.MaxExamples && len(run.scores.rows) <= measure.MaxTopicValues {
		found.Resample = func(counter *steps.Counter, examples []int) *float64 {
			sampledTruth, sampledRun := sample(t, run, examples)
			return e.Measure(counter, asked[:1], e.Compare(counter, sampledTruth, sampledRun)).Measures[asked[0].String()]
		}
	}
	return found, nil
}

// evaluateFiles measures a run. The evaluation has no diagnostics; they are in the report. It is invalid if the report has errors.
type evaluateFiles func(context.Context, []measure.Measure, *Gold, []measure.File, *measure.Report) (measure.Scores, error)

func computation(version string, values Values, ofRun func([]measure.Measure) Values, evaluate evaluateFiles,
	stepsOf func([]measure.Measure, *Gold) int, inspect func([]measure.Measure) TextInspector) measure.Computation {
	return measure.Computation{
		Version: version,
		ReadTruth: func(ctx context.Context, format measure.Format, options measure.Options, asked []measure.Measure,
			files []measure.File) (*measure.Reference, []measure.Diagnostic, error) {
			var report measure.Report
			truth, err := readInspected(ctx, format, options, values, inspect(asked), files, &report)
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
			// Files of truths and runs have the same rules.
			run, err := readInspected(ctx, format, measure.Options{}, ofRun(asked), inspect(asked), files, &report)
			if err != nil || report.Failed() {
				return report.Diagnostics(), err
			}
			counter := steps.Of(ctx)
			if doubt := run.joinedLabels(counter); doubt != "" {
				report.Warnf(files[0].Name, 0, "%s", doubt)
			}
			return report.Diagnostics(), counter.Err()
		},
	}
}

func (t *Gold) withMeasures(
	asked []measure.Measure, evaluate evaluateFiles, stepsOf func([]measure.Measure, *Gold) int,
) *measure.Reference {
	return &measure.Reference{
		Steps: func(asked []measure.Measure) int {
			return int(t.Bytes()) + t.Len() + stepsOf(asked, t) // a file has about as many bytes as the truth in memory
		},
		IDs:    t.Items(),
		Extent: t.extent(),
		Bytes:  t.Bytes(),
		Shape:  measure.Shape{Examples: t.Len(), Labels: len(t.Labels())},
		Known: func(ids, labels bool) *measure.Known {
			labels = labels && slices.Contains([]Values{Labels, Sets, Classes}, t.values)
			if !ids && !labels {
				return nil
			}
			return &measure.Known{Compare: t.Known(ids, labels).compare}
		},
		Evaluate: func(ctx context.Context, files []measure.File) (*measure.Scores, error) {
			return measure.Evaluate(func(report *measure.Report) (measure.Scores, error) {
				return evaluate(ctx, asked, t, files, report)
			})
		},
		Contents: t.contents,
	}
}

// extent describes the size of the truth.
func (t *Gold) extent() string {
	text := plural.Count(t.Len(), "example")
	switch {
	case t.values == Sets:
		text += fmt.Sprintf(" with %s of %d", plural.Count(t.Assigned(), "label"), len(t.labels.names))
	case t.values == References:
		text += fmt.Sprintf(" with %s", plural.Count(t.TextBytes(), "byte"))
	case t.values == Clusters:
		text += fmt.Sprintf(" in %s", plural.Count(t.Clusters(), "cluster"))
	case len(t.labels.names) > 0:
		text += fmt.Sprintf(" with %s", plural.Count(len(t.labels.names), "label"))
	}
	return text
}

// Assigned returns the number of labels of all examples together, for Sets.
func (t *Gold) Assigned() int { return max(0, len(t.sets.codes)-t.Len()) }

// TextBytes returns the number of bytes of all References together.
func (t *Gold) TextBytes() int { return len(t.texts.all) }

// compare reports the differences between a run and the known ids and labels, and no other faults of the run. ValidateRun reports these.
func (t *Gold) compare(ctx context.Context, files ...measure.File) ([]measure.Diagnostic, error) {
	var report, ofFiles measure.Report
	err := t.newRun().read(ctx, files, &report, &ofFiles)
	return report.Diagnostics(), err
}

// KnownItems returns the ids of items in the form that evaluators share. It returns nil if there are no items.
func KnownItems(items *Gold) *measure.Known {
	if items.Len() == 0 {
		return nil
	}
	return &measure.Known{Compare: items.compare, Bytes: items.Bytes(), IDs: items.Items()}
}
