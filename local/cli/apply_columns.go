package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"

	"assay/shared/domain/record"
	"assay/shared/language/lists"
)

// nameMeasures gives measures and columns the names and the members with which the server answers, so that only differences are sent.
func nameMeasures(wanted, has object) {
	d := record.DatasetDraft{Evaluator: memberAs[record.Evaluator](has, "evaluator")}
	e, ok := wanted["evaluator"].(map[string]any)
	if ok {
		d.Evaluator = memberAs[record.Evaluator](wanted, "evaluator")
	}
	columns, fits := decoded[[]record.Column](wanted["columns"])
	d.Columns = columns
	d.UseCanonicalNames()
	if ok && len(d.Evaluator.Measures) > 0 {
		wanted["evaluator"] = maps.Clone(e)
		wanted["evaluator"].(map[string]any)["measures"] = lists.Map(d.Evaluator.Measures, func(name string) any { return name })
	}
	if fits && wanted["columns"] != nil { // The server says what is wrong with others.
		wanted["columns"] = memberAs[any](object{"columns": d.ShownColumns()}, "columns")
	}
}

// decoded returns the value of a file in its type. It reports false if the value has another type or unknown members.
func decoded[T any](of any) (value T, fits bool) {
	text, err := json.Marshal(of)
	strict := json.NewDecoder(bytes.NewReader(text))
	strict.DisallowUnknownFields()
	if errors.Join(err, strict.Decode(&value)) != nil {
		return *new(T), false
	}
	return value, true
}
