package inputs

import (
	"fmt"
	"strings"

	"assay/shared/lists"
	"assay/shared/measure"
	"assay/shared/measure/evaluator"
	"assay/shared/problem"
)

// checkMeasures checks the measures that are to be computed.
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
	fields := evaluator.Check(s)
	for i, f := range fields {
		fields[i].Pointer = asked.MeasurePointer + strings.TrimPrefix(f.Pointer, "/evaluator/measures")
		if asked.One {
			fields[i].Pointer = asked.MeasurePointer
		}
		if t := asked.Truth; t != nil && t.Kind+t.DatasetID == "" {
			fields[i].Detail += assumed("/truth")
		}
	}
	if err := problem.Check(fields); err != nil {
		return err
	}
	r.Measures = lists.Map(names, r.canonical)
	return nil
}

// canonical is the canonical name of a measure; another text stays as it is.
func (r *Results) canonical(name string) string {
	if m, err := measure.Parse(r.kind, name); err == nil {
		return m.String()
	}
	return name
}

// matchMeasures finds the measures that are asked for among those of the evaluations, and says which are not there.
func (r *Results) matchMeasures(asked ResultsRequest) (unknown problem.Fields) {
	e := r.Runs[0].evaluation
	switch {
	case len(asked.Measures) > 0:
	case asked.One:
		asked.Measures = []string{e.PrimaryMeasure}
	default:
		asked.Measures = e.Columns
	}
	for i, name := range asked.Measures {
		name = r.canonical(name)
		r.Measures = append(r.Measures, name)
		if _, ok := e.Measures[name]; ok {
			continue
		}
		pointer := asked.MeasurePointer
		if !asked.One {
			pointer = fmt.Sprintf("%s/%d", asked.MeasurePointer, i)
		}
		unknown.Add(pointer,
			"%q is none of those that the runs were evaluated with: %s. Name one of these; others can be computed by the organizers, and by "+
				"who may read the runs and sends a truth along", name, strings.Join(e.Columns, ", "))
	}
	return unknown
}

// LowerIsBetter reports whether the least value of the measure is the best.
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
