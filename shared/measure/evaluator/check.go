package evaluator

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"assay/shared/lists"
	"assay/shared/measure"
	"assay/shared/problem"
)

// Check says what is wrong with the settings; nothing, when ReadTruth can use them. Pointers are those of a dataset.
func Check(s Settings) problem.Fields {
	problems := CheckFormat(s.Kind, s.Format)
	if evaluators[s.Kind].formats == nil {
		return problems // which measures there are depends on the kind
	}
	problems.AddIf(len(s.Measures) == 0, "/evaluator/measures", "needs at least one measure")
	first := map[string]string{} // canonical form: as first given
	for i, text := range s.Measures {
		pointer := fmt.Sprintf("/evaluator/measures/%d", i)
		m, err := measure.Parse(s.Kind, text)
		if err != nil {
			problems.Add(pointer, "%v", err)
		} else if earlier, twice := first[m.String()]; twice {
			problems.Add(pointer, "%s is the same measure as %s; name it once", text, earlier)
		} else {
			first[m.String()] = text
		}
	}
	if s.PrimaryMeasure != "" && !slices.Contains(s.Measures, s.PrimaryMeasure) {
		m, err := measure.Parse(s.Kind, s.PrimaryMeasure)
		_, known := first[m.String()]
		problems.AddIf(err != nil || !known, "/evaluator/primaryMeasure", "must be one of measures: give one, or "+problem.Unset)
	}
	return problems
}

// CheckFormat says what is wrong with the format of runs for that kind of evaluator. Pointers are those of a dataset.
func CheckFormat(kind measure.Kind, f Format) (problems problem.Fields) {
	allowed := evaluators[kind].formats
	if allowed == nil {
		return []problem.Field{{Pointer: "/evaluator/kind", Detail: fmt.Sprintf("%q is not built in; use one of %v", kind, measure.Kinds())}}
	}
	if !slices.Contains(allowed, f.Kind) {
		return []problem.Field{{Pointer: "/runFormat/kind", Detail: fmt.Sprintf("%q does not go with %s; use %s", f.Kind, kind,
			strings.Join(allowed, " or "))}}
	}
	for _, field := range []struct{ pointer, name string }{{"/runFormat/idField", f.IDField}, {"/runFormat/valueField", f.ValueField}} {
		problems.AddIf(f.Kind == measure.TRECRun && field.name != "", field.pointer, "the fields of a trec-run have no names: "+problem.Unset)
		problems.AddIf(f.Kind != measure.TRECRun && field.name == "", field.pointer, "is needed for %s", f.Kind)
	}
	problems.AddIf(f.IDField != "" && f.IDField == f.ValueField, "/runFormat/valueField", "must be another field than idField")
	return problems
}

// parse returns the measures of settings that pass Check.
func (s Settings) parse() ([]measure.Measure, error) {
	if problems := Check(s); len(problems) > 0 {
		return nil, invalid(problems)
	}
	measures := make([]measure.Measure, len(s.Measures))
	for i, text := range s.Measures {
		var err error
		if measures[i], err = measure.Parse(s.Kind, text); err != nil {
			return nil, err
		}
	}
	return measures, nil
}

// invalid is the error of a caller that did not call Check first.
func invalid(problems []problem.Field) error {
	texts := lists.Map(problems, func(p problem.Field) string { return p.Pointer + " " + p.Detail })
	return errors.New("evaluator settings: " + strings.Join(texts, "; "))
}
