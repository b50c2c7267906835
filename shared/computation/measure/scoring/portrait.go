package scoring

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/bounds"
	"assay/shared/computation/measure/fields"
	"assay/shared/computation/measure/steps"
)

// Portrait says what a ground truth (qrels, labels) has, compared with the inputs of its dataset, and which measures no run can bring to
// their best value. It is only for organizers.
type Portrait struct {
	Contents string
	Warnings []string
}

const (
	// maxOwnSteps is the limit for scoring a truth against itself, about two seconds.
	maxOwnSteps = bounds.OwnSteps
	// maxWarnings is the largest number of warnings of a Portrait.
	maxWarnings = bounds.Warnings
	// maxWarning is the largest size of a warning in bytes.
	maxWarning = bounds.Warning
)

// errOwnSteps ends scoring a truth against itself.
var errOwnSteps = errors.New("scoring the truth against itself takes too many steps")

// Portray describes the truth. files are the files of the truth, and inputs the ids of the inputs, or nil if they are unknown. The error
// is about reading a file or about the context.
func (e *Evaluator) Portray(ctx context.Context, files []File, inputs *KnownIDs) (Portrait, error) {
	counter := steps.Of(ctx)
	c := e.truth.Contents(counter)
	if err := counter.Err(); err != nil {
		return Portrait{}, err
	}
	p := Portrait{Contents: c.Text + e.assigned.describe(), Warnings: c.Faults}
	if inputs != nil {
		if err := p.compare(ctx, e, &c, inputs.of, files); err != nil {
			return p, err
		}
	}
	if err := p.scoreItself(ctx, e, &c, files, maxOwnSteps); err != nil {
		return p, err
	}
	if more := len(p.Warnings) - maxWarnings; more > 0 {
		p.Warnings = append(p.Warnings[:maxWarnings-1], fmt.Sprintf("and %d more", more+1))
	}
	for i, text := range p.Warnings {
		if len(text) > maxWarning {
			p.Warnings[i] = strings.ToValidUTF8(text[:maxWarning], "") + " …"
		}
	}
	return p, nil
}

// compare compares the ids of the truth with those of the inputs.
func (p *Portrait) compare(ctx context.Context, e *Evaluator, c *measure.Contents, inputs *measure.Known, files []File) error {
	ids := e.truth.IDs
	if inputs.IDs == nil || ids == nil {
		return p.compareTokens(ctx, inputs, files)
	}
	counter := steps.Of(ctx)
	known := 0
	var unknown []string
	for id := range ids.All {
		if counter.Add(1) != nil {
			return counter.Err()
		}
		switch {
		case inputs.IDs.Has(id):
			known++
		case len(unknown) < fields.Few:
			unknown = append(unknown, id)
		}
	}
	noun, verb := ids.Noun, "are in the truth"
	if noun == "topic" {
		verb = "are judged"
	}
	p.Contents += fmt.Sprintf("; %d of the %d %ss of the inputs %s", known, inputs.IDs.Len, noun, verb)
	more := ids.Len - known
	switch {
	case known == 0 && swapped(counter, c, inputs.IDs):
		p.warn("no %s of the truth is in the inputs, but the values of its other column are: the columns are probably swapped", noun)
	case known == 0:
		p.warn("no %s of the truth is in the inputs: the truth has %s; check that truth and inputs belong together and write ids alike", noun,
			fields.JoinFirst(unknown, more))
	case more > 0:
		p.warn("%d of the %d %ss of the truth are not in the inputs: %s", more, ids.Len, noun, fields.JoinFirst(unknown, more))
	}
	if e.settings.Kind == measure.Spans {
		return p.compareTexts(ctx, inputs, files)
	}
	return counter.Err()
}

// compareTexts compares spans with the texts of the inputs. All warnings that concern a line are about spans.
func (p *Portrait) compareTexts(ctx context.Context, inputs *measure.Known, files []File) error {
	contents, done := Contents(files)
	defer done()
	found, err := inputs.Compare(ctx, contents...)
	for _, d := range found {
		if d.Severity == measure.Warning && d.Line > 0 {
			p.warn("%s of the truth: %s", cmp.Or(d.Extent(), fmt.Sprintf("line %d", d.Line)), d.Message)
		}
	}
	return err
}

// swapped reports whether the other column of the truth has ids of the inputs.
func swapped(counter *steps.Counter, c *measure.Contents, inputs *measure.IDs) bool {
	if c.Values == nil {
		return false
	}
	for value := range c.Values {
		if counter.Add(1) != nil {
			return false
		}
		if inputs.Has(value) {
			return true
		}
	}
	return false
}

// compareTokens compares tokens, which have no ids.
func (p *Portrait) compareTokens(ctx context.Context, inputs *measure.Known, files []File) error {
	contents, done := Contents(files)
	defer done()
	found, err := inputs.Compare(ctx, contents...)
	for _, d := range found {
		if d.Severity == measure.Warning {
			place := ""
			if d.Line > 0 {
				place = fmt.Sprintf(" from line %d on", d.Line)
			}
			p.warn("the tokens of the truth differ from those of the inputs%s", place)
			break
		}
	}
	return err
}

func (p *Portrait) warn(format string, args ...any) {
	p.Warnings = append(p.Warnings, fmt.Sprintf(format, args...))
}

// scoreItself evaluates the truth as a run, and warns of the measures that do not reach their best value. It says so if that takes more
// than maxSteps.
func (p *Portrait) scoreItself(ctx context.Context, e *Evaluator, c *measure.Contents, files []File, maxSteps int64) error {
	if c.Unscored != "" {
		p.leaveUnscored(c.Unscored)
		return nil
	}
	budget := steps.New(maxSteps, func(context.Context) error { return errOwnSteps })
	open := func() ([]measure.File, func()) { return Contents(files) }
	if c.Perfect != nil {
		open = func() ([]measure.File, func()) { return c.Perfect(), func() {} }
	}
	scores, err := e.evaluate(steps.With(ctx, budget), open)
	switch {
	case errors.Is(err, errOwnSteps):
		p.leaveUnscored("it is too large for that")
		return nil
	case err != nil:
		return err
	}
	if fault := measure.FirstError(scores.Diagnostics); fault != nil {
		p.warn("the truth cannot be scored against itself: %s", fault.Message)
		return nil
	}
	for _, m := range e.measures {
		for _, name := range e.names(m) {
			p.compareBest(m, name, scores.Result)
		}
	}
	return nil
}

// leaveUnscored says why the truth is not scored against itself. The reason is no mistake of the organizers, and so no warning.
func (p *Portrait) leaveUnscored(reason string) {
	p.Contents += "; not scored against itself, because " + reason
}

// tolerance is the relative difference from the best value that rounding explains.
const tolerance = 1e-6

// compareBest warns if the own value of a measure, which has the name in results, is not its best value.
func (p *Portrait) compareBest(m measure.Measure, name string, own measure.Result) {
	best, ok := m.Best()
	value := own.Measures[name]
	switch {
	case value == nil:
		p.warn("%s has no value where the truth is scored against itself: %s", name, own.Reasons[name])
	case ok && math.Abs(*value-best) > tolerance*max(1, math.Abs(best)):
		p.warn("%s cannot reach its best value %g: the truth scored against itself gets %s", name, best, fmt.Sprintf("%.4g", *value))
	}
}
