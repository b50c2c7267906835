package service

import (
	"strings"

	"assay/shared/computation/measure"
)

// describeMeasures describes all evaluators and their measures in Markdown, for readers of the API's documentation.
func describeMeasures() string {
	var b strings.Builder
	for i := range measure.Evaluators {
		b.WriteString("\n\n" + measure.Evaluators[i].Describe())
	}
	return b.String()
}
