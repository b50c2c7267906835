package offline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/functions/tools/detection"
	"assay/shared/computation/measure"
	"assay/shared/computation/measure/fields"
	"assay/shared/computation/measure/scoring"
	"assay/shared/language/lists"
	"assay/shared/language/problem"
)

// Reading says how files are read.
type Reading struct {
	scoring.Settings
	// Because is the reason of a guess. It is empty if nothing was guessed, and if a file of a ranking begins like none of the formats.
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
	if faults := scoring.CheckFormat(r.Kind, r.Format); len(faults) > 0 {
		return r, problem.Check(faults)
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
	if r.Because == "" && !r.Kind.Ranks() {
		if r.Because, err = unlike(r.Kind, slices.Concat(truth, []scoring.File{run})[0]); err != nil {
			return err
		}
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

// unlike says how a file begins that begins like none of the formats of a kind.
func unlike(kind measure.Kind, file scoring.File) (string, error) {
	head, err := detection.Head(file)
	if what := fields.OfRankings(head); what != "" {
		return fmt.Sprintf("%s looks like %s, which is not for %s", file.Name, what, kind), err
	}
	return fmt.Sprintf("%s begins like no file for %s", file.Name, kind), err
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

// Unknown returns an error for the first text that is no measure of any kind.
func Unknown(names []string) error {
	for _, name := range names {
		if parsed, named := measure.KindsOf(name); len(parsed)+len(named) == 0 {
			return unknown(name)
		}
	}
	return nil
}

// KindsOf returns the kinds of evaluators that can compute all of the measures. If there are none, it returns the kinds whose measures have
// these names; each of them finds a fault in a measure. If only one kind has the names, the error is this fault. Without measures, KindsOf
// returns no kinds.
func KindsOf(names []string) ([]measure.Kind, error) {
	var parse, have []measure.Kind // the kinds that parse the measures so far, and the kinds that have measures of their names
	for i, name := range names {
		parsed, named := measure.KindsOf(name)
		all := slices.Concat(parsed, named)
		before := have
		if i == 0 {
			parse, have = parsed, all
			continue
		}
		parse, have = both(parse, parsed), both(have, all)
		if len(have) == 0 {
			return nil, fmt.Errorf("no kind of evaluator has %s and the measures before it: it belongs to %s, and they to %s. Evaluate them "+
				"separately", name, joined(all), joined(before))
		}
	}
	if len(parse) > 0 {
		return parse, nil
	}
	if len(have) == 1 {
		_, err := Parse(have[0], names)
		return nil, err
	}
	return have, nil
}

// both returns the kinds that are in both lists.
func both(a, b []measure.Kind) []measure.Kind {
	return slices.DeleteFunc(slices.Clone(a), func(kind measure.Kind) bool { return !slices.Contains(b, kind) })
}

// ParseGuessed is like Parse for a kind that was guessed from the files. kinds are the KindsOf the measures. If the guess is not one of
// them, the error is the fault that the first of them finds, because no other guess could heal the measure.
func ParseGuessed(guess measure.Kind, kinds []measure.Kind, names []string) ([]string, error) {
	canonical, err := Parse(guess, names)
	if err == nil {
		return canonical, nil
	}
	if len(kinds) > 0 && !slices.Contains(kinds, guess) {
		if _, fault := Parse(kinds[0], names); fault != nil {
			return nil, fmt.Errorf("%w. It was read as a measure of %s: --kind names another kind, such as %s", fault, kinds[0], joined(kinds[1:]))
		}
	}
	return nil, fmt.Errorf("%w. The files look like %s: --kind names another kind", err, guess)
}

// Namesake returns an error if the files look like another kind than parses, and that kind has measures of the same names that need other
// parameters. parses is the only kind that computes the measures unchanged. Numbers in a run may be labels and scores, so they are no
// reason for an error.
func Namesake(parses measure.Kind, names []string, run, truth scoring.File) error {
	guess, err := guessOf("", measure.Format{}, run, []scoring.File{truth})
	if err != nil || guess.Kind == parses {
		return nil //nolint:nilerr // the reading of the files reports the error
	}
	if ofRun, err := detection.Of("", run); err != nil || ofRun.Number && guess.Kind != measure.Spans {
		return nil //nolint:nilerr // as above
	}
	for _, name := range names {
		if parsed, named := measure.KindsOf(name); !slices.Contains(slices.Concat(parsed, named), guess.Kind) {
			return nil
		}
	}
	if _, err = Parse(guess.Kind, names); err == nil {
		return nil
	}
	return fmt.Errorf("%w. The files look like %s. As written, the measure is one of %s: --kind %[3]s reads the files for it", err,
		guess.Kind, parses)
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
