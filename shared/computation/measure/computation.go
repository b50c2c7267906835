package measure

import (
	"context"

	"assay/shared/computation/measure/steps"
)

// Computation computes the measures of one kind of evaluator. Its functions return errors about reading a file or about the
// context; faults of a file are Diagnostics.
type Computation struct {
	// Version identifies the definitions of the measures. Each evaluation records it. Equal versions compute equal values.
	Version string
	// ReadTruth reads a ground truth for the measures, which belong to the kind. The Reference is nil if one of the diagnostics is an
	// error. Options for a format without ids are an error.
	ReadTruth func(context.Context, Format, Options, []Measure, []File) (*Reference, []Diagnostic, error)
	// ValidateRun reports the faults of a run that can be found without the ground truth. Options do not matter for these faults.
	ValidateRun func(context.Context, Format, []Measure, []File) ([]Diagnostic, error)
}

// Reference is a ground truth (qrels, labels). It does not change, and any number of runs may be evaluated against it at the same time.
type Reference struct {
	// Evaluate measures one run. If one of the diagnostics is an error, the result is empty.
	Evaluate func(context.Context, []File) (*Scores, error)
	// Known returns the ids of the truth and the set of its labels, each only if asked for. It returns nil if the truth has neither.
	Known func(ids, labels bool) *Known
	// Steps estimates the steps of evaluating one run by the measures, if the run is as large as the truth.
	Steps func([]Measure) int
	// Contents describes the truth to its organizers. It is incomplete if the counter has an error.
	Contents func(*steps.Counter) Contents
	// IDs are the ids that runs are joined by. It is nil for formats without ids.
	IDs    *IDs
	Extent string // the size of the truth in words, such as: 3 examples with 2 labels
	Bytes  int64  // the memory of the truth, estimated
	Shape  Shape  // set if examples have labels or numbers
	// Topics is the number of topics or documents that a Result holds values of. It is 0 if there are too many. Values by example do not
	// count, because MaxExamples keeps them few.
	Topics int
}

// Scores is the result of one run.
type Scores struct {
	Result      Result
	Diagnostics []Diagnostic
	Kept        Kept // the run, to validate it later; nil if it was not kept
	// Resample returns the value of the first measure over a sample of the examples, which are indices below Examples. It returns nil if
	// the measure is not defined for the sample. The value is invalid if the counter has an error.
	//
	// Resample is nil if the kind cannot resample, for more than MaxExamples examples, and for a run with more than MaxTopicValues scores.
	// It may be nil if the Result has values by example.
	Resample func(counter *steps.Counter, examples []int) *float64
	Examples int
	// EveryTopic returns the values of all topics, without the limits of Result.PerTopic. It is nil for kinds without topics.
	EveryTopic func(context.Context) (map[string]map[string]float64, error)
}

// Evaluate calls read, which reads and measures a run, and adds the diagnostics of the report to its evaluation. If the report has an
// error, Evaluate returns the diagnostics only.
func Evaluate(read func(*Report) (Scores, error)) (*Scores, error) {
	var report Report
	e, err := read(&report)
	if err != nil {
		return nil, err
	}
	if report.Failed() {
		e = Scores{}
	} else {
		e.Result.Warnings = report.Diagnostics()
	}
	e.Diagnostics = report.Diagnostics()
	return &e, nil
}

// Kept is a run that was read and compared with a truth.
type Kept interface {
	// WithoutTruth returns the diagnostics that ValidateRun would return. ok is false if reading the run depended on the truth.
	WithoutTruth() (found []Diagnostic, ok bool)
}

// Known is the public part of a dataset: the ids or labels of a truth that participants know, or the ids of the inputs.
type Known struct {
	// Compare reports the unknown ids and labels of a run, and the ids that the run lacks. Its diagnostics depend on nothing else.
	Compare func(context.Context, ...File) ([]Diagnostic, error)
	// CompareTexts reports only faults that the texts of inputs show. It is nil for kinds whose runs do not refer to texts.
	CompareTexts func(context.Context, ...File) ([]Diagnostic, error)
	// CompareKept compares a run that the same kind of evaluator kept. It is nil for kinds that keep no runs.
	CompareKept func(context.Context, Kept) ([]Diagnostic, error)
	// IDs are the ids of the inputs. It is nil for parts of a truth, and for inputs without ids.
	IDs   *IDs
	Bytes int64 // memory in addition to the truth's
}
