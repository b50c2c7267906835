package measure

import (
	"fmt"
	"slices"
	"strings"

	"assay/shared/lists"

	"github.com/agnivade/levenshtein"
)

// Kind names an evaluator: the same word can be a measure of two of them.
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

// HasFields reports whether values have names in a format, so that a Format says which are read.
func HasFields(format string) bool { return format == JSONL || format == CSV }

// DefaultSeparator separates the labels of an example in csv: labels with a vertical bar are rare, and those with spaces or commas are not.
const DefaultSeparator = "|"

// Format says how the files of a run are written, and for formats with names those of the truth.
type Format struct {
	Kind       string // one of Formats
	IDField    string // names the example's id: a string or a number
	ValueField string // names what is evaluated
	Separator  string // of labels in a field of csv; empty is DefaultSeparator
}

// EvaluatorKind declares one kind of evaluator: what others than the package that computes its measures know of it.
type EvaluatorKind struct {
	Kind       Kind     `json:"kind"`
	Definition string   `json:"definition" doc:"what a run has"`
	Truth      string   `json:"truth" doc:"what the ground truth has, and how it is written"`
	Formats    []string `json:"formats" doc:"those that a run may have, the usual one first"`
	ValueField string   `json:"valueField,omitempty" doc:"usual name of the field with the value, for formats with names"`
	HasLabels  bool     `json:"hasLabels,omitempty" doc:"whether the truth has a set of labels, which a dataset can declare public"`
	Defaults   []string `json:"defaults" doc:"the measures that are computed where none is named"`
	Families   []Family `json:"-"`
	// SafePerTopic says that values by topic or example tell no more of the truth than measures do, so that who is shown those is shown
	// these. Of other kinds they say which predictions are right or how far off they are, and are hidden: package evaluation.
	SafePerTopic bool `json:"-"`
	// alias returns the measure that a name of another program stands for; nil: there are none.
	alias func(text string) string
}

// Evaluators are all of them, in the order in which a person would look for them. They must not be changed.
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

// EvaluatorOf returns the declaration of a kind; nil when it is not built in.
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

// family finds a family by its name or one of its aliases; nil when there is none.
func (e *EvaluatorKind) family(name string) *Family {
	for i := range e.Families {
		if f := &e.Families[i]; f.Name == name || slices.Contains(f.Aliases, name) {
			return f
		}
	}
	return nil
}

// unknownName is the error of a name that no family has. It says which measure may have been meant, or which other kinds have it.
func (e *EvaluatorKind) unknownName(name string) error {
	var others []string
	for i := range Evaluators {
		if _, distance := Evaluators[i].nearest(name); distance == 0 {
			others = append(others, string(Evaluators[i].Kind))
		}
	}
	hint := "; there are"
	switch meant, distance := e.nearest(name); {
	case meant != "" && (distance == 0 || len(others) == 0):
		hint = "; did you mean " + meant + "? There are"
	case len(others) > 0:
		hint = ", but one of the kind " + strings.Join(others, ", ") + ": choose that kind, or one of"
	}
	known := lists.Map(e.Families, func(f Family) string { return f.Name })
	return fmt.Errorf("there is no %s measure %q%s %s", e.Kind, name, hint, strings.Join(known, ", "))
}

// signs leaves out what separates the words of a name.
var signs = strings.NewReplacer("-", "", "_", "", " ", "", ".", "", "'", "")

// nearest returns the measure whose name is most like the given one, if there is one, and how many characters they differ in, without case
// and signs: at most one of four to nine. A choice can stand before or after a name, as in macro F1.
func (e *EvaluatorKind) nearest(name string) (meant string, distance int) {
	plain := func(s string) string { return strings.ToLower(signs.Replace(s)) }
	given := plain(name)
	distance = (len(name)+2)/6 + 1
	try := func(measure, spelling string) {
		spelled := plain(spelling)
		if unlike := len(spelled) - len(given); max(unlike, -unlike) >= distance { // which spares comparing them
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
