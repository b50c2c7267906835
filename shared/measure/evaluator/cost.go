package evaluator

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"assay/shared/lists"
	"assay/shared/measure"
	"assay/shared/plural"
)

const (
	// MaxSteps is how many steps the evaluation of one run may take, if it has as much as the truth.
	MaxSteps = 20_000_000_000
	// muchSteps is how many are told to the organizers.
	muchSteps = 1_000_000_000
	// stepTime is about how long a step takes.
	stepTime = 4 * time.Nanosecond
	// namedMeasures is how many measures a message names.
	namedMeasures = 3
)

// Cost returns what organizers are told about the time that the evaluation of one run takes: nothing where that is little, and an error
// where it is more than is allowed.
func (t *Truth) Cost() []measure.Diagnostic {
	n := t.Steps()
	if n < muchSteps {
		return nil
	}
	lasts := (time.Duration(n) * stepTime).Round(time.Second)
	d := measure.Diagnostic{Severity: measure.Warning, Message: fmt.Sprintf(
		"evaluating one run takes about %d million steps, about %v, for %s", n/1_000_000, lasts, t.counted())}
	if n > MaxSteps {
		d.Severity = measure.Error
		d.Message += fmt.Sprintf("; expected at most %d million steps: leave out %s, or a part of the truth", MaxSteps/1_000_000, t.costliest())
	}
	return []measure.Diagnostic{d}
}

// counted says what the steps follow from.
func (t *Truth) counted() string {
	return fmt.Sprintf("%s and %s", t.of.Extent, plural.Count(len(t.measures), "measure"))
}

// costliest names the measures that take most steps by themselves.
func (t *Truth) costliest() string {
	alone := func(m measure.Measure) int { return t.of.Steps([]measure.Measure{m}) }
	sorted := slices.SortedStableFunc(slices.Values(t.measures), func(a, b measure.Measure) int { return cmp.Compare(alone(b), alone(a)) })
	sorted = sorted[:min(len(sorted), namedMeasures)]
	return "measures such as " + strings.Join(lists.Map(sorted, measure.Measure.String), ", ")
}
