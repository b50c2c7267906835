package measure

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"assay/shared/computation/measure/bounds"
	"assay/shared/language/lists"
)

// MaxName is the greatest length of a measure's text, in bytes.
const MaxName = bounds.MeasureName

// maxDepth is the deepest rank that a cutoff may name.
const maxDepth = bounds.Depth

// Measure is one measure, parsed and checked: Name[(param=value,...)][@cutoff], for example nDCG(dcg='exp-log2')@20.
// Only Parse returns measures, so name, parameters and cutoff are always valid for a family of the kind.
type Measure struct {
	Kind   Kind
	Name   string  // canonical: MAP is AP, NDCG is nDCG
	Params []Param // in the family's order, without parameters that have their default value
	Cutoff string  // canonical decimal, or empty
}

// Param is a parameter and its value, without quotes.
type Param struct{ Name, Value string }

// Parse reads the text of a measure. Its error says what is wrong and what is allowed.
func Parse(kind Kind, text string) (Measure, error) {
	e := EvaluatorOf(kind)
	if e == nil {
		return Measure{}, fmt.Errorf("evaluator kind %q has no measures of its own: use %s", kind, lists.Or(Kinds()))
	}
	if len(text) > MaxName {
		return Measure{}, fmt.Errorf("measure %q... is too long: at most %d bytes", strings.ToValidUTF8(text[:20], "?"), MaxName)
	}
	if !utf8.ValidString(text) {
		return Measure{}, fmt.Errorf("measure %q is not valid UTF-8", text)
	}
	p := parser{evaluator: e, rest: text}
	if e.alias != nil {
		p.rest = e.alias(text)
	}
	m, err := p.measure()
	if err != nil {
		return Measure{}, fmt.Errorf("measure %q: %w", text, err)
	}
	if len(m.String()) > MaxName {
		return Measure{}, fmt.Errorf("measure %q is too long: at most %d bytes", text, MaxName)
	}
	return m, nil
}

// String returns the canonical form, which Parse reads back as the same measure. It is the key of Result.Measures.
func (m Measure) String() string {
	var b strings.Builder
	b.WriteString(m.Name)
	for i, p := range m.Params {
		b.WriteByte("(,"[min(i, 1)])
		b.WriteString(p.Name + "=")
		if f := familyOf(m.Kind, m.Name); f != nil && slices.Contains([]string{"number", "gains"}, f.parameter(p.Name).Domain) {
			b.WriteString(p.Value) // the signs of 1e-05 and {1:2} need no quotes
		} else {
			b.WriteString(quoted(p.Value))
		}
	}
	if len(m.Params) > 0 {
		b.WriteByte(')')
	}
	if m.Cutoff != "" {
		b.WriteString("@" + m.Cutoff)
	}
	return b.String()
}

// HigherIsBetter returns false for errors such as RMSE, where the least value wins.
func (m Measure) HigherIsBetter() bool {
	f := familyOf(m.Kind, m.Name)
	return f == nil || f.HigherIsBetter
}

// IsGeometric reports whether the value is the geometric mean of the values by topic. Differences and tests of the values by topic say
// nothing about a geometric mean.
func (m Measure) IsGeometric() bool {
	f := familyOf(m.Kind, m.Name)
	return f != nil && f.geometric
}

// Param returns the value of a parameter, or its default if it was left out, or "" if it has no default.
func (m Measure) Param(name string) string {
	for _, p := range m.Params {
		if p.Name == name {
			return p.Value
		}
	}
	if f := familyOf(m.Kind, m.Name); f != nil {
		return f.parameter(name).Default
	}
	return ""
}

// Number returns an integer or number parameter, or 0 if it was left out and has no default.
func (m Measure) Number(name string) float64 {
	x, _ := strconv.ParseFloat(m.Param(name), 64)
	return x
}

// Flag returns a flag parameter.
func (m Measure) Flag(name string) bool { return m.Param(name) == "True" }

// Gains returns a parameter with gains by grade, or nil.
func (m Measure) Gains(name string) map[int]float64 {
	gains, _ := parseGains(m.Param(name))
	return gains
}

// Labels returns the labels that the measure names: the positive label, or the labels that it averages. It returns nil for other measures.
func (m Measure) Labels() []string {
	if positive := m.Param("positive"); positive != "" {
		return []string{positive}
	}
	if list := m.Param("labels"); list != "" && m.Scale() == nil {
		return strings.Split(list, ",")
	}
	return nil
}

// FormatFault says why the measure cannot be computed for runs in the format. It returns "" if the measure can be computed.
func (m Measure) FormatFault(format string) string {
	for _, p := range m.Params {
		if only := familyOf(m.Kind, m.Name).parameter(p.Name).format; only != "" && only != format {
			return fmt.Sprintf("%s is only for the format %s: leave it out", p.Name, only)
		}
	}
	return ""
}

// Depth returns the cutoff as a rank. It returns 0 without a cutoff, and for a level of recall, which has a point or an exponent.
func (m Measure) Depth() int {
	n, _ := strconv.Atoi(m.Cutoff)
	return n
}

// Recall returns the cutoff of IPrec, from 0 to 1.
func (m Measure) Recall() float64 {
	x, _ := strconv.ParseFloat(m.Cutoff, 64)
	return x
}

// familyOf returns the family of a kind with the name or alias, or nil.
func familyOf(kind Kind, name string) *Family {
	if e := EvaluatorOf(kind); e != nil {
		return e.family(name)
	}
	return nil
}

// parameter returns the parameter with the name, or a zero Parameter.
func (f *Family) parameter(name string) Parameter {
	for _, p := range f.Parameters {
		if p.Name == name {
			return p
		}
	}
	return Parameter{}
}

// parser reads a measure from left to right.
type parser struct {
	evaluator *EvaluatorKind
	rest      string // the unread part
}

func (p *parser) measure() (Measure, error) {
	name := p.match(word)
	f := p.evaluator.family(name)
	if f == nil {
		return Measure{}, p.evaluator.unknownName(name + p.rest)
	}
	params, err := p.params(f, name)
	if err != nil {
		return Measure{}, err
	}
	if len(f.oneOf) > 0 && !f.hasOne(params) { // F1 has no default: whichever average we chose, some readers would expect the other
		return Measure{}, f.missingChoice()
	}
	for _, given := range params {
		known := f.parameter(given.Name)
		has := func(name string) bool {
			return slices.ContainsFunc(params, func(other Param) bool { return other.Name == name })
		}
		if known.with != "" && !has(known.with) {
			return Measure{}, fmt.Errorf("%s of %s goes with %s: give that too", given.Name, f.Name, known.with)
		}
		if has(known.without) {
			return Measure{}, fmt.Errorf("%s of %s excludes %s: give one of them", given.Name, f.Name, known.without)
		}
	}
	m := Measure{Kind: p.evaluator.Kind, Name: f.Name, Params: params}
	if m.Cutoff, err = p.cutoff(f); err != nil {
		return Measure{}, err
	}
	for i, label := range m.Labels() {
		if slices.Index(m.Labels(), label) < i {
			return Measure{}, fmt.Errorf("labels of %s has %q twice: name each label once", f.Name, label)
		}
	}
	if p.rest != "" {
		return Measure{}, fmt.Errorf("%q is left over after the measure; write it as Name(parameter=value)@cutoff", p.rest)
	}
	return m, nil
}

// params reads the optional brackets. It returns the parameters that were given and the parameter that the name implies, in the family's
// order and without default values.
func (p *parser) params(f *Family, name string) ([]Param, error) {
	given := map[string]string{}
	for open := p.take('('); open && !p.take(')'); {
		if len(given) > 0 && !p.take(',') {
			return nil, fmt.Errorf("expected a comma or ) before %q", p.rest)
		}
		name := p.match(word)
		known := f.parameter(name)
		if name == "" || known.Name == "" {
			return nil, f.lacks(name)
		}
		if !p.take('=') {
			return nil, fmt.Errorf("parameters are named: write %s=value", name)
		}
		text, err := p.value()
		if err != nil {
			return nil, err
		}
		if _, twice := given[name]; twice {
			return nil, fmt.Errorf("%s is given twice", name)
		}
		if given[name], err = known.canonical(text); err != nil {
			return nil, err
		}
	}
	if preset := f.presets[name]; preset.Name != "" && given[preset.Name] == "" {
		given[preset.Name] = preset.Value
	}
	var params []Param
	for _, known := range f.Parameters {
		if value, ok := given[known.Name]; ok && value != known.Default {
			params = append(params, Param{known.Name, value})
		}
	}
	return params, nil
}

// missingChoice is the error for a measure without exactly one of the parameters of oneOf. The last of them names a label or a type.
func (f *Family) missingChoice() error {
	last := f.oneOf[len(f.oneOf)-1]
	if len(f.oneOf) == 1 {
		return fmt.Errorf("%[1]s needs %[2]s: %[1]s(%[2]s=LABEL)", f.Name, last)
	}
	return fmt.Errorf("%[1]s needs exactly one of %[2]s: %[1]s(average=macro) or %[1]s(%[3]s=LABEL), for example", f.Name,
		strings.Join(f.oneOf, ", "), last)
}

// hasOne reports whether exactly one of the parameters of oneOf was given.
func (f *Family) hasOne(params []Param) bool {
	n := 0
	for _, p := range params {
		if slices.Contains(f.oneOf, p.Name) {
			n++
		}
	}
	return n == 1
}

// unknownParameter is the error for a parameter that a measure lacks.
type unknownParameter struct{ message string }

func (e unknownParameter) Error() string { return e.message }

// lacks is the error for a parameter that the measure lacks.
func (f *Family) lacks(name string) error {
	if len(f.Parameters) == 0 {
		return unknownParameter{f.Name + " takes no parameters"}
	}
	return unknownParameter{fmt.Sprintf("%s has no parameter %q; it has %s, written as name=value", f.Name, name, f.parameterNames())}
}

func (f *Family) parameterNames() string {
	return strings.Join(lists.Map(f.Parameters, func(p Parameter) string { return p.Name }), ", ")
}

// cutoff reads the optional @ and cutoff, and checks it against the family's rule.
func (p *parser) cutoff(f *Family) (string, error) {
	if !p.take('@') {
		switch f.Cutoff {
		case RequiredDepth:
			return "", fmt.Errorf("%[1]s needs a cutoff: %[1]s@10, for example", f.Name)
		case RequiredRecall:
			return "", fmt.Errorf("%[1]s needs a level of recall: %[1]s@0.1, for example", f.Name)
		default:
			return "", nil
		}
	}
	text := strings.TrimSpace(p.rest)
	p.rest = ""
	switch f.Cutoff {
	case NoCutoff:
		return "", fmt.Errorf("%s has no cutoff; leave @%s out", f.Name, text)
	case RequiredRecall:
		x, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(x) || x < 0 || x > 1 {
			return "", fmt.Errorf("%s@%s: the level of recall is a number from 0 to 1", f.Name, text)
		}
		return formatNumber(x), nil
	default:
		n, err := strconv.Atoi(text)
		if deepest := cmp.Or(f.deepest, maxDepth); err != nil || n < 1 || n > deepest {
			return "", fmt.Errorf("%s@%s: the cutoff is a whole number from 1 to %d", f.Name, text, deepest)
		}
		return strconv.Itoa(n), nil
	}
}

// The parts of a measure's text.
var (
	word   = regexp.MustCompile(`^\w*`)
	bare   = regexp.MustCompile(`^[^,()@='" \t]*`)
	braces = regexp.MustCompile(`^\{[^{}]*\}`)
	quote  = regexp.MustCompile(`(?s)^(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")`)
	escape = regexp.MustCompile(`(?s)\\(.)`)
)

// match skips space and reads the text that the pattern matches, or "".
func (p *parser) match(pattern *regexp.Regexp) string {
	p.rest = strings.TrimSpace(p.rest)
	text := pattern.FindString(p.rest)
	p.rest = p.rest[len(text):]
	return text
}

// take reads the character c and the space around it. It reports whether c came next.
func (p *parser) take(c byte) bool {
	trimmed := strings.TrimSpace(p.rest)
	if trimmed == "" || trimmed[0] != c {
		return false
	}
	p.rest = strings.TrimSpace(trimmed[1:])
	return true
}

// value reads a bare value, a value in braces, or a value in single or double quotes. A backslash escapes a quote or backslash.
func (p *parser) value() (string, error) {
	if text := p.match(quote); text != "" {
		return escape.ReplaceAllString(text[1:len(text)-1], "$1"), nil
	}
	if strings.HasPrefix(p.rest, "'") || strings.HasPrefix(p.rest, `"`) {
		return "", fmt.Errorf("the quote before %s is never closed", p.rest[1:])
	}
	if text := p.match(braces); text != "" {
		return text, nil
	}
	return p.match(bare), nil
}
