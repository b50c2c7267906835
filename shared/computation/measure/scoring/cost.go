package scoring

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/bounds"
	"assay/shared/language/lists"
	"assay/shared/language/plural"
)

const (
	// MaxSteps is the limit for evaluating one run that is as large as the truth.
	MaxSteps = bounds.Steps
	// muchSteps is the number of steps from which organizers get a warning.
	muchSteps = 1_000_000_000
	// stepTime is the approximate time of a step.
	stepTime = bounds.StepNanoseconds * time.Nanosecond
	// namedMeasures is the number of measures that a message names.
	namedMeasures = 3
)

// Cost returns a warning for organizers if evaluating one run takes long, or an error if it takes more than MaxSteps.
func (e *Evaluator) Cost() []measure.Diagnostic {
	n := e.Steps()
	if n < muchSteps {
		return nil
	}
	lasts := (time.Duration(n) * stepTime).Round(time.Second)
	d := measure.Diagnostic{Severity: measure.Warning, Message: fmt.Sprintf(
		"evaluating one run takes about %d million steps, about %v, for %s", n/1_000_000, lasts, e.counted())}
	if n > MaxSteps {
		d.Severity = measure.Error
		d.Message += fmt.Sprintf("; expected at most %d million steps: leave out %s, or a part of the truth", MaxSteps/1_000_000, e.costliest())
	}
	return []measure.Diagnostic{d}
}

// counted names the quantities that the steps depend on.
func (e *Evaluator) counted() string {
	extent := e.truth.Extent
	if len(e.halves) > 0 {
		extent += ", both halves"
	}
	return fmt.Sprintf("%s and %s", extent, plural.Count(len(e.measures), "measure"))
}

// costliest names the measures that take the most steps.
func (e *Evaluator) costliest() string {
	steps := func(m measure.Measure) int { return e.steps([]measure.Measure{m}) }
	sorted := slices.SortedStableFunc(slices.Values(e.measures), func(a, b measure.Measure) int { return cmp.Compare(steps(b), steps(a)) })
	sorted = sorted[:min(len(sorted), namedMeasures)]
	return "measures such as " + strings.Join(lists.Map(sorted, measure.Measure.String), ", ")
}
