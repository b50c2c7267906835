package conversion_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"assay/functions/tools/conversion"
	"assay/shared/computation/measure"
	"assay/shared/computation/measure/measuretest"
	"assay/shared/computation/measure/steps"
)

// TestValues_ConvertIntoEachOther converts files of labels, numbers, texts and scores, with other names of fields.
func TestValues_ConvertIntoEachOther(t *testing.T) {
	for name, c := range map[string]struct {
		kind       measure.Kind
		from, to   string
		id, value  string
		text, want string
	}{
		"labels":       {measure.Classification, "csv", "jsonl", "ID", "Label", "Label;ID\na;1\n", `{"id":"1","v":"a"}` + "\n"},
		"names":        {measure.Classification, "csv", "csv", "ID", "Label", "Label,,ID\n\"a,b\",0,1\n", "id,v\n1,\"a,b\"\n"},
		"numbers":      {measure.Regression, "csv", "jsonl", "id", "y", "id;y\n1;2,5\n", `{"id":"1","v":2.5}` + "\n"},
		"sets":         {measure.Multilabel, "csv", "jsonl", "id", "y", "id,y\n1,a|b\n2,\n", `{"id":"1","v":["a","b"]}` + "\n" + `{"id":"2","v":[]}` + "\n"},
		"scores":       {measure.Probabilities, "csv", "jsonl", "id", "y", "id,no,yes\n1,0.25,0.75\n", `{"id":"1","v":{"no":0.25,"yes":0.75}}` + "\n"},
		"one score":    {measure.Probabilities, "csv", "jsonl", "id", "y", "id,y\n1,0.25\n", `{"id":"1","v":0.25}` + "\n"},
		"a list":       {measure.Text, "json", "jsonl", "id", "text", "[\n {\"id\": 1,\n \"text\": \"a\"}]", `{"id":1,"v":"a"}` + "\n"},
		"a dictionary": {measure.Text, "json", "jsonl", "id", "text", `{"1": "a", "2": "b"}`, `{"id":"1","v":"a"}` + "\n" + `{"id":"2","v":"b"}` + "\n"},
		"columns of labels": {measure.Multilabel, "csv", "jsonl", "id", "labels", "id,a,b\n1,1,0\n2,0.0,True\n3,0,0\n",
			`{"id":"1","v":["a"]}` + "\n" + `{"id":"2","v":["b"]}` + "\n" + `{"id":"3","v":[]}` + "\n"},
		"arrays in fields": {measure.Multilabel, "csv", "jsonl", "id", "y", "id;y\n1;\"[\"\"a\"\"]\"\n", `{"id":"1","v":["a"]}` + "\n"},
		"joined labels":    {measure.Multilabel, "jsonl", "jsonl", "id", "y", `{"id":1,"y":"a|b"}`, `{"id":1,"v":["a","b"]}` + "\n"},
		"sets over lines":  {measure.Multilabel, "json", "jsonl", "id", "y", "{\"1\": [\n\"a\",\n\"b\"\n]}", `{"id":"1","v":["a","b"]}` + "\n"},
		"signed texts":     {measure.Regression, "csv", "jsonl", "id", "y", "id,y\n1,+2.5\n", `{"id":"1","v":2.5}` + "\n"},
		"lines of texts":   {measure.Text, "jsonl", "csv", "id", "text", `{"id":1,"text":"a\nb"}`, "id,v\n1,\"a\nb\"\n"},
		"lines of sets":    {measure.Multilabel, "jsonl", "csv", "id", "y", `{"id":1,"y":["a","b"]}`, "id,v\n1,a|b\n"},
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
		"[1]":        `f error: value 1 of the file: the object has no "y"; expected it in every line`,
		`[{"id":1}]`: `f error: value 1 of the file: the object has no "y"; expected it in every line`,
		`{"1":null}`: `f error: value 1 of the file: "y" is null; expected a string or number or true or false or array or object`,
		`{"1":["a","b"]}`: "f error: value 1 of the file: the value is a list; expected one label for each id. If the lists have the ids, write " +
			"a line for each id",
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

// TestValues_HaveTheKindOfTheEvaluator refuses values that the evaluator could not read, and names fields that it leaves out.
func TestValues_HaveTheKindOfTheEvaluator(t *testing.T) {
	const list = "the value is a list; expected one cluster for each id. If the lists have the ids, write a line for each id"
	for name, c := range map[string]struct {
		kind       measure.Kind
		from, text string
		want       string
	}{
		"clusters with their ids": {measure.Clustering, "json", "{\"c0\": [\n\"1\"]}", "f error: value 1 of the file: " + list},
		"a label for a number":    {measure.Regression, "csv", "id,y\n1,war\n", `f:2 error: "y" is "war"; expected a number, which regression needs`},
		"a list of Python": {measure.Multilabel, "csv", "id,y\n1,\"['war', 'art']\"\n", `f:2 error: the value "['war', 'art']" is a list as ` +
			"Python prints it; join its labels with |, or write it with json.dumps"},
		"a set of Python": {measure.Multilabel, "jsonl", `{"id":1,"y":["{'war'}"]}`, `f:1 error: the value "{'war'}" is a list as ` +
			"Python prints it; join its labels with |, or write it with json.dumps"},
		"a number in a column of labels": {measure.Multilabel, "csv", "id,a,b\n1,1,2\n", `f:2 error: the column "b" has "2"; expected 1 or 0 in the ` +
			`column of each label, or one column "y" with all labels`},
		"a label for scores":   {measure.Probabilities, "jsonl", `{"id":1,"y":{"a":"b"}}`, `f:1 error: the score of the label "a" is "\"b\""; expected a number`},
		"a number in a list":   {measure.Text, "jsonl", `{"id":1,"y":[1]}`, `f:1 error: an element of "y" is a number; expected a string`},
		"one column of labels": {measure.Multilabel, "csv", "id,y,b\n1,1,0\n", leftOut + `"b"; only "id" and "y" are converted`},
		"another field":        {measure.Classification, "csv", "id,y,confidence\n1,a,0.5\n", leftOut + `"confidence"; only "id" and "y" are converted`},
		"other members":        {measure.Classification, "jsonl", `{"id":1,"y":"a","p":1}`, leftOut + `"p"; only "id" and "y" are converted`},
		"other members of a list": {measure.Classification, "json", `[{"id":1,"y":"a","p":1}]`, `f warning: the file has other fields, which are left ` +
			`out: "p"; only "id" and "y" are converted`},
	} {
		t.Run(name, func(t *testing.T) {
			v := conversion.Values{Kind: c.kind, From: measure.Format{Kind: c.from, IDField: "id", ValueField: "y"},
				To: measure.Format{Kind: "jsonl", IDField: "id", ValueField: "y"}}
			diagnostics, err := v.Convert(t.Context(), new(strings.Builder), measuretest.File("f", c.text))
			if err != nil {
				t.Error(err)
			}
			measuretest.Expect(t, diagnostics, c.want)
		})
	}
}

const leftOut = "f:1 warning: the file has other fields, which are left out: "

// TestValues_CountTheirSteps gives files less steps than they take: a step for each byte of JSON, and for each byte of the names of columns
// that a record is written with.
func TestValues_CountTheirSteps(t *testing.T) {
	const budget = 1 << 20
	name := strings.Repeat("n", 64<<10)
	over := errors.New("too many steps")
	for from, text := range map[string]string{
		"csv":  "id," + name + ",b\n" + strings.Repeat("1,0,1\n", 20),
		"json": `{"1":{` + strings.Repeat(" ", budget) + `"a":1}}`,
	} {
		for _, to := range []string{"csv", "jsonl"} {
			counter := steps.New(budget, func(context.Context) error { return over })
			v := conversion.Values{Kind: measure.Probabilities, From: measure.Format{Kind: from, IDField: "id", ValueField: "y"},
				To: measure.Format{Kind: to, IDField: "id", ValueField: "y"}}
			_, err := v.Convert(steps.With(t.Context(), counter), io.Discard, measuretest.File("f", text))
			if !errors.Is(err, over) {
				t.Errorf("%s to %s: %v after %d steps", from, to, err, counter.Total())
			}
		}
	}
}
