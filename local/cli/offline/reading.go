package offline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/functions/tools/detection"
	"assay/shared/computation/measure"
	"assay/shared/computation/measure/scoring"
	"assay/shared/language/lists"
	"assay/shared/language/problem"
)

// Reading says how files are read.
type Reading struct {
	scoring.Settings
	// Because is the reason of a guess. It is empty if nothing was guessed, and if a file begins like none of the formats.
	Because string
	Guessed bool
}

// String describes the reading in words.
func (r Reading) String() string {
	text := fmt.Sprintf("read as %s for %s", r.Format.Kind, r.Kind)
	if measure.HasFields(r.Format.Kind) {
		text += fmt.Sprintf(", with the id in %q and the value in %q", r.Format.IDField, r.Format.ValueField)
	}
	return text
}

// Read returns how to read a run and possibly its truth. It guesses a kind, a format and names of fields that are empty. The truth has
// precedence in a guess, because its author knows the format.
func Read(kind measure.Kind, format measure.Format, run scoring.File, truth ...scoring.File) (r Reading, err error) {
	r.Kind, r.Format = kind, format
	fieldsNamed := format.Kind != "" && (!measure.HasFields(format.Kind) || format.IDField != "" && format.ValueField != "")
	if kind == "" || !kind.Ranks() && !fieldsNamed {
		if err := r.guess(kind, format, run, truth); err != nil {
			return r, err
		}
	}
	if r.Kind.Ranks() {
		r.Format = measure.Format{Kind: cmp.Or(format.Kind, measure.TRECRun)}
	}
	if fields := scoring.CheckFormat(r.Kind, r.Format); len(fields) > 0 {
		return r, problem.Check(fields)
	}
	return r, nil
}

// guess fills the parts of the reading that are empty.
func (r *Reading) guess(kind measure.Kind, format measure.Format, run scoring.File, truth []scoring.File) error {
	guess, err := guessOf(kind, format, run, truth)
	if err != nil {
		return err
	}
	r.Guessed = true
	r.Because = guess.Because
	r.Kind = cmp.Or(kind, guess.Kind)
	if format.Kind == "" {
		r.Format = guess.Format
		if r.Format.Kind == measure.TRECRun && !r.Kind.Ranks() { // The reader of the file explains its fault.
			r.Format = measure.Format{Kind: measure.CSV}
		}
		r.Format.Separator = format.Separator
	}
	if !measure.HasFields(r.Format.Kind) {
		return nil
	}
	known := measure.Format{IDField: "id"}
	if e := measure.EvaluatorOf(r.Kind); e != nil {
		known.ValueField = e.ValueField
	}
	if r.Format.Kind == guess.Format.Kind {
		known = guess.Format
	}
	r.Format.IDField = cmp.Or(format.IDField, known.IDField)
	r.Format.ValueField = cmp.Or(format.ValueField, known.ValueField)
	return nil
}

// guessOf returns the guess of the last truth, or the guess of the run without a truth. It returns an error if run and truth are in formats
// that cannot be read together, and none is named.
func guessOf(kind measure.Kind, format measure.Format, run scoring.File, truth []scoring.File) (guess detection.Guess, err error) {
	guess, err = detection.Of(kind, run, truth...)
	if err != nil {
		return guess, err
	}
	for _, file := range truth {
		ofRun := guess
		if guess, err = detection.Of(kind, file, run); err != nil {
			return guess, err
		}
		if both := kindOfBoth(guess, ofRun); kind == "" && both != guess.Kind {
			if guess, err = detection.Of(both, file, run); err != nil {
				return guess, err
			}
		}
		// Files with fields can be converted, and the reader explains what is in no format.
		convertible := measure.HasFields(guess.Format.Kind) && measure.HasFields(ofRun.Format.Kind) || ofRun.Format.Kind == measure.TRECRun
		differ := guess.Format.Kind != ofRun.Format.Kind && !convertible
		if !guess.Kind.Ranks() && format.Kind == "" && differ {
			return guess, fmt.Errorf("%s looks like %s, and %s like %s: write both in one format, or name it with --format", file.Name,
				guess.Format.Kind, run.Name, ofRun.Format.Kind)
		}
	}
	return guess, nil
}

// kindOfBoth returns the kind of evaluator for a truth and a run, whose kinds were guessed separately.
func kindOfBoth(truth, run detection.Guess) measure.Kind {
	switch {
	case run.Kind.Ranks() && (run.Because != "" || truth.Kind.Ranks()):
		return run.Kind
	case run.Kind.Ranks():
		return truth.Kind
	case truth.Kind.Ranks():
		return run.Kind
	case truth.Kind == measure.Classification && run.Kind == measure.Regression && !truth.Number:
		return measure.Probabilities // labels and scores
	case truth.Kind == measure.Classification && run.Kind == measure.Multilabel && truth.Format.Kind == measure.JSONL:
		return truth.Kind // each label is no array
	case truth.Kind == measure.Classification:
		return run.Kind
	}
	return truth.Kind
}

// KindOf returns the only kind of evaluator that has all of the measures. It is empty if several kinds have them, or if there are none. The
// error names a measure that no kind has, or measures that no kind has together.
func KindOf(names []string) (only measure.Kind, err error) {
	var common []measure.Kind
	for i, name := range names {
		parsed, named := measure.KindsOf(name)
		kinds := parsed
		if len(parsed) == 0 {
			kinds = named
		}
		if len(kinds) == 0 {
			return "", unknown(name)
		}
		before := common
		if i == 0 {
			common = kinds
			continue
		}
		common = slices.DeleteFunc(slices.Clone(common), func(kind measure.Kind) bool { return !slices.Contains(kinds, kind) })
		if len(common) == 0 {
			return "", fmt.Errorf("no kind of evaluator has %s and the measures before it: it belongs to %s, and they to %s. Evaluate them "+
				"separately", name, joined(kinds), joined(before))
		}
	}
	if len(common) == 1 {
		return common[0], nil
	}
	return "", nil
}

func joined(kinds []measure.Kind) string {
	return strings.Join(lists.Map(kinds, func(kind measure.Kind) string { return string(kind) }), ", ")
}

// unknown returns the error for a text that is no measure of any kind.
func unknown(name string) error {
	if meant, kinds := measure.Suggest(name); meant != "" {
		return fmt.Errorf("there is no file and no measure %q; did you mean the measure %s of %s?", name, meant, joined(kinds))
	}
	return fmt.Errorf("there is no file and no measure %q. Files stand before measures, and a measure is written like nDCG@10, AP(rel=2) or "+
		"'F1(average=macro)'", name)
}
