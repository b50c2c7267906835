package conversion_test

import (
	"strings"
	"testing"

	"assay/functions/tools/conversion"
	"assay/shared/computation/measure"
	"assay/shared/computation/measure/measuretest"
)

// TestValues_ConvertIntoEachOther converts files of labels, numbers, texts and scores, with other names of fields.
func TestValues_ConvertIntoEachOther(t *testing.T) {
	for name, c := range map[string]struct {
		kind       measure.Kind
		from, to   string
		id, value  string
		text, want string
	}{
		"labels":         {measure.Classification, "csv", "jsonl", "ID", "Label", "Label;ID\na;1\n", `{"id":"1","v":"a"}` + "\n"},
		"names":          {measure.Classification, "csv", "csv", "ID", "Label", "Label,x,ID\n\"a,b\",y,1\n", "id,v\n1,\"a,b\"\n"},
		"numbers":        {measure.Regression, "csv", "jsonl", "id", "y", "id;y\n1;2,5\n", `{"id":"1","v":2.5}` + "\n"},
		"sets":           {measure.Multilabel, "csv", "jsonl", "id", "y", "id,y\n1,a|b\n2,\n", `{"id":"1","v":["a","b"]}` + "\n" + `{"id":"2","v":[]}` + "\n"},
		"scores":         {measure.Probabilities, "csv", "jsonl", "id", "y", "id,no,yes\n1,0.25,0.75\n", `{"id":"1","v":{"no":0.25,"yes":0.75}}` + "\n"},
		"one score":      {measure.Probabilities, "csv", "jsonl", "id", "y", "id,y\n1,0.25\n", `{"id":"1","v":0.25}` + "\n"},
		"a list":         {measure.Text, "json", "jsonl", "id", "text", "[\n {\"id\": 1,\n \"text\": \"a\"}]", `{"id":1,"v":"a"}` + "\n"},
		"a dictionary":   {measure.Text, "json", "jsonl", "id", "text", `{"1": "a", "2": "b"}`, `{"id":"1","v":"a"}` + "\n" + `{"id":"2","v":"b"}` + "\n"},
		"lines of texts": {measure.Text, "jsonl", "csv", "id", "text", `{"id":1,"text":"a\nb"}`, "id,v\n1,\"a\nb\"\n"},
		"lines of sets":  {measure.Multilabel, "jsonl", "csv", "id", "y", `{"id":1,"y":["a","b"]}`, "id,v\n1,a|b\n"},
		"lines of scores": {measure.Probabilities, "jsonl", "csv", "id", "y", `{"id":1,"y":{"a":0.5,"b":0.5}}` + "\n" + `{"id":2,"y":{"b":1,"a":0}}`,
			"id,a,b\n1,0.5,0.5\n2,0,1\n"},
	} {
		t.Run(name, func(t *testing.T) {
			v := conversion.Values{Kind: c.kind, From: measure.Format{Kind: c.from, IDField: c.id, ValueField: c.value},
				To: measure.Format{Kind: c.to, IDField: "id", ValueField: "v"}}
			var out strings.Builder
			diagnostics, err := v.Convert(t.Context(), &out, measuretest.File("f", c.text))
			if err != nil || len(diagnostics) > 0 || out.String() != c.want {
				t.Errorf("%v, %v, got\n%swant\n%s", measuretest.Lines(diagnostics), err, out.String(), c.want)
			}
		})
	}
	for text, want := range map[string]string{
		"[1]":               `f error: value 1 of the file: the object has no "y"; expected it in every line`,
		`[{"id":1}]`:        `f error: value 1 of the file: the object has no "y"; expected it in every line`,
		`{"1":null}`:        `f error: value 1 of the file: "y" is null; expected a string or number or true or false or array or object`,
		`{"1":["a","b"]}`:   `f error: value 1 of the file: "y" has 2 values, and csv has one for each example`,
		"":                  "f error: the file is empty or has no examples",
		`{"1":"a"} {"1":1}`: "f error: text follows the JSON value of the file; if each line is an object, the format is jsonl",
	} {
		v := conversion.Values{Kind: measure.Classification, From: measure.Format{Kind: "json", IDField: "id", ValueField: "y"},
			To: measure.Format{Kind: "csv", IDField: "id", ValueField: "y"}}
		diagnostics, err := v.Convert(t.Context(), new(strings.Builder), measuretest.File("f", text))
		if err != nil {
			t.Error(err)
		}
		measuretest.Expect(t, diagnostics, want)
	}
}

// TestValues_DropNothing refuses values that csv cannot have.
func TestValues_DropNothing(t *testing.T) {
	for _, c := range []struct {
		kind       measure.Kind
		text, want string
	}{
		{measure.Probabilities, `{"id":1,"y":{"a":1}}` + "\n" + `{"id":2,"y":{"a":0,"b":1}}`,
			`f:2 error: "y" has values for "a", "b"; expected the same as in the first example: "a"`},
		{measure.Probabilities, `{"id":1,"y":{"a":1,"b":0}}` + "\n" + `{"id":2,"y":1}`,
			`f:2 error: "y" has values for "y"; expected the same as in the first example: "a", "b"`},
		{measure.Multilabel, `{"id":1,"y":["a|b","c"]}`,
			`f:1 error: the label "a|b" has "|", which separates labels in csv; write jsonl instead`},
	} {
		v := conversion.Values{Kind: c.kind, From: measure.Format{Kind: "jsonl", IDField: "id", ValueField: "y"},
			To: measure.Format{Kind: "csv", IDField: "id", ValueField: "y"}}
		diagnostics, err := v.Convert(t.Context(), new(strings.Builder), measuretest.File("f", c.text))
		if err != nil {
			t.Error(err)
		}
		measuretest.Expect(t, diagnostics, c.want)
	}
}
