package evaluator

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"assay/shared/measure"
	"assay/shared/problem"
)

// Check says what is wrong with the settings; nothing, when ReadTruth can use them. Pointers are those of a dataset.
func Check(s Settings) []problem.Field {
	problems := CheckFormat(s.Kind, s.Format)
	if evaluators[s.Kind].formats == nil {
		return problems // which measures there are depends on the kind
	}
	if len(s.Measures) == 0 {
		problems = append(problems, problem.Field{Pointer: "/evaluator/measures", Detail: "needs at least one measure"})
	}
	first := map[string]string{} // canonical form: as first given
	for i, text := range s.Measures {
		pointer := fmt.Sprintf("/evaluator/measures/%d", i)
		m, err := measure.Parse(s.Kind, text)
		if err != nil {
			problems = append(problems, problem.Field{Pointer: pointer, Detail: err.Error()})
			continue
		}
		if earlier, twice := first[m.String()]; twice {
			problems = append(problems, problem.Field{Pointer: pointer, Detail: fmt.Sprintf("%s is the same measure as %s; name it once", text, earlier)})
			continue
		}
		first[m.String()] = text
	}
	if s.PrimaryMeasure != "" && !slices.Contains(s.Measures, s.PrimaryMeasure) {
		m, err := measure.Parse(s.Kind, s.PrimaryMeasure)
		if _, known := first[m.String()]; err != nil || !known {
			problems = append(problems, problem.Field{Pointer: "/evaluator/primaryMeasure", Detail: "must be one of measures: give one, or " + problem.Unset})
		}
	}
	return problems
}

// CheckFormat says what is wrong with the format of runs for that kind of evaluator. Pointers are those of a dataset.
func CheckFormat(kind measure.Kind, f Format) []problem.Field {
	allowed := evaluators[kind].formats
	if allowed == nil {
		return []problem.Field{{Pointer: "/evaluator/kind", Detail: fmt.Sprintf("%q is not built in; use one of %v", kind, measure.Kinds())}}
	}
	if !slices.Contains(allowed, f.Kind) {
		return []problem.Field{{Pointer: "/runFormat/kind", Detail: fmt.Sprintf("%q does not go with %s; use %s", f.Kind, kind, strings.Join(allowed, " or "))}}
	}
	var problems []problem.Field
	for _, field := range []struct{ pointer, name string }{{"/runFormat/idField", f.IDField}, {"/runFormat/valueField", f.ValueField}} {
		switch {
		case f.Kind == TRECRun && field.name != "":
			problems = append(problems, problem.Field{Pointer: field.pointer, Detail: "the fields of a trec-run have no names: " + problem.Unset})
		case f.Kind != TRECRun && field.name == "":
			problems = append(problems, problem.Field{Pointer: field.pointer, Detail: "is needed for " + f.Kind})
		}
	}
	if f.IDField != "" && f.IDField == f.ValueField {
		problems = append(problems, problem.Field{Pointer: "/runFormat/valueField", Detail: "must be another field than idField"})
	}
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

// invalid is the error of a caller that did not heed Check.
func invalid(problems []problem.Field) error {
	var list []string
	for _, p := range problems {
		list = append(list, p.Pointer+" "+p.Detail)
	}
	return errors.New("evaluator settings: " + strings.Join(list, "; "))
}
