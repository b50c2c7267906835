package measure

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"assay/shared/language/lists"

	"github.com/agnivade/levenshtein"
)

// Kind names an evaluator. Two kinds may have measures of the same name.
type Kind string

// The evaluators that are built in.
const (
	Retrieval      Kind = "retrieval"
	Classification Kind = "classification"
	Regression     Kind = "regression"
	Clustering     Kind = "clustering"
	Probabilities  Kind = "probabilities"
	Text           Kind = "text"
	Multilabel     Kind = "multilabel"
	Diversity      Kind = "diversity"
	Spans          Kind = "spans"
)

// The formats of runs.
const (
	TRECRun = "trec-run" // six columns a line
	JSONL   = "jsonl"
	CSV     = "csv"
	CoNLL   = "conll" // a token in the first and its tag in the last column
)

// HasFields reports whether a format has named fields, so that a Format says which fields are read.
func HasFields(format string) bool { return format == JSONL || format == CSV }

// DefaultSeparator separates the labels of an example in csv. Labels with spaces or commas are frequent, labels with a vertical bar rare.
const DefaultSeparator = "|"

// Format is the format of the files of a run. Formats with named fields are also the format of the truth.
type Format struct {
	Kind       string // one of Formats
	IDField    string // field with the example's id: a string or a number
	ValueField string // field with the value that is evaluated
	Separator  string // between labels in a field of csv; empty is DefaultSeparator
}

// EvaluatorKind declares one kind of evaluator for all code except the package that computes its measures.
type EvaluatorKind struct {
	Kind       Kind     `json:"kind"`
	Definition string   `json:"definition" doc:"content of a run"`
	Truth      string   `json:"truth" doc:"content of the ground truth, and how it is written"`
	Formats    []string `json:"formats" doc:"formats of runs, the usual one first"`
	ValueField string   `json:"valueField,omitempty" doc:"usual name of the field with the value, for formats with named fields"`
	HasLabels  bool     `json:"hasLabels,omitempty" doc:"whether the truth has a set of labels, which a dataset can declare public"`
	Defaults   []string `json:"defaults" doc:"measures that are computed if none are named"`
	// Conventions hold for all measures of the kind, or for several.
	Conventions []string `json:"conventions" doc:"how measures count what their definitions leave open: averages, ties, 0/0 and values that are not defined"`
	Limits      []Limit  `json:"limits" doc:"limits of the files of runs and ground truths, and of evaluations"`
	Families    []Family `json:"-"`
	// SafePerTopic says that values by topic or example tell no more of the truth than the measures do. They are shown to everyone who is
	// shown the measures. For other kinds, these values tell which predictions are right or how far off they are, so package evaluation
	// hides them.
	SafePerTopic bool `json:"-"`
	// alias translates a name of another program to a measure. It is nil if the kind has no such names.
	alias func(text string) string
}

// Evaluators lists all kinds, in the order in which a person would look for them. It must not be changed.
var Evaluators = []EvaluatorKind{retrievalEvaluator, diversityEvaluator, classificationEvaluator, multilabelEvaluator,
	probabilitiesEvaluator, regressionEvaluator, clusteringEvaluator, textEvaluator, spansEvaluator}

// Kinds names every kind of evaluator.
func Kinds() []string {
	return lists.Map(Evaluators, func(e EvaluatorKind) string { return string(e.Kind) })
}

// Formats lists every format of runs.
func Formats() (all []string) {
	for i := range Evaluators {
		for _, f := range Evaluators[i].Formats {
			if !slices.Contains(all, f) {
				all = append(all, f)
			}
		}
	}
	return all
}

// EvaluatorOf returns the declaration of a kind, or nil if the kind is not built in.
func EvaluatorOf(kind Kind) *EvaluatorKind {
	for i := range Evaluators {
		if Evaluators[i].Kind == kind {
			return &Evaluators[i]
		}
	}
	return nil
}

// Ranks reports whether the runs of a kind are rankings of documents, which have topics.
func (k Kind) Ranks() bool {
	e := EvaluatorOf(k)
	return e != nil && slices.Contains(e.Formats, TRECRun)
}

// family returns the family with the name or alias, or nil.
func (e *EvaluatorKind) family(name string) *Family {
	for i := range e.Families {
		if f := &e.Families[i]; f.Name == name || slices.Contains(f.Aliases, name) {
			return f
		}
	}
	return nil
}

// unknownName returns the error for a text whose name is unknown. It suggests the measure that was probably meant, or names the kinds that
// have the name.
func (e *EvaluatorKind) unknownName(text string) error {
	name, given := cutName(text)
	var others []string
	for i := range Evaluators {
		if _, distance := Evaluators[i].nearest(name); distance == 0 {
			others = append(others, string(Evaluators[i].Kind))
		}
	}
	hint := "; there are"
	switch meant, distance := e.nearest(name); {
	case meant != "" && (distance == 0 || len(others) == 0):
		meant, _ = e.completed(meant, given)
		hint = "; did you mean " + meant + "? There are"
	case len(others) > 0:
		hint = ", but one of the kind " + strings.Join(others, ", ") + ": choose that kind, or one of"
	}
	known := lists.Map(e.Families, func(f Family) string { return f.Name })
	return fmt.Errorf("there is no %s measure %q%s %s", e.Kind, name, hint, strings.Join(known, ", "))
}

// KindsOf returns the kinds of evaluators that can parse the text of a measure, and the other kinds with a measure of its name. Kinds whose
// measure lacks a parameter of the text are returned only if there are no others.
func KindsOf(text string) (parsed, named []Kind) {
	var lacking []Kind
	for i := range Evaluators {
		e := &Evaluators[i]
		_, err := Parse(e.Kind, text)
		_, lacks := errors.AsType[unknownParameter](err)
		switch {
		case err == nil:
			parsed = append(parsed, e.Kind)
		case e.family(text[:len(text)-len(strings.TrimLeft(text, nameCharacters))]) == nil:
		case lacks:
			lacking = append(lacking, e.Kind)
		default:
			named = append(named, e.Kind)
		}
	}
	if len(parsed)+len(named) == 0 {
		named = lacking
	}
	return parsed, named
}

// nameCharacters are the characters of a name of a measure.
const nameCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

// Suggest returns the measures that a text could mean that is none, of the kinds that have them. It keeps the cutoff and the parameters of
// the text if one of the kinds has such a measure.
func Suggest(text string) (meant string, kinds []Kind) {
	name, given := cutName(text)
	least := len(name) + 1
	complete := false
	for i := range Evaluators {
		e := &Evaluators[i]
		near, distance := e.nearest(name)
		if near == "" || distance > least {
			continue
		}
		near, whole := e.completed(near, given)
		switch {
		case distance < least, whole && !complete:
			meant = near
			least = distance
			complete = whole
			kinds = []Kind{e.Kind}
		case near == meant:
			kinds = append(kinds, e.Kind)
		}
	}
	return meant, kinds
}

// cutName cuts the text of a measure into its name and the rest, which has its parameters and its cutoff.
func cutName(text string) (name, rest string) {
	if i := strings.IndexAny(text, "@("); i >= 0 {
		return text[:i], text[i:]
	}
	return text, ""
}

// completed returns the measure of the name with the given parameters and cutoff. If the kind has no such measure, it returns the name,
// and whole is false.
func (e *EvaluatorKind) completed(name, given string) (measure string, whole bool) {
	m, err := Parse(e.Kind, name+given)
	if given == "" || err != nil {
		return name, false
	}
	return m.String(), true
}

// signs removes the separators between the words of a name.
var signs = strings.NewReplacer("-", "", "_", "", " ", "", ".", "", "'", "")

// nearest returns the measure whose spelling is closest to the given name, and their edit distance without case and signs. It allows one
// edit for each four bytes of the name; meant is empty if no measure is that close. Spellings may have a choice before or after the name,
// as in macro F1.
func (e *EvaluatorKind) nearest(name string) (meant string, distance int) {
	plain := func(s string) string { return strings.ToLower(signs.Replace(s)) }
	given := plain(name)
	distance = len(name)/4 + 1
	try := func(measure, spelling string) {
		spelled := plain(spelling)
		if unlike := len(spelled) - len(given); max(unlike, -unlike) >= distance { // the edit distance is at least the difference of the lengths
			return
		}
		if d := levenshtein.ComputeDistance(spelled, given); d < distance {
			meant, distance = measure, d
		}
	}
	for _, f := range e.Families {
		for _, known := range append([]string{f.Name}, f.Aliases...) {
			try(known, known)
			for _, p := range f.Parameters {
				for _, choice := range p.Choices {
					measure := fmt.Sprintf("%s(%s=%s)", known, p.Name, choice)
					try(measure, known+choice)
					try(measure, choice+known)
				}
			}
		}
	}
	return meant, distance
}
