// Package scoring evaluates runs with the built-in evaluators. It chooses the evaluator by its kind, checks that measures and format
// fit the kind, and opens files one after another. A new kind needs a declaration in measure.Evaluators and an entry in computations.
//
// # Halves
//
// The ids of a truth can be assigned to a public and a private half. A run is then read three times: as a whole for its diagnostics, and
// for each half for its measures. So diagnostics do not tell the half of an id.
package scoring

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"assay/shared/computation/corpus"
	"assay/shared/computation/measure"
	"assay/shared/computation/measure/bounds"
	"assay/shared/language/lists"
	"assay/shared/language/problem"
)

// Settings are the kind, formats and measures of an evaluation.
type Settings struct {
	Kind     measure.Kind
	Measures []string
	Format   measure.Format
	// HalfField or Halves assign each id of the truth to a measure.Half; only one of them is set. Then each measure has two values, such as
	// public:Accuracy and private:Accuracy, and no value over all ids.
	//
	// HalfField is the field of the truth with the half of an id. Halves are files of their own: in formats with named fields they have the
	// field of the id and the field half, otherwise lines with a topic and its half.
	HalfField string
	Halves    []File
	ExtraIDs  measure.ExtraIDs
}

// File is a file to read. Its content may be packed with gzip.
type File = corpus.File

// Evaluator is a ground truth (qrels, labels) with the settings of its evaluator. It does not change, and any number of runs may be
// evaluated against it at the same time.
type Evaluator struct {
	truth    *measure.Reference
	settings Settings
	measures []measure.Measure
	halves   []half      // the halves of the truth, in the order of measure.MeasuredHalves; nil if it has none
	assigned *assignment // nil without halves
}

// Bytes estimates the memory that the truth takes. Caches use it, because the files may be packed.
func (e *Evaluator) Bytes() int64 {
	n := e.truth.Bytes + e.assigned.bytes()
	for _, h := range e.halves {
		n += h.truth.Bytes
	}
	return n
}

// Steps estimates the steps of evaluating one run, if the run is as large as the truth.
func (e *Evaluator) Steps() int { return e.steps(e.measures) }

// Topics returns the number of topics that results hold values of, or 0.
func (e *Evaluator) Topics() int { return e.truth.Topics }

// Shape returns the amount of information in the truth. It is zero if the examples have no labels or numbers.
func (e *Evaluator) Shape() measure.Shape { return e.truth.Shape }

// ReadTruth reads the truth of a dataset and returns its Evaluator. If one of the diagnostics is an error, the Evaluator is nil. The error
// is about opening or reading a file, about the context, or about settings that do not pass Check.
func ReadTruth(ctx context.Context, s Settings, files []File) (*Evaluator, []measure.Diagnostic, error) {
	measures, problems := s.parse()
	if len(problems) > 0 {
		return nil, nil, fmt.Errorf("evaluator settings: %v", problems)
	}
	e := &Evaluator{settings: s, measures: measures}
	truth, diagnostics, err := e.read(ctx, measure.Options{ExtraIDs: s.ExtraIDs}, files)
	if truth == nil {
		return nil, diagnostics, err
	}
	e.truth = truth
	if !s.isHalved() {
		return e, diagnostics, nil
	}
	found, err := e.readHalves(ctx, files)
	diagnostics = measure.Grouped(slices.Concat(diagnostics, found))
	if err != nil || measure.HasErrors(found) {
		return nil, diagnostics, err
	}
	return e, diagnostics, nil
}

// read reads the truth, or a part of it.
func (e *Evaluator) read(ctx context.Context, options measure.Options, files []File) (*measure.Reference, []measure.Diagnostic, error) {
	contents, done := Contents(files)
	defer done()
	return computations[e.settings.Kind].ReadTruth(ctx, e.settings.Format, options, e.measures, contents)
}

// ScoredRun is the evaluation of a run. Validate validates the same run.
type ScoredRun struct {
	*measure.Scores
	settings Settings
}

// Read reads and measures one run. If one of the diagnostics is an error, the result is empty. The error is about opening or reading a
// file, or about the context. If the truth has halves, Read opens the files for the whole truth and for each half; EveryTopic is nil then.
func (e *Evaluator) Read(ctx context.Context, files []File) (*ScoredRun, error) {
	scores, err := e.evaluate(ctx, func() ([]measure.File, func()) { return Contents(files) })
	return &ScoredRun{Scores: scores, settings: e.settings}, err
}

// Validate returns the diagnostics that ValidateRun returns for the same run. It reads the files again only if the evaluation did not keep
// the run, or if the truth influenced how the run was read.
func (r *ScoredRun) Validate(ctx context.Context, files []File, known ...*KnownIDs) ([]measure.Diagnostic, error) {
	if r.Kept != nil {
		if found, ok := r.Kept.WithoutTruth(); ok {
			return withKnown(found, known, func(k *KnownIDs) ([]measure.Diagnostic, error) { return k.of.CompareKept(ctx, r.Kept) })
		}
	}
	return ValidateRun(ctx, r.settings, files, known...)
}

// ValidateRun reports the faults of a run that can be found without the truth, or with the known parts of the dataset. Parts that are nil
// are ignored. If the settings have no measures, scores need to satisfy only the rules that all measures share. It returns an error for the
// same reasons as ReadTruth.
func ValidateRun(ctx context.Context, s Settings, files []File, known ...*KnownIDs) ([]measure.Diagnostic, error) {
	measures, problems := s.parseMeasures()
	problems = append(problems, CheckFormat(s.Kind, s.Format)...)
	if len(problems) > 0 {
		return nil, fmt.Errorf("evaluator settings: %v", problems)
	}
	contents, done := Contents(files)
	defer done()
	all, err := computations[s.Kind].ValidateRun(ctx, s.Format, measures, contents)
	if err != nil {
		return all, err
	}
	return withKnown(all, known, func(k *KnownIDs) ([]measure.Diagnostic, error) { return k.Compare(ctx, files) })
}

// withKnown adds the diagnostics of comparing with each known part, without duplicates.
func withKnown(
	all []measure.Diagnostic, known []*KnownIDs, compare func(*KnownIDs) ([]measure.Diagnostic, error),
) ([]measure.Diagnostic, error) {
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

// Version returns the version of the measures of a kind; see measure.Computation. It is empty if the kind is not one of measure.Kinds.
func Version(kind measure.Kind) string { return computations[kind].Version }

// Contents opens each file at its first read, so that no connection is open before its file is needed. Call done to close all files.
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
				_ = c.opened.Close() // reading has returned its own error
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

// Check reports the errors in the settings. Without errors, ReadTruth accepts the settings. Pointers name members of a dataset.
func Check(s Settings) problem.Fields {
	_, problems := s.parse()
	return problems
}

// parse returns the measures of settings that pass Check, or the errors.
func (s Settings) parse() (measures []measure.Measure, problems problem.Fields) {
	problems = CheckFormat(s.Kind, s.Format)
	if measure.EvaluatorOf(s.Kind) == nil {
		return nil, problems // measures cannot be parsed without the kind
	}
	problems.AddIf(len(s.Measures) == 0, "/evaluator/measures", "needs at least one measure")
	measures, ofMeasures := s.parseMeasures()
	problems = append(problems, ofMeasures...)
	s.checkIDs(&problems)
	return measures, problems
}

// parseMeasures returns the measures, and the errors in the other ones.
func (s Settings) parseMeasures() (measures []measure.Measure, problems problem.Fields) {
	first := map[string]string{} // canonical form: text in the settings
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

// CheckFormat reports the errors in the format of runs for a kind of evaluator. Pointers name members of a dataset.
func CheckFormat(kind measure.Kind, f measure.Format) (problems problem.Fields) {
	e := measure.EvaluatorOf(kind)
	if e == nil {
		problems.Add("/evaluator/kind", "%q is not built in; use %s", kind, lists.Or(measure.Kinds()))
		return problems
	}
	if !slices.Contains(e.Formats, f.Kind) {
		problems.Add("/runFormat/kind", "%q does not go with %s%s; use %s", f.Kind, kind, butWith(f.Kind), lists.Or(e.Formats))
		return problems
	}
	checkFieldName(&problems, "/runFormat/idField", f.Kind, f.IDField)
	checkFieldName(&problems, "/runFormat/valueField", f.Kind, f.ValueField)
	checkSeparator(&problems, kind, f)
	problems.AddIf(f.IDField != "" && f.IDField == f.ValueField, "/runFormat/valueField", "must be another field than {idField}")
	return problems
}

// butWith names the kinds of evaluators that read the format, or returns "".
func butWith(format string) string {
	kinds := slices.DeleteFunc(measure.Kinds(), func(kind string) bool {
		return !slices.Contains(measure.EvaluatorOf(measure.Kind(kind)).Formats, format)
	})
	if len(kinds) == 0 {
		return ""
	}
	return ", but with " + strings.Join(kinds, ", ")
}

// checkFieldName reports a missing name of a field, and a name in a format whose fields have none.
func checkFieldName(problems *problem.Fields, pointer, format, name string) {
	if measure.HasFields(format) {
		problems.AddIf(name == "", pointer, "is needed for %s", format)
	} else {
		problems.AddIf(name != "", pointer, "the fields of %s have no names: "+problem.Unset, format)
	}
}

// maxSeparator is the maximum length of the separator of labels, in bytes.
const maxSeparator = bounds.Separator

// checkSeparator reports a separator of labels that the kind and format do not use, and one that cannot separate labels.
func checkSeparator(problems *problem.Fields, kind measure.Kind, f measure.Format) {
	switch {
	case f.Separator == "":
		return
	case kind != measure.Multilabel || f.Kind != measure.CSV:
		problems.Add("/runFormat/separator", "is only for csv of multilabel: "+problem.Unset)
	case len(f.Separator) > maxSeparator || strings.ContainsFunc(f.Separator, cannotSeparate):
		problems.Add("/runFormat/separator", "must have at most %s, and no quote, line end or other control character",
			problem.Size(maxSeparator))
	}
}

// cannotSeparate reports whether a separator of labels cannot contain the character.
func cannotSeparate(r rune) bool { return r == '"' || r != '\t' && unicode.IsControl(r) }
