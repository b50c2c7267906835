// Package evaluator is the one way in for all who want runs evaluated: it picks the evaluator by its kind, checks that
// measures and format go with it, and opens files one after another. A new kind is declared in measure.Evaluators, and its
// package is a line in the table here.
package evaluator

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"assay/shared/corpus"
	"assay/shared/measure"
	"assay/shared/problem"
)

// Settings are the kind, formats and measures of an evaluation.
type Settings struct {
	Kind     measure.Kind
	Measures []string
	// PrimaryMeasure is one of Measures; empty is none.
	PrimaryMeasure string
	Format         measure.Format
}

// File is a file by its name in diagnostics and the way to its content, which may be packed with gzip.
type File = corpus.File

// Truth is a ground truth (qrels, labels). It does not change, and any number of runs may be evaluated against it at
// the same time.
type Truth struct {
	of       *measure.Truth
	settings Settings
	measures []measure.Measure
}

// Bytes is about how much memory the truth takes, for those who keep some: its files say little, for they may be packed.
func (t *Truth) Bytes() int64 { return t.of.Bytes }

// Steps is about how many steps the evaluation of one run takes, if the run has as much as the truth.
func (t *Truth) Steps() int { return t.of.Steps(t.measures) }

// Topics is how many topics there will be values for; 0 when the evaluator has none per topic.
func (t *Truth) Topics() int { return t.of.Topics }

// Shape is how much there is to find out about the truth; the zero Shape when its examples have no labels or numbers.
func (t *Truth) Shape() measure.Shape { return t.of.Shape }

// ReadTruth reads the truth of a dataset. If one of the diagnostics is an error, there is no Truth. The error is about
// opening or reading a file, about the context, or about settings that do not pass Check.
func ReadTruth(ctx context.Context, s Settings, files []File) (*Truth, []measure.Diagnostic, error) {
	measures, problems := s.parse()
	if len(problems) > 0 {
		return nil, nil, fmt.Errorf("evaluator settings: %v", problems)
	}
	contents, done := Contents(files)
	defer done()
	truth, diagnostics, err := computations[s.Kind].ReadTruth(ctx, s.Format, measures, contents)
	if truth == nil {
		return nil, diagnostics, err
	}
	return &Truth{truth, s, measures}, diagnostics, err
}

// Evaluation is that of a run, which can be validated.
type Evaluation struct {
	*measure.Evaluation
	settings Settings
}

// Read measures one run. If one of the diagnostics is an error, the result is empty. The error is about opening or reading a file, or about
// the context.
func (t *Truth) Read(ctx context.Context, files []File) (*Evaluation, error) {
	contents, done := Contents(files)
	defer done()
	e, err := t.of.Evaluate(ctx, contents)
	return &Evaluation{e, t.settings}, err
}

// Validate is ValidateRun of the run, with the same outcome. It reads the files again where that could be another one otherwise.
func (e *Evaluation) Validate(ctx context.Context, files []File, known ...*Known) ([]measure.Diagnostic, error) {
	if e.Kept != nil {
		if found, ok := e.Kept.WithoutTruth(); ok {
			return withKnown(found, known, func(k *Known) ([]measure.Diagnostic, error) { return k.of.CompareKept(ctx, e.Kept) })
		}
	}
	return ValidateRun(ctx, e.settings, files, known...)
}

// ValidateRun reports the errors in the files of a run that can be found without the truth, or with the known part of it,
// which may be nil. Settings without measures ask of scores no more than all measures do. The error is as that of ReadTruth.
func ValidateRun(ctx context.Context, s Settings, files []File, known ...*Known) ([]measure.Diagnostic, error) {
	measures, problems := s.parseMeasures()
	if problems = append(problems, CheckFormat(s.Kind, s.Format)...); len(problems) > 0 {
		return nil, fmt.Errorf("evaluator settings: %v", problems)
	}
	contents, done := Contents(files)
	defer done()
	all, err := computations[s.Kind].ValidateRun(ctx, s.Format, measures, contents)
	if err != nil {
		return all, err
	}
	return withKnown(all, known, func(k *Known) ([]measure.Diagnostic, error) { return k.Compare(ctx, files) })
}

// withKnown adds to the diagnostics what else is found by what is known of the truth, as far as there is something.
func withKnown(all []measure.Diagnostic, known []*Known, compare func(*Known) ([]measure.Diagnostic, error)) ([]measure.Diagnostic, error) {
	for _, k := range known {
		if k == nil {
			continue
		}
		found, err := compare(k)
		if err != nil {
			return all, err
		}
		for _, d := range found {
			if !slices.Contains(all, d) {
				all = append(all, d)
			}
		}
	}
	return all, nil
}

// Version names what an evaluator of that kind computes, to be recorded with each evaluation: as long as it is the
// same, so is every value. It is empty for a kind that is not one of measure.Kinds.
func Version(kind measure.Kind) string { return computations[kind].Version }

// Contents opens each file when it is first read, so that no connection waits for its turn; done closes them together.
func Contents(files []File) (list []measure.File, done func()) {
	var readers []*content
	for _, f := range files {
		c := &content{open: f.Open}
		readers = append(readers, c)
		list = append(list, measure.File{Name: f.Name, Content: c})
	}
	return list, func() {
		for _, c := range readers {
			if c.opened != nil {
				_ = c.opened.Close() // what was read is complete, or its own error has been returned
			}
		}
	}
}

type content struct {
	open   func() (io.ReadCloser, error)
	opened io.ReadCloser
}

func (c *content) Read(p []byte) (int, error) {
	if c.opened == nil {
		opened, err := c.open()
		if err != nil {
			return 0, err
		}
		c.opened = opened
	}
	return c.opened.Read(p)
}

// Check reports the errors in the settings; none when ReadTruth can use them. Pointers are those of a dataset.
func Check(s Settings) problem.Fields {
	_, problems := s.parse()
	return problems
}

// parse returns the measures of settings that pass Check, or what is wrong.
func (s Settings) parse() (measures []measure.Measure, problems problem.Fields) {
	problems = CheckFormat(s.Kind, s.Format)
	if measure.EvaluatorOf(s.Kind) == nil {
		return nil, problems // which measures there are depends on the kind
	}
	problems.AddIf(len(s.Measures) == 0, "/evaluator/measures", "needs at least one measure")
	measures, ofMeasures := s.parseMeasures()
	problems = append(problems, ofMeasures...)
	if s.PrimaryMeasure != "" && !slices.Contains(s.Measures, s.PrimaryMeasure) {
		m, err := measure.Parse(s.Kind, s.PrimaryMeasure)
		known := slices.ContainsFunc(measures, func(other measure.Measure) bool { return other.String() == m.String() })
		problems.AddIf(err != nil || !known, "/evaluator/primaryMeasure", "must be one of measures: give one, or "+problem.Unset)
	}
	return measures, problems
}

// parseMeasures returns the measures, or what is wrong with them.
func (s Settings) parseMeasures() (measures []measure.Measure, problems problem.Fields) {
	first := map[string]string{} // canonical form: as first given
	for i, text := range s.Measures {
		pointer := fmt.Sprintf("/evaluator/measures/%d", i)
		m, err := measure.Parse(s.Kind, text)
		if err != nil {
			problems.Add(pointer, "%v", err)
		} else if earlier, twice := first[m.String()]; twice {
			problems.Add(pointer, "%s is the same measure as %s; name it once", text, earlier)
		} else if fault := m.FormatFault(s.Format.Kind); fault != "" {
			problems.Add(pointer, "%s", fault)
		} else {
			first[m.String()] = text
			measures = append(measures, m)
		}
	}
	return measures, problems
}

// noSeparator reports whether a character cannot be in a separator of labels.
func noSeparator(r rune) bool { return r == '"' || r != '\t' && unicode.IsControl(r) }

// maxSeparator is how many bytes the separator of labels has at most.
const maxSeparator = 8

// CheckFormat reports the errors in the format of runs for that kind of evaluator. Pointers are those of a dataset.
func CheckFormat(kind measure.Kind, f measure.Format) (problems problem.Fields) {
	e := measure.EvaluatorOf(kind)
	if e == nil {
		return []problem.Field{{Pointer: "/evaluator/kind", Detail: fmt.Sprintf("%q is not built in; use one of %v", kind, measure.Kinds())}}
	}
	if !slices.Contains(e.Formats, f.Kind) {
		others := slices.DeleteFunc(measure.Kinds(), func(kind string) bool {
			return !slices.Contains(measure.EvaluatorOf(measure.Kind(kind)).Formats, f.Kind)
		})
		but := ""
		if len(others) > 0 {
			but = ", but with " + strings.Join(others, ", ")
		}
		return []problem.Field{{Pointer: "/runFormat/kind", Detail: fmt.Sprintf("%q does not go with %s%s; use %s", f.Kind, kind, but,
			strings.Join(e.Formats, " or "))}}
	}
	for _, field := range []struct{ pointer, name string }{{"/runFormat/idField", f.IDField}, {"/runFormat/valueField", f.ValueField}} {
		problems.AddIf(!measure.HasFields(f.Kind) && field.name != "", field.pointer, "the fields of %s have no names: "+problem.Unset, f.Kind)
		problems.AddIf(measure.HasFields(f.Kind) && field.name == "", field.pointer, "is needed for %s", f.Kind)
	}
	switch {
	case f.Separator == "":
	case kind != measure.Multilabel || f.Kind != measure.CSV:
		problems.Add("/runFormat/separator", "goes with csv of multilabel alone: "+problem.Unset)
	case len(f.Separator) > maxSeparator || strings.ContainsFunc(f.Separator, noSeparator):
		problems.Add("/runFormat/separator", "must have at most %d bytes, and no quote, line end or other control character", maxSeparator)
	}
	problems.AddIf(f.IDField != "" && f.IDField == f.ValueField, "/runFormat/valueField", "must be another field than idField")
	return problems
}
