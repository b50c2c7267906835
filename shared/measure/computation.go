package measure

import (
	"context"

	"assay/shared/measure/steps"
)

// Computation computes the measures of one kind of evaluator. The errors of its functions are about reading a file or about the
// context; what is wrong with a file is a Diagnostic.
type Computation struct {
	// Version names what is computed, to be recorded with each evaluation: as long as it is the same, so is every value.
	Version string
	// ReadTruth reads a ground truth for the measures, which are of the kind. There is none if one of the diagnostics is an error.
	ReadTruth func(context.Context, Format, []Measure, []File) (*Truth, []Diagnostic, error)
	// ValidateRun reports what is wrong with the files of a run for the measures and can be found without the ground truth.
	ValidateRun func(context.Context, Format, []Measure, []File) ([]Diagnostic, error)
}

// Truth is a ground truth (qrels, labels). It does not change, and any number of runs may be evaluated against it at the same time.
type Truth struct {
	// Evaluate measures one run. If one of the diagnostics is an error, the result is empty.
	Evaluate func(context.Context, []File) (*Evaluation, error)
	// Known returns the ids of the truth and the set of its labels, as far as they are asked for and there; nil when there is nothing.
	Known func(ids, labels bool) *Known
	// Steps returns about how many steps the evaluation of one run by the measures takes, if the run has as much as the truth.
	Steps  func([]Measure) int
	Extent string // what the truth has, such as: 3 examples with 2 labels
	Bytes  int64  // about how much memory it takes
	Shape  Shape  // where examples have labels or numbers
	Topics int    // how many topics there will be values for; 0 when there are none or too many, or values by example, of which there are few
}

// Evaluation is the result of one run, with the run as far as it was kept to be validated.
type Evaluation struct {
	Result      Result
	Diagnostics []Diagnostic
	Kept        Kept // nil: nothing is kept
	// Resample returns the value of the first measure over a sample of the examples, by their indices below Examples; nil where it is not
	// defined. There is none where the kind cannot do that, for more than MaxExamples, or for a run of more than MaxTopicValues scores, and
	// need be none where the Result has values by example. The value is of no use if the counter has an error.
	Resample func(counter *steps.Counter, examples []int) *float64
	Examples int
	// EveryTopic returns the values by topic, however many they are; nil where the kind has no topics.
	EveryTopic func(context.Context) (map[string]map[string]float64, error)
}

// Evaluate returns the evaluation of the run that read reads and measures, which is not used if there are errors in the report.
func Evaluate(read func(*Report) (Evaluation, error)) (*Evaluation, error) {
	var report Report
	e, err := read(&report)
	if err != nil {
		return nil, err
	}
	if report.Failed() {
		e = Evaluation{}
	} else {
		e.Result.Warnings = report.Diagnostics()
	}
	e.Diagnostics = report.Diagnostics()
	return &e, nil
}

// Kept is a run that was read and compared with a truth.
type Kept interface {
	// WithoutTruth returns what ValidateRun would. ok is false where the truth had a part in how the run was read.
	WithoutTruth() (found []Diagnostic, ok bool)
}

// Known has what participants know of a truth or have as inputs.
type Known struct {
	// Compare reports ids and labels of a run that are unknown, and ids that it lacks. Its diagnostics depend on nothing else.
	Compare func(context.Context, ...File) ([]Diagnostic, error)
	// CompareKept is Compare of a run that the same kind of evaluator kept; nil where it keeps none.
	CompareKept func(context.Context, Kept) ([]Diagnostic, error)
	Bytes       int64 // how much memory it takes in addition to the truth
}
