package measure

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Kind says which evaluator a measure belongs to: the same word can be a measure of two of them.
type Kind string

// The evaluators that are built in.
const (
	Retrieval      Kind = "retrieval"
	Classification Kind = "classification"
	Regression     Kind = "regression"
)

// Kinds lists every kind of evaluator.
func Kinds() []Kind { return []Kind{Retrieval, Classification, Regression} }

// CutoffRule says whether a measure takes a cutoff (the number after @), and of which values.
type CutoffRule string

// A depth is a rank, from 1; a recall is a share of the relevant documents, from 0 to 1.
const (
	NoCutoff       CutoffRule = "none"
	OptionalDepth  CutoffRule = "optional depth"
	RequiredDepth  CutoffRule = "required depth"
	RequiredRecall CutoffRule = "required recall"
)

// Family is every measure of one name: AP, AP@10 and AP(rel=2) are one family.
type Family struct {
	Name           string      `json:"name" doc:"name to ask for it by"`
	Aliases        []string    `json:"aliases,omitempty" doc:"other names that mean the same"`
	Definition     string      `json:"definition" doc:"what it says, in one sentence"`
	Cutoff         CutoffRule  `json:"cutoff" enum:"none,optional depth,required depth,required recall" doc:"what may follow an @"`
	Parameters     []Parameter `json:"parameters,omitempty" doc:"what may stand in its brackets"`
	HigherIsBetter bool        `json:"higherIsBetter" doc:"false for errors, where less is better"`
	exactlyOne     bool        // whether exactly one of the parameters has to be given
	// presets has aliases that stand for the family with a parameter.
	presets map[string]Param
}

// Catalogue returns the families of one kind of evaluator, in the order in which a person would look for them.
// They must not be changed.
func Catalogue(kind Kind) []Family { return families[kind] }

// familyOf finds a family by its name or one of its aliases; nil when there is none.
func familyOf(kind Kind, name string) *Family {
	list := families[kind]
	for i := range list {
		if list[i].Name == name || slices.Contains(list[i].Aliases, name) {
			return &list[i]
		}
	}
	return nil
}

var (
	relLevel = Parameter{Name: "rel", Domain: "integer", Default: "1", Min: 1, Max: 1_000_000,
		Definition: "least grade that counts as relevant"}
	judgedOnly = Parameter{Name: "judged_only", Domain: "flag", Default: "False",
		Definition: "leave unjudged documents out of the ranking first"}
	average = Parameter{Name: "average", Domain: "choice", Choices: []string{"macro", "micro", "weighted"},
		Definition: "macro: plain mean over the labels; weighted: mean weighted by how often a label is true; micro: all decisions pooled"}
	positive = Parameter{Name: "positive", Domain: "label", Definition: "the one label that is measured"}
)

// relLevelWithoutDefault returns relLevel without a default; meaning says how measures treat its absence.
func relLevelWithoutDefault(meaning string) Parameter {
	p := relLevel
	p.Default, p.Definition = "", p.Definition+"; without it "+meaning
	return p
}

// families is the registry. Parameters stand in the order of the canonical form. Retrieval names and parameters are
// those of ir-measures (MacAvaney, Macdonald, Ounis: Streamlining Evaluation with ir-measures, ECIR 2022), and judged_only of infAP,
// which trec_eval computes with -J.
var families = map[Kind][]Family{
	Retrieval: {
		{Name: "nDCG", Aliases: []string{"NDCG"}, Cutoff: OptionalDepth, HigherIsBetter: true,
			Parameters: []Parameter{
				{Name: "dcg", Domain: "choice", Default: "log2", Choices: []string{"log2", "exp-log2"},
					Definition: "log2: the gain is the grade; exp-log2: it is 2^grade - 1"},
				judgedOnly,
			},
			Definition: "Discounted gain of the ranking, each grade divided by log2(rank + 1), relative to that of the ideal ranking."},
		{Name: "AP", Aliases: []string{"MAP"}, Cutoff: OptionalDepth, Parameters: []Parameter{relLevel, judgedOnly}, HigherIsBetter: true,
			Definition: "Precision at the rank of each relevant document retrieved (down to the cutoff), summed and divided by the number of " +
				"relevant documents."},
		{Name: "RR", Aliases: []string{"MRR"}, Cutoff: OptionalDepth, Parameters: []Parameter{relLevel, judgedOnly}, HigherIsBetter: true,
			Definition: "One divided by the rank of the first relevant document, 0 when there is none (down to the cutoff)."},
		{Name: "P", Aliases: []string{"Precision"}, Cutoff: RequiredDepth, Parameters: []Parameter{relLevel, judgedOnly}, HigherIsBetter: true,
			Definition: "Share of relevant documents among the first k; ranks that the run leaves empty count as not relevant."},
		{Name: "R", Aliases: []string{"Recall"}, Cutoff: RequiredDepth, Parameters: []Parameter{relLevel, judgedOnly}, HigherIsBetter: true,
			Definition: "Share of the relevant documents that stand among the first k."},
		{Name: "Rprec", Aliases: []string{"RPrec"}, Cutoff: NoCutoff, Parameters: []Parameter{relLevel, judgedOnly}, HigherIsBetter: true,
			Definition: "Precision at rank R, the number of relevant documents of the topic."},
		{Name: "Bpref", Aliases: []string{"BPref"}, Cutoff: NoCutoff, Parameters: []Parameter{relLevel}, HigherIsBetter: true,
			Definition: "How seldom judged non-relevant documents stand above relevant ones; unjudged documents do not matter."},
		{Name: "infAP", Cutoff: NoCutoff, Parameters: []Parameter{relLevel, judgedOnly}, HigherIsBetter: true,
			Definition: "Average precision estimated from a judged sample of the pool; a negative grade marks a pooled document that was not " +
				"judged."},
		{Name: "Success", Cutoff: RequiredDepth, Parameters: []Parameter{relLevel, judgedOnly}, HigherIsBetter: true,
			Definition: "1 when a relevant document stands among the first k, else 0."},
		{Name: "IPrec", Cutoff: RequiredRecall, Parameters: []Parameter{relLevel, judgedOnly}, HigherIsBetter: true,
			Definition: "Interpolated precision: the best precision at any rank where at least r of the relevant documents are retrieved, a " +
				"number that is rounded as in trec_eval 10 and otherwise than in earlier versions."},
		{Name: "SetP", Aliases: []string{"SetRelP"}, presets: map[string]Param{"SetRelP": {"relative", "True"}}, Cutoff: NoCutoff,
			Parameters: []Parameter{relLevel,
				{Name: "relative", Domain: "flag", Default: "False", Definition: "divide by the number of relevant documents where that is less"},
				judgedOnly}, HigherIsBetter: true,
			Definition: "Share of relevant documents among all that were retrieved; SetRelP is SetP(relative=True)."},
		{Name: "SetR", Cutoff: NoCutoff, Parameters: []Parameter{relLevel}, HigherIsBetter: true,
			Definition: "Share of the relevant documents that were retrieved at any rank."},
		{Name: "SetF", Cutoff: NoCutoff, Parameters: []Parameter{relLevel,
			{Name: "beta", Domain: "number", Default: "1.0", Min: 0, Max: 1000,
				Definition: "weight x in (x + 1) P R / (x P + R), as trec_eval has it"}, judgedOnly}, HigherIsBetter: true,
			Definition: "Harmonic mean of precision and recall of all that was retrieved."},
		{Name: "SetAP", Cutoff: NoCutoff, Parameters: []Parameter{relLevel, judgedOnly}, HigherIsBetter: true,
			Definition: "Precision times recall of all that was retrieved."},
		{Name: "Judged", Cutoff: OptionalDepth, HigherIsBetter: true,
			Definition: "Share of judged documents among those retrieved (down to the cutoff)."},
		{Name: "RBP", Cutoff: OptionalDepth, Parameters: []Parameter{
			{Name: "p", Domain: "number", Default: "0.8", Min: 0, Max: 1, Open: true,
				Definition: "chance that the reader goes on to the next document"},
			relLevelWithoutDefault("the gain is the grade divided by the highest grade of the truth")}, HigherIsBetter: true,
			Definition: "Rank-biased precision: the gain that a reader meets who goes on to the next rank with chance p."},
		{Name: "ERR", Cutoff: OptionalDepth, HigherIsBetter: true,
			Definition: "Expected reciprocal rank at which a reader is satisfied, a grade g satisfying with chance (2^g - 1) / 16; grades go up " +
				"to 4."},
		{Name: "NumQ", Cutoff: NoCutoff, HigherIsBetter: true,
			Definition: "Number of topics of the truth."},
		{Name: "NumRet", Aliases: []string{"NumRelRet"}, presets: map[string]Param{"NumRelRet": {"rel", "1"}}, Cutoff: NoCutoff,
			Parameters: []Parameter{relLevelWithoutDefault("every document counts")}, HigherIsBetter: true,
			Definition: "Number of documents retrieved for the topics of the truth, a sum; NumRelRet is NumRet(rel=1)."},
		{Name: "NumRel", Cutoff: NoCutoff, Parameters: []Parameter{relLevel}, HigherIsBetter: true,
			Definition: "Number of relevant documents in the truth, a sum over its topics."},
	},
	Classification: {
		{Name: "Accuracy", Cutoff: NoCutoff, HigherIsBetter: true, Definition: "Share of items whose predicted label is the true one."},
		{Name: "BalancedAccuracy", Cutoff: NoCutoff, HigherIsBetter: true, Definition: "Mean recall over the labels of the truth."},
		{Name: "F1", Cutoff: NoCutoff, Parameters: []Parameter{average, positive}, exactlyOne: true, HigherIsBetter: true,
			Definition: "Harmonic mean of precision and recall."},
		{Name: "Precision", Cutoff: NoCutoff, Parameters: []Parameter{average, positive}, exactlyOne: true, HigherIsBetter: true,
			Definition: "Share of the items predicted with a label that truly have it."},
		{Name: "Recall", Cutoff: NoCutoff, Parameters: []Parameter{average, positive}, exactlyOne: true, HigherIsBetter: true,
			Definition: "Share of the items that truly have a label that are predicted with it."},
		{Name: "MCC", Cutoff: NoCutoff, HigherIsBetter: true,
			Definition: "Matthews correlation coefficient of predicted and true labels, for any number of labels."},
		{Name: "Kappa", Cutoff: NoCutoff, HigherIsBetter: true,
			Definition: "Cohen's kappa: agreement with the truth beyond what chance would give."},
	},
	Regression: {
		{Name: "MSE", Cutoff: NoCutoff, Definition: "Mean squared error."},
		{Name: "RMSE", Cutoff: NoCutoff, Definition: "Square root of the mean squared error."},
		{Name: "MAE", Cutoff: NoCutoff, Definition: "Mean absolute error."},
		{Name: "R2", Cutoff: NoCutoff, HigherIsBetter: true, Definition: "Share of the variance of the truth that the predictions explain."},
		{Name: "Pearson", Cutoff: NoCutoff, HigherIsBetter: true, Definition: "Linear correlation of prediction and truth."},
		{Name: "Spearman", Cutoff: NoCutoff, HigherIsBetter: true,
			Definition: "Correlation of the ranks of prediction and truth, ties sharing their mean rank."},
		{Name: "Kendall", Cutoff: NoCutoff, HigherIsBetter: true,
			Definition: "Kendall's tau-b: concordant less discordant pairs, corrected for ties."},
	},
}

// Parameter is a named parameter of a family, in brackets.
type Parameter struct {
	Name       string   `json:"name"`
	Domain     string   `json:"domain" enum:"integer,number,flag,choice,label"`
	Default    string   `json:"default,omitempty" doc:"value when it is left out"`
	Choices    []string `json:"choices,omitempty" doc:"for a choice: the values there are"`
	Min        float64  `json:"min,omitempty" doc:"for an integer or number: the least value"`
	Max        float64  `json:"max,omitempty" doc:"for an integer or number: the greatest value"`
	Open       bool     `json:"open,omitempty" doc:"min and max are themselves excluded"`
	Definition string   `json:"definition"`
}

// canonical checks a value against the domain and returns the one way of writing it, without quotes.
func (p Parameter) canonical(value string) (string, error) {
	switch p.Domain {
	case "integer":
		n, err := strconv.Atoi(value)
		if err != nil || !p.within(float64(n)) {
			return "", fmt.Errorf("%s=%s: give a whole number from %d to %d", p.Name, value, int(p.Min), int(p.Max))
		}
		return strconv.Itoa(n), nil
	case "number":
		x, err := strconv.ParseFloat(value, 64)
		if err != nil || !p.within(x) {
			between := "from %v to %v"
			if p.Open {
				between = "between %v and %v"
			}
			return "", fmt.Errorf("%s=%s: give a number "+between, p.Name, value, p.Min, p.Max)
		}
		return formatNumber(x), nil
	case "flag":
		switch value {
		case "True", "true":
			return "True", nil
		case "False", "false":
			return "False", nil
		}
		return "", fmt.Errorf("%s=%s: give True or False", p.Name, value)
	case "choice":
		if !slices.Contains(p.Choices, value) {
			return "", fmt.Errorf("%s=%s: give one of %s", p.Name, value, strings.Join(p.Choices, ", "))
		}
		return value, nil
	default: // label
		if value == "" || !utf8.ValidString(value) || strings.ContainsFunc(value, unicode.IsControl) {
			return "", fmt.Errorf("%s=%q: give a label, in '...' if it has spaces or signs", p.Name, value)
		}
		return value, nil
	}
}

// within says whether a number lies in the domain; NaN never does.
func (p Parameter) within(x float64) bool {
	if p.Open {
		return p.Min < x && x < p.Max
	}
	return p.Min <= x && x <= p.Max
}

// formatNumber writes the shortest decimal that reads back as x, a whole one with .0, as Python and so ir-measures does;
// minus zero becomes 0.0. It is for numbers below a million.
func formatNumber(x float64) string {
	text := strconv.FormatFloat(x+0, 'g', -1, 64)
	if strings.ContainsAny(text, ".e") {
		return text
	}
	return text + ".0"
}

// quoted writes a value so that Parse reads it back. Choices with a sign in them are quoted as ir-measures does.
func quoted(value string) string {
	if !strings.ContainsFunc(value, isSign) {
		return value
	}
	return "'" + strings.NewReplacer(`'`, `\'`, `\`, `\\`).Replace(value) + "'"
}

// isSign says whether a character needs quotes in the canonical form.
func isSign(r rune) bool {
	return r != '_' && r != '.' && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
}

// trecEval has measures by the names that trec_eval has for them. Where a name has a parameter, it ends in an underscore
// here, and the parameter stands for $.
var trecEval = map[string]string{
	"map": "AP", "map_cut_": "AP@$", "ndcg": "nDCG", "ndcg_cut_": "nDCG@$", "P_": "P@$", "recall_": "R@$", "success_": "Success@$",
	"recip_rank": "RR", "bpref": "Bpref", "iprec_at_recall_": "IPrec@$", "num_q": "NumQ", "num_ret": "NumRet", "num_rel": "NumRel",
	"num_rel_ret": "NumRelRet", "set_P": "SetP", "set_relative_P": "SetRelP", "set_recall": "SetR", "set_map": "SetAP",
	"set_F": "SetF", "set_F_": "SetF(beta=$)",
}

// fromTrecEval returns the measure that a name of trec_eval stands for, as it prints it (P_5) or is asked for it (P.5); any
// other text as it is.
func fromTrecEval(text string) string {
	name, parameter := strings.TrimSpace(text), ""
	if i := strings.IndexAny(name, "0123456789"); i > 0 && (name[i-1] == '_' || name[i-1] == '.') {
		name, parameter = name[:i-1]+"_", name[i:]
	}
	if known, ok := trecEval[name]; ok {
		return strings.ReplaceAll(known, "$", parameter)
	}
	return text
}
