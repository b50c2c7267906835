package measure

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// CutoffRule says whether a measure takes a cutoff (the number after @), and which values the cutoff may have.
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
	Name           string      `json:"name" doc:"name of the measure in requests"`
	Aliases        []string    `json:"aliases,omitempty" doc:"other names that mean the same"`
	Definition     string      `json:"definition" doc:"definition in one sentence"`
	Conventions    []string    `json:"conventions,omitempty" doc:"how the measure counts what its definition leaves open, in addition to the conventions of the evaluator"`
	Cutoff         CutoffRule  `json:"cutoff" enum:"none,optional depth,required depth,required recall" doc:"kind of the number after @"`
	Parameters     []Parameter `json:"parameters,omitempty" doc:"parameters in brackets after the name"`
	HigherIsBetter bool        `json:"higherIsBetter" doc:"false for errors, where less is better"`
	// oneOf lists parameters of which exactly one is required.
	oneOf []string
	// geometric marks a family whose value is the geometric mean of the values by topic. Differences and tests of the values by topic say
	// nothing about it.
	geometric bool
	// deepest is the deepest rank that a cutoff may name; 0 stands for maxDepth.
	deepest int
	// presets maps aliases to the parameter that they imply.
	presets map[string]Param
}

// Parameter is a named parameter of a family, in brackets.
type Parameter struct {
	Name       string            `json:"name"`
	Domain     string            `json:"domain" enum:"integer,number,flag,choice,label,gains,scale"`
	Default    string            `json:"default,omitempty" doc:"value if the parameter is left out"`
	Choices    []string          `json:"choices,omitempty" doc:"for a choice: the allowed values"`
	Min        float64           `json:"min,omitempty" doc:"for an integer or number: the least value"`
	Max        float64           `json:"max,omitempty" doc:"for an integer or number: the greatest value; for a scale: the greatest number of labels"`
	Open       bool              `json:"open,omitempty" doc:"min and max are themselves excluded"`
	Definition string            `json:"definition"`
	with       string            // another parameter that this one requires
	without    string            // another parameter that this one excludes
	format     string            // the only format of runs that allows this parameter; empty is any
	synonyms   map[string]string // other words for choices
}

// canonical checks a value against the domain and returns its canonical form, without quotes.
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
		choice := cmp.Or(p.synonyms[value], value)
		if !slices.Contains(p.Choices, choice) {
			return "", fmt.Errorf("%s=%s: give one of %s", p.Name, choice, strings.Join(p.Choices, ", "))
		}
		return choice, nil
	case "gains":
		return p.canonicalGains(value)
	case "scale":
		return p.canonicalScale(value)
	default: // label
		if value == "" || !utf8.ValidString(value) || strings.ContainsFunc(value, unicode.IsControl) {
			return "", fmt.Errorf("%s=%q: give a label, in '...' if it has spaces or signs", p.Name, value)
		}
		return value, nil
	}
}

// parseGains reads {1:3.5,2:9}, or trec_eval's form 1=3.5,2=9.0. ok is false for other text, and if a grade occurs twice.
func parseGains(text string) (gains map[int]float64, ok bool) {
	text = strings.TrimSpace(text)
	if inner, opened := strings.CutPrefix(text, "{"); opened {
		if text, ok = strings.CutSuffix(inner, "}"); !ok {
			return nil, false
		}
	}
	gains = map[int]float64{}
	for part := range strings.SplitSeq(text, ",") {
		i := strings.IndexAny(part, ":=")
		if i < 0 {
			return nil, false
		}
		grade, err := strconv.ParseUint(strings.TrimSpace(part[:i]), 10, 15)
		gain, gainErr := strconv.ParseFloat(strings.TrimSpace(part[i+1:]), 64)
		_, isRepeated := gains[int(grade)]
		if err != nil || gainErr != nil || isRepeated {
			return nil, false
		}
		gains[int(grade)] = gain
	}
	return gains, true
}

// canonicalGains writes gains in the order of the grades, like ir-measures.
func (p Parameter) canonicalGains(value string) (string, error) {
	gains, ok := parseGains(value)
	isOutside := func(gain float64) bool { return !p.within(gain) }
	if !ok || slices.ContainsFunc(slices.Collect(maps.Values(gains)), isOutside) {
		return "", fmt.Errorf("%[1]s=%[2]s: give numbers from %[3]v to %[4]v by grade from 0, each grade once, as in %[1]s={0:0,1:2.5}",
			p.Name, value, p.Min, p.Max)
	}
	var list []string
	for _, grade := range slices.Sorted(maps.Keys(gains)) {
		gain := strconv.FormatFloat(gains[grade]+0, 'f', -1, 64) // +0 turns minus zero into zero
		list = append(list, fmt.Sprintf("%d:%s", grade, gain))
	}
	return "{" + strings.Join(list, ",") + "}", nil
}

// within reports whether a number is in the domain. NaN never is.
func (p Parameter) within(x float64) bool {
	if p.Open {
		return p.Min < x && x < p.Max
	}
	return p.Min <= x && x <= p.Max
}

// formatNumber writes the shortest decimal that reads back as x. Whole numbers end in .0, like in Python and ir-measures, and minus zero
// becomes 0.0. x must be below a million.
func formatNumber(x float64) string {
	text := strconv.FormatFloat(x+0, 'g', -1, 64)
	if strings.ContainsAny(text, ".e") {
		return text
	}
	return text + ".0"
}

// quoted writes a value so that Parse reads it back. Like ir-measures, it quotes values that contain signs.
func quoted(value string) string {
	if !strings.ContainsFunc(value, isSign) {
		return value
	}
	return "'" + strings.NewReplacer(`'`, `\'`, `\`, `\\`).Replace(value) + "'"
}

// isSign reports whether a character needs quotes in the canonical form.
func isSign(r rune) bool {
	return r != '_' && r != '.' && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
}
