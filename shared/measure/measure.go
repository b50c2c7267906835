// Package measure has the code that evaluators share: the names of measures and their grammar, diagnostics, and the
// result of an evaluation. The evaluators themselves are its subpackages; none of them does I/O of its own or
// knows where files come from.
package measure

import (
	"fmt"
	"io"
	"math"
	"slices"

	"assay/shared/measure/steps"
	"assay/shared/plural"
)

// File is a file that an evaluator reads once, from its start to its end.
type File struct {
	Name    string // stands in diagnostics
	Content io.Reader
}

// Severity says whether a Diagnostic stops an evaluation.
type Severity string

// An Error means that the file is refused; a Warning that it was read, but something in it is probably not meant.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Diagnostic is one thing that is wrong with a file, worded so that its author can fix it.
type Diagnostic struct {
	Severity Severity `json:"severity" enum:"error,warning" doc:"error: the file is refused; warning: it was read all the same"`
	File     string   `json:"file,omitempty" doc:"name of the file"`
	Line     int      `json:"line,omitempty" minimum:"0" doc:"line in the file, counted from 1; absent when the whole file is meant"`
	Message  string   `json:"message" doc:"what is wrong and what was expected"`
	// SafeWhileBlinded marks what was found without the ground truth, or from the public part of it alone, so that the owner of a
	// blinded run may read it. Code that read nothing more sets it, never an evaluator. It is stored, and no answer shows it.
	SafeWhileBlinded bool `json:"safeWhileBlinded,omitempty" hidden:"true"`
}

// HasErrors reports whether one of the diagnostics is an Error.
func HasErrors(all []Diagnostic) bool {
	return slices.ContainsFunc(all, func(d Diagnostic) bool { return d.Severity == Error })
}

// WithoutTruth returns the diagnostics of a run that was compared with a truth, with those that may be shown while it is
// blinded, which come first, marked SafeWhileBlinded. All that the truth had a part in, be it a name, a count or that something is wrong at
// all, stays unmarked: found may depend on the truth in any way.
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

// SafeDiagnostics returns those of the diagnostics that may be shown while a run is blinded.
func SafeDiagnostics(all []Diagnostic) []Diagnostic {
	return slices.DeleteFunc(slices.Clone(all), func(d Diagnostic) bool { return !d.SafeWhileBlinded })
}

// MaxReported bounds the magnitude of values that an organizer's evaluator reports: the fourth powers of as many values as a report has
// room for have a finite sum, so that means, variances and correlations are finite.
const MaxReported = 1e60

// MaxExamples is the most examples that a Result has values of one by one.
const MaxExamples = 10_000

// MaxTopicValues is the most values by topic that a Result has, of all topics and measures together. They take some 50 MB.
const MaxTopicValues = 1_000_000

// PerTopicReason is the name under which Reasons say why there are no values by topic or example, though measures have some.
const PerTopicReason = "perTopic"

// MaxDiagnostics is how many diagnostics one run keeps.
const MaxDiagnostics = 100

// Result is the outcome of one evaluator for one run.
type Result struct {
	// Measures has every measure asked for; nil when it is not defined for the data, and then Reasons says why.
	Measures map[string]*float64
	Reasons  map[string]string
	// Signatures say of measures that have one how they were computed: as the program that is the reference prints it, or positive:LABEL.
	Signatures map[string]string
	// PerTopic has the values of each topic of the truth or, of measures that are means over examples, of each example, by its id; nil
	// where there are none, or more than MaxExamples or MaxTopicValues.
	PerTopic map[string]map[string]float64
	// Classes has, where examples have labels, what was predicted for each label; nil where there are more than MaxClasses of them.
	Classes *Classes
	// Warnings are diagnostics that did not stop the evaluation.
	Warnings []Diagnostic
	// RunTag is the run's name in TREC's format, if the evaluation has read it.
	RunTag string
}

// MaxClasses is the most labels that Classes has.
const MaxClasses = 50

// Classes compares predicted with true labels: those that occur in the truth or in the run, in the order of numbers where all of them
// are numbers, and else of their bytes.
type Classes struct {
	Labels []Class `json:"labels" doc:"those that occur in the truth or in the run"`
	Matrix [][]int `json:"matrix" doc:"the confusion matrix: examples that truly have the label of the row, and are predicted with that of the column"`
}

// Class is how well one label is predicted.
type Class struct {
	Label     string  `json:"label"`
	Precision float64 `json:"precision" doc:"share of its predictions that are right; 0 without a prediction"`
	Recall    float64 `json:"recall" doc:"share of its examples that are found; 0 without an example"`
	F1        float64 `json:"f1" doc:"harmonic mean of both"`
	Support   int     `json:"support" doc:"examples that truly have it"`
}

// Compute returns the result of measures, each of which has a finite value or the reason why it has none. The result is incomplete if the
// counter, of the steps that the values take, has an error.
func Compute(counter *steps.Counter, measures []Measure, of func(Measure) (value float64, reason string)) Result {
	r := Result{Measures: map[string]*float64{}, Reasons: map[string]string{}}
	for _, m := range measures {
		if counter.Add(1) != nil {
			break
		}
		value, reason := of(m)
		if reason == "" && (math.IsNaN(value) || math.IsInf(value, 0)) {
			reason = "its value is too large for a double-precision number" // and JSON has no infinity
		}
		if reason != "" {
			r.Measures[m.String()], r.Reasons[m.String()] = nil, reason
		} else {
			r.Measures[m.String()] = &value
		}
	}
	return r
}

// AddValues adds the values by example of a measure that is a mean over n examples or, where there are more than MaxExamples, the reason
// why there are none. A measure that is not defined has none, nor one with a value that is not finite.
func (r *Result) AddValues(counter *steps.Counter, measure string, n int, id func(i int) string, value func(i int) float64) {
	switch {
	case r.Measures[measure] == nil:
		return
	case n > MaxExamples:
		r.Reasons[PerTopicReason] = fmt.Sprintf("there are %s, and values by example are kept of up to %d",
			plural.Count(n, "example"), MaxExamples)
		return
	}
	values := make([]float64, n)
	for i := range values {
		if counter.Add(1) != nil {
			return
		}
		values[i] = value(i)
		if math.IsNaN(values[i]) || math.IsInf(values[i], 0) {
			return
		}
	}
	if r.PerTopic == nil {
		r.PerTopic = make(map[string]map[string]float64, n)
	}
	for i, x := range values {
		if counter.Add(perMapEntry) != nil {
			return
		}
		of := r.PerTopic[id(i)]
		if of == nil {
			of = map[string]float64{}
			r.PerTopic[id(i)] = of
		}
		of[measure] = x
	}
}

// perMapEntry is how many steps an entry of a map takes.
const perMapEntry = 20

// Origin is the source of the ids, labels and topics that a run is compared with.
type Origin string

// A run must match the ids of the truth; ids of the inputs need no counterpart in the run.
const (
	OfTruth  Origin = "the truth"
	OfInputs Origin = "the inputs of the dataset"
)

// Report gathers the diagnostics of one evaluation, in the order in which they are found and at most MaxDiagnostics
// of them. A reader stops when it is Full. The zero value is ready for use; it is not safe for concurrent use.
type Report struct {
	// Text is how many bytes of the files were read, unpacked.
	Text int64

	list   []Diagnostic
	errors int
}

// Errorf adds an error. Line 0 means the whole file.
func (r *Report) Errorf(file string, line int, format string, args ...any) {
	r.Add(Diagnostic{Severity: Error, File: file, Line: line, Message: fmt.Sprintf(format, args...)})
}

// Warnf adds a warning as Errorf adds an error.
func (r *Report) Warnf(file string, line int, format string, args ...any) {
	r.Add(Diagnostic{Severity: Warning, File: file, Line: line, Message: fmt.Sprintf(format, args...)})
}

// Add adds a diagnostic. When the report is full an error still counts for Failed, so that no number of warnings
// lets a bad file pass, and takes the place of the last warning.
func (r *Report) Add(d Diagnostic) {
	if d.Severity == Error {
		r.errors++
	}
	if len(r.list) < MaxDiagnostics {
		r.list = append(r.list, d)
		return
	}
	if d.Severity != Error {
		return
	}
	for i := len(r.list) - 1; i >= 0; i-- {
		if r.list[i].Severity == Warning {
			r.list = append(append(r.list[:i], r.list[i+1:]...), d)
			return
		}
	}
}

// Clone returns a report of the same, to which more can be added without changing this one.
func (r *Report) Clone() *Report {
	return &Report{Text: r.Text, list: slices.Clone(r.list), errors: r.errors}
}

// Full says that there is no room for another error, so that reading on would report nothing new.
func (r *Report) Full() bool { return r.errors >= MaxDiagnostics }

// Failed says whether there is an error, in the list or beyond its end.
func (r *Report) Failed() bool { return r.errors > 0 }

// Diagnostics returns what was gathered; nil when there is nothing.
func (r *Report) Diagnostics() []Diagnostic { return r.list }

// Ratio is a/b; 0 where b is 0.
func Ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// Sum is Neumaier's compensated sum: its error does not grow with the number of terms, so that means that are equal come
// out equal in whatever order and parts their terms come. (A. Neumaier, Rundungsfehleranalyse einiger Verfahren zur
// Summation endlicher Summen, ZAMM 54, 1974.)
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

// Total is the sum so far.
func (s *Sum) Total() float64 { return s.value + s.lost }
