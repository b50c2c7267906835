// Package measure holds the code that evaluators share: the names of measures and their grammar, diagnostics, and the
// result of an evaluation. Each evaluator is a subpackage. Evaluators read files through io.Reader and do no other I/O.
package measure

import (
	"fmt"
	"io"
	"math"
	"slices"

	"assay/shared/computation/measure/bounds"
	"assay/shared/computation/measure/steps"
	"assay/shared/language/plural"
)

// File is a file that an evaluator reads once, from its start to its end.
type File struct {
	Name    string // for diagnostics
	Content io.Reader
}

// Severity says whether a Diagnostic stops an evaluation.
type Severity string

// An Error refuses the file. A Warning marks a probable mistake in a file that was read.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Diagnostic is one fault of a file, worded so that the file's author can fix it.
type Diagnostic struct {
	Severity Severity `json:"severity" enum:"error,warning" doc:"error: the file is refused; warning: the file was read nevertheless"`
	File     string   `json:"file,omitempty" doc:"name of the file"`
	Line     int      `json:"line,omitempty" minimum:"0" doc:"line in the file, counted from 1; absent if the diagnostic concerns the whole file"`
	Lines    string   `json:"lines,omitempty" doc:"all lines with this fault, if more than one has it; line is the first of them" example:"3, 7, 9 and 41 more up to 812"`
	Count    int      `json:"count,omitempty" minimum:"2" doc:"number of lines, or of places, with this fault; absent for one. The sum over all diagnostics is the number of faults"`
	Message  string   `json:"message" doc:"what is wrong and what was expected"`
	// SafeWhileBlinded marks diagnostics that depend on nothing but the run and the public part of the ground truth, so that the owner of
	// a blinded run may read them. Only code that read nothing more sets it, never an evaluator. It is stored, but not part of answers.
	SafeWhileBlinded bool `json:"safeWhileBlinded,omitempty" hidden:"true"`
}

// FirstError returns the first diagnostic that is an Error, or nil.
func FirstError(all []Diagnostic) *Diagnostic {
	i := slices.IndexFunc(all, func(d Diagnostic) bool { return d.Severity == Error })
	if i < 0 {
		return nil
	}
	return &all[i]
}

// HasErrors reports whether one of the diagnostics is an Error.
func HasErrors(all []Diagnostic) bool {
	return FirstError(all) != nil
}

// WithoutTruth returns the public diagnostics, marked SafeWhileBlinded, followed by the other diagnostics that were found. Public
// diagnostics were made without the truth. Found diagnostics may depend on the truth in any way: by a name, by a count, or because they
// exist at all. So they stay unmarked.
func WithoutTruth(public, found []Diagnostic) []Diagnostic {
	all := make([]Diagnostic, 0, len(public)+len(found))
	for _, d := range public {
		d.SafeWhileBlinded = true
		all = append(all, d)
	}
	for _, d := range found {
		d.SafeWhileBlinded = false
		if !slices.Contains(public, d) {
			all = append(all, d)
		}
	}
	return all
}

// SafeDiagnostics returns the diagnostics that may be shown while a run is blinded.
func SafeDiagnostics(all []Diagnostic) []Diagnostic {
	return slices.DeleteFunc(slices.Clone(all), func(d Diagnostic) bool { return !d.SafeWhileBlinded })
}

// MaxReported bounds the magnitude of values that an organizer's evaluator reports. The fourth powers of all values of a report have a
// finite sum, so means, variances and correlations are finite.
const MaxReported = 1e60

// MaxExamples is the largest number of examples for which a Result holds values by example.
const MaxExamples = bounds.Examples

// MaxTopicValues is the largest number of values by topic in a Result, over all topics and measures. They take some 50 MB.
const MaxTopicValues = bounds.TopicValues

// PerTopicReason is the key of Reasons that says why values by topic or example are missing, although measures have such values.
const PerTopicReason = "perTopic"

// MaxDiagnostics is the largest number of diagnostics of one run. A diagnostic can stand for faults of many lines.
const MaxDiagnostics = bounds.Diagnostics

// Result is the outcome of one evaluator for one run.
type Result struct {
	// Measures holds every measure asked for. A value is nil if the measure is not defined for the data; Reasons says why.
	Measures map[string]*float64
	Reasons  map[string]string
	// Signatures say how measures were computed: as the reference program prints it, or positive:LABEL. Some measures have none.
	Signatures map[string]string
	// PerTopic holds values by id of a topic of the truth or, for measures that are means over examples, by id of an example. It is nil if
	// no measure has such values, or if they exceed MaxExamples or MaxTopicValues.
	PerTopic map[string]map[string]float64
	// Classes compares the labels of examples. It is nil if examples have no labels, or if there are more than MaxClasses labels.
	Classes *Classes
	// Warnings are diagnostics that did not stop the evaluation.
	Warnings []Diagnostic
	// RunTag is the run's name in TREC's format, if the evaluation has read it.
	RunTag string
}

// MaxClasses is the largest number of labels in Classes.
const MaxClasses = bounds.Classes

// Classes compares the predicted labels with the true ones. Labels are in numeric order if all are numbers, otherwise in the order of
// their bytes.
type Classes struct {
	Labels []Class `json:"labels" doc:"labels that occur in the truth or in the run"`
	Matrix [][]int `json:"matrix" doc:"the confusion matrix: rows are true labels, columns are predicted labels, cells count examples"`
}

// Class is how well one label is predicted.
type Class struct {
	Label     string  `json:"label"`
	Precision float64 `json:"precision" doc:"share of the predictions of this label that are right; 0 without predictions"`
	Recall    float64 `json:"recall" doc:"share of the examples of this label that are predicted with it; 0 without examples"`
	F1        float64 `json:"f1" doc:"harmonic mean of precision and recall"`
	Support   int     `json:"support" doc:"number of examples whose true label this is"`
}

// Compute returns the result of the measures. Each measure gets a finite value, or the reason why it has no value. The result is
// incomplete if the counter has an error.
func Compute(counter *steps.Counter, measures []Measure, of func(Measure) (value float64, reason string)) Result {
	r := Result{Measures: map[string]*float64{}, Reasons: map[string]string{}}
	for _, m := range measures {
		if counter.Add(1) != nil {
			break
		}
		value, reason := of(m)
		if reason == "" && !isFinite(value) {
			reason = "its value is too large for a double-precision number" // and JSON has no infinity
		}
		if reason != "" {
			r.Measures[m.String()] = nil
			r.Reasons[m.String()] = reason
		} else {
			r.Measures[m.String()] = &value
		}
	}
	return r
}

// AddValues adds the values by example of a measure that is a mean over n examples. For more than MaxExamples it adds the reason why
// they are missing instead. It adds nothing if the measure is not defined, or if one of the values is not finite.
func (r *Result) AddValues(counter *steps.Counter, measure string, n int, id func(i int) string, value func(i int) float64) {
	switch {
	case r.Measures[measure] == nil:
		return
	case n > MaxExamples:
		r.Reasons[PerTopicReason] = fmt.Sprintf("there are %s, and values by example are kept of up to %d",
			plural.Count(n, "example"), MaxExamples)
		return
	}
	values, ok := finiteValues(counter, n, value)
	if !ok {
		return
	}
	if r.PerTopic == nil {
		r.PerTopic = make(map[string]map[string]float64, n)
	}
	for i, x := range values {
		if counter.Add(perMapEntry) != nil {
			return
		}
		example := id(i)
		if r.PerTopic[example] == nil {
			r.PerTopic[example] = map[string]float64{}
		}
		r.PerTopic[example][measure] = x
	}
}

// finiteValues returns n values. ok is false if one of them is not finite, or if the counter has an error.
func finiteValues(counter *steps.Counter, n int, value func(i int) float64) (values []float64, ok bool) {
	values = make([]float64, n)
	for i := range values {
		values[i] = value(i)
		if counter.Add(1) != nil || !isFinite(values[i]) {
			return nil, false
		}
	}
	return values, true
}

func isFinite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// perMapEntry is the number of steps that an entry of a map takes.
const perMapEntry = 20

// Origin is the source of the ids, labels and topics that a run is compared with.
type Origin string

// A run must match the ids of the truth; ids of the inputs need no counterpart in the run.
const (
	OfTruth  Origin = "the truth"
	OfInputs Origin = "the inputs of the dataset"
)

// Ratio returns a/b, or 0 if b is 0.
func Ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// Sum is Neumaier's compensated sum. Its error does not grow with the number of terms, so equal means come out equal in whatever order
// their terms are added. (A. Neumaier, Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen, ZAMM 54, 1974.)
type Sum struct{ value, lost float64 }

// Add adds x.
func (s *Sum) Add(x float64) {
	t := s.value + x
	if math.Abs(s.value) >= math.Abs(x) {
		s.lost += (s.value - t) + x
	} else {
		s.lost += (x - t) + s.value
	}
	s.value = t
}

// Total returns the sum so far.
func (s *Sum) Total() float64 { return s.value + s.lost }
