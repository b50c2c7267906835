package inputs

import (
	"fmt"
	"slices"
	"strings"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/scoring"
	"assay/shared/language/lists"
	"assay/shared/language/problem"
)

// checkMeasures checks and stores the measures to compute. Without requested measures it takes the defaults of the truth's kind.
func (r *Results) checkMeasures(asked ResultsRequest) error {
	r.kind, r.TruthVersion = r.Truth.Settings.Kind, r.Truth.version
	names := asked.Measures
	if len(names) == 0 {
		names = measure.EvaluatorOf(r.kind).Defaults
		if asked.One {
			names = names[:1]
		}
	}
	s := r.Truth.Settings
	r.resolver.ReadAs(s)
	s.Measures = names
	fields := scoring.Check(s)
	for i, f := range fields {
		fields[i].Pointer = asked.MeasurePointer + strings.TrimPrefix(f.Pointer, "/evaluator/measures")
		if asked.One {
			fields[i].Pointer = asked.MeasurePointer
		}
		if t := asked.Truth; t != nil && t.Kind+t.DatasetID == "" {
			fields[i].Append(assumed("/truth"))
		}
	}
	if err := problem.Check(fields); err != nil {
		return err
	}
	r.Measures = lists.Map(names, r.canonical)
	return nil
}

// canonical returns the canonical name of a measure. It returns a text that is no measure unchanged.
func (r *Results) canonical(name string) string {
	if m, err := measure.Parse(r.kind, name); err == nil {
		return m.String()
	}
	return name
}

// matchMeasures stores the requested measures and reports those that the evaluations lack.
func (r *Results) matchMeasures(asked ResultsRequest) (unknown problem.Fields) {
	if len(r.columns) == 0 {
		unknown.Add(asked.MeasurePointer, "you see no measure of all these runs: name runs whose values you see")
		return unknown
	}
	switch {
	case len(asked.Measures) > 0:
	case asked.One:
		asked.Measures = r.columns[:1]
	default:
		asked.Measures = r.columns
	}
	for i, name := range asked.Measures {
		name = r.canonical(name)
		r.Measures = append(r.Measures, name)
		if slices.Contains(r.columns, name) {
			continue
		}
		pointer := asked.MeasurePointer
		if !asked.One {
			pointer = fmt.Sprintf("%s/%d", asked.MeasurePointer, i)
		}
		unknown.Add(pointer,
			"%q is none of the measures that the runs were evaluated with: %s. Name one of these. Only the organizers, and callers who may read "+
				"the runs and send a truth, can have others computed", name, strings.Join(r.columns, ", "))
	}
	return unknown
}

// LowerIsBetter reports whether lower values of the measure are better.
func (r *Results) LowerIsBetter(name string) bool {
	if m, err := measure.Parse(r.kind, name); err == nil {
		return !m.HigherIsBetter()
	}
	return r.lower[name]
}

// IsGeometric reports whether the measure is a geometric mean over topics.
func (r *Results) IsGeometric(name string) bool {
	m, err := measure.Parse(r.kind, name)
	return err == nil && m.IsGeometric()
}
