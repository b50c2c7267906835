package measure

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"assay/shared/language/lists"
)

// Describe returns everything that the declaration tells organizers about the evaluator and its measures, in Markdown.
func (e *EvaluatorKind) Describe() string {
	var b strings.Builder
	fmt.Fprintf(&b, "A run of `%s`: %s. Its ground truth: %s The formats of runs are %s.",
		e.Kind, e.Definition, e.Truth, joinedCode(e.Formats...))
	if e.ValueField != "" {
		fmt.Fprintf(&b, " The value is usually in the field `%s`.", e.ValueField)
	}
	if e.HasLabels {
		b.WriteString(" A dataset can declare the labels of its ground truth public.")
	}
	fmt.Fprintf(&b, " The default measures are %s.\n\n", joinedCode(e.Defaults...))
	b.WriteString(strings.Join(e.Conventions, " ") + "\n\nMeasures:\n\n")
	for _, f := range e.Families {
		fmt.Fprintf(&b, "* `%s`%s: %s\n", f.Name, f.traits(), strings.Join(append([]string{f.Definition}, f.Conventions...), " "))
	}
	e.describeParameters(&b)
	b.WriteString("\nLimits:\n")
	for _, l := range e.Limits {
		fmt.Fprintf(&b, "\n* At most %d: %s.", l.Most, l.Of)
	}
	return b.String()
}

// traits returns the aliases, cutoff, parameters and direction of a family in parentheses. It returns an empty string if the family has
// only a name and higher values are better.
func (f *Family) traits() string {
	var all []string
	if len(f.Aliases) > 0 {
		all = append(all, "also "+joinedCode(f.Aliases...))
	}
	if f.Cutoff != NoCutoff {
		all = append(all, string(f.Cutoff))
	}
	if len(f.Parameters) > 0 {
		names := lists.Map(f.Parameters, func(p Parameter) string { return p.Name })
		all = append(all, "parameters "+joinedCode(names...))
	}
	if !f.HigherIsBetter {
		all = append(all, "less is better")
	}
	if len(all) == 0 {
		return ""
	}
	return " (" + strings.Join(all, "; ") + ")"
}

// describeParameters writes each definition of a parameter once, with the measures that have it.
func (e *EvaluatorKind) describeParameters(b *strings.Builder) {
	var texts []string
	families := map[string][]string{}
	for _, f := range e.Families {
		for _, p := range f.Parameters {
			text := p.describe()
			if !slices.Contains(texts, text) {
				texts = append(texts, text)
			}
			families[text] = append(families[text], f.Name)
		}
	}
	if len(texts) == 0 {
		return
	}
	b.WriteString("\nParameters:\n\n")
	for _, text := range texts {
		fmt.Fprintf(b, "* %s It is a parameter of %s.\n", text, joinedCode(families[text]...))
	}
}

// describe returns the definition of the parameter and its values.
func (p Parameter) describe() string {
	values := p.Domain
	switch {
	case len(p.Choices) > 0:
		values += " of " + joinedCode(p.Choices...)
	case p.Domain == "scale":
		values += " of at most " + decimal(p.Max) + " labels"
	case p.Open:
		values += " between " + decimal(p.Min) + " and " + decimal(p.Max) + ", and neither of them"
	case p.Min != 0 || p.Max != 0:
		values += " from " + decimal(p.Min) + " to " + decimal(p.Max)
	}
	if p.Default != "" {
		values += "; " + joinedCode(p.Default) + " unless given"
	}
	return joinedCode(p.Name) + " (" + values + "): " + p.Definition + "."
}

// decimal returns a number without an exponent.
func decimal(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// joinedCode returns names as code, separated by commas.
func joinedCode(names ...string) string {
	return "`" + strings.Join(names, "`, `") + "`"
}
