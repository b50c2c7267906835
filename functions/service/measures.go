package service

import (
	"fmt"
	"strings"

	"assay/shared/computation/measure"
)

// describeMeasures returns the definitions, conventions and limits of all evaluators in Markdown, for readers of the API's documentation.
func describeMeasures() string {
	var b strings.Builder
	for _, e := range measure.Evaluators {
		fmt.Fprintf(&b, "\n\nMeasures of %s: %s\n\n", e.Kind, strings.Join(e.Conventions, " "))
		for _, f := range e.Families {
			fmt.Fprintf(&b, "* `%s`: %s\n", f.Name, strings.Join(append([]string{f.Definition}, f.Conventions...), " "))
		}
		b.WriteString("\nAt most")
		for i, l := range e.Limits {
			fmt.Fprintf(&b, "%s %d %s", map[bool]string{false: ",", true: ""}[i == 0], l.Most, l.Of)
		}
		b.WriteString(".")
	}
	return b.String()
}
