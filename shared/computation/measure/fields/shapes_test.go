package fields_test

import (
	"strings"
	"testing"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/fields"
	"assay/shared/computation/measure/lines"
)

// TestShapeOf_SaysWhatTheFileIsAndHowToHealIt reads the first lines of files of other programs, for a reader of csv and of JSON lines.
func TestShapeOf_SaysWhatTheFileIsAndHowToHealIt(t *testing.T) {
	const then = ", and convert it to the expected format"
	for text, want := range map[string]struct{ is, csv, jsonl string }{
		`{"id":{"0":"a","1":"b"},"label":{"0":"x","1":"y"}}`:                    {`in the form "columns" of pandas`, "to_csv(FILE, index=False)", `to_json(FILE, orient="records", lines=True)`},
		`{"columns":["id","label"],"index":[0,1],"data":[["a","x"],["b","y"]]}`: {`in the form "split" of pandas`, "to_csv", "to_json"},
		`{"schema":{"fields":[]},"data":[{"index":0,"id":"a","label":"x"}]}`:    {`in the form "table" of pandas`, "to_csv", "to_json"},
		`{"0":{"id":"a","label":"x"},"1":{"id":"b","label":"y"}}`:               {`in the form "index" of pandas`, "to_csv", "to_json"},
		"   id label\n0  a  x\n": {"a table that pandas printed", "to_csv", "to_json"},
		"[\n [\n  {\"document\": \"a\"}\n ]\n]\n": {
			"the documents of each cluster", "(echo id,label; jq", `{"id": .document, "label": "\($c)"}`,
		},
		"{'id': 'a', 'label': 'x'}\n{'id': 'b'}\n": {"of Python", "csv.DictWriter", "JSON has double quotes"},
		"[{'id': 'a', 'label': 'x'}]\n":            {"of Python", "csv.DictWriter", "JSON has double quotes"},
		"{\"id\":\"a\"},\n{\"id\":\"b\"},\n": {
			"a comma after each", "sed 's/,$//' does" + then, "sed 's/,$//' does",
		},
		"T1\tLOC 4 8\tlake\nT2\tLOC 9 12\tsea\n": {
			"annotations of brat", "with its id and all its spans", "with its id and all its spans",
		},
		"__label__x a b\n__label__y c\n": {
			"lines of fastText", "under a line with the names", "without __label__",
		},
		"% data\n\n@RELATION r\n@ATTRIBUTE id string\n":                         {"an ARFF file", "rows after @data", then},
		"              precision    recall  f1-score   support\n\n x 1 1 1 2\n": {"a classification report", "for each item", "for each item"},
		"\"id\" \"label\"\n\"1\" \"a\" \"x\"\n\"2\" \"b\" \"y\"\n":              {"the row names of R", "row.names = FALSE", then},
		"\"id\",\"label\"\n\"1\",\"a\",\"x\"\n\"2\",\"b\",\"y\"\n":              {"the row names of R", "row.names = FALSE", then},
		"id,label\n0,a,x\n1,b,y\n":                                              {"the index of pandas", "index=False", then},
		"\"id,label\"\n\"a,x\"\n\"b,\"\"y\"\"\"\n":                              {"each stand in quotes", `sed 's/^"//; s/"$//; s/""/"/g'`, then},
		"id,label\n\"a,x\"\n\"b,y\"\n":                                          {"each stand in quotes", "s/^", then},
		"{\"id\":\"a\"},\n{\"id\":\"b\"}\n":                                     {"a comma after each", "does" + then, "does"},
		"{\"id\":\"a\"}\n{\"id\":\"b\"},\n":                                     {"JSON", "with its id and its value", ""},
		"id,label\na\tx\nb\ty, or z\n": {
			"separated by commas, and whose other lines are separated by tabs", "same character", then,
		},
		"id|label\na|x\n":                        {"separated by bars (|)", "a comma or a tab", then},
		"| id | label |\n|---|---|\n| a | x |\n": {"separated by bars (|)", "a comma or a tab", then},
		"id|labels\na|x\n":                       {},
		"0,1\na,x\nb,y\n":                        {"numbers and no names", "df.columns", "df.columns"},
		"0.000e+00\n0.000e+00\n1.000e+00\n": {
			"a list of numbers without ids", "the id before each value", "with its id",
		},
		"{\"cluster\":\"x\",\"members\":[\"a\"]}\n": {"JSON", "with its id and its value", ""},
		"[\n{\"id\":\"a\"}\n]\n":                    {"JSON", "with its id and its value", ""},
		"The lake is deep, and cold.\nNo.\nThe sea is not a lake.\n": {"one text a line without ids",
			"write id,label as the first line, and before each text the id of its item and a comma",
			"write such an object for each text, with the id of its item"},
		"The lake is deep, and cold.\nNo.\nOh, no, it is a lake.\n": {},
		"EU B-ORG\nsays O\n":                 {"CoNLL", "measures of spans", "measures of spans"},
		"EU B-ORG\nsays O\n\nPeter B-PER\n":  {"CoNLL", "measures of spans", "measures of spans"},
		"EU\tB-ORG\n\nPeter\tO\n":            {"CoNLL", "measures of spans", "measures of spans"},
		"id,label\nEU NNP B-ORG\nsays V O\n": {"CoNLL", "measures of spans", "measures of spans"},
		"1\tB-ORG\n2\tO\n":                   {}, // ids and labels
		"EU O\nsays O\n":                     {},
		"EU B-ORG\nsays nothing\n":           {},
		"1 Q0 d-1 1 2.5 x\n":                 {"a ranking in the format of TREC", "measures of rankings", "measures of rankings"},
		"1 0 d-1 1\n1 0 d-2 -1\n": {
			"relevance judgments in the format of TREC", "measures of rankings", "measures of rankings",
		},
		"1 2 3 4\n5 6 7 8\n":                          {},
		"1,the lake is deep\n2,the sea is cold\n":     {},
		"the label of the lake\nx y z a b\n":          {},
		"a text of the lake\tx\nthe sea is cold\ty\n": {},
		"id,label\na,x\n":                             {},
		"a,x\nb,y\n":                                  {},
		"0,1\n5,0\n":                                  {}, // items whose first id is 0
		"0,1\n1,0\n2,1\n":                             {}, // items with the ids from 0
		"id,text\n1,Hello, world\n2,Bye, world\n":     {}, // commas in texts
		"id,label\n1,a,x\n1,b,y\n":                    {},
		"id,label\na,x\nb\ty\n":                       {},
		"{'id': 'a'}\n{\"id\": 'b'}\n":                {"of Python", "csv.DictWriter", "JSON has double quotes"},
		"T1\tLOC 4 8\tlake\nno annotation\n":          {},
		"1.5\nx\n":                                    {},
		"\n \n":                                       {},
		"":                                            {},
	} {
		for kind, heal := range map[string]string{measure.CSV: want.csv, measure.JSONL: want.jsonl} {
			got := fields.ShapeOf([]byte(text), fields.Expected{Kind: kind, Names: []string{"id", "label"}}).Fault
			isKnown := heal != ""
			if isKnown != (got != "") || isKnown && !(strings.Contains(got, want.is) && strings.Contains(got, heal)) {
				t.Errorf("%q as %s: %q; want %q and %q", text, kind, got, want.is, heal)
			}
		}
	}
}

// TestShapeOf_SaysWhatIsExpected expects the format of the reader in the fault.
func TestShapeOf_SaysWhatIsExpected(t *testing.T) {
	for want, e := range map[string]fields.Expected{
		`expected csv with the fields "id" and "label": `:             {Kind: measure.CSV, Names: []string{"id", "label"}},
		`expected csv with the field "id": `:                          {Kind: measure.CSV, Names: []string{"id"}},
		"expected csv with the names of its fields in the first line": {Kind: measure.CSV},
		`expected JSON lines like {"id": ...}: `:                      {Kind: measure.JSONL, Sample: `{"id": ...}`},
		"expected JSON lines, with an object in each line: ":          {Kind: measure.JSONL},
		"expected a token and its tag in each line: ":                 {Kind: measure.CoNLL},
	} {
		if got := fields.ShapeOf([]byte("__label__x a\n"), e).Fault; !strings.Contains(got, want) {
			t.Errorf("%s; want %s", got, want)
		}
	}
}

// TestShapeOf_TakesNamesForNoText takes a first line with the name of a field, in any case, for the names of the fields.
func TestShapeOf_TakesNamesForNoText(t *testing.T) {
	for _, name := range []string{"docID", "docid", "DOCID"} {
		text := name + " and the label of it\nthe sea is very cold\n"
		if got := fields.ShapeOf([]byte(text), fields.Expected{Kind: measure.CSV, Names: []string{"docID", "label of"}}).Fault; got != "" {
			t.Errorf("%q: %s", text, got)
		}
	}
}

// TestShapeOf_JudgesOnlyFirstLines does not look for faults far behind.
func TestShapeOf_JudgesOnlyFirstLines(t *testing.T) {
	annotations := strings.Repeat("T1\tLOC 4 8\tlake\n", 1000)
	if fields.ShapeOf([]byte(annotations+"no annotation\n"), fields.Expected{Kind: measure.CSV}).Fault == "" {
		t.Error("the first lines have no shape")
	}
}

// TestRecords_LookForTheShapeOnce reads a file each record of which has a fault, and expects little memory for each.
func TestRecords_LookForTheShapeOnce(t *testing.T) {
	const all = 1000
	text := "id;label\n" + strings.Repeat("a;b;\n", all)
	faults := 0
	allocations := testing.AllocsPerRun(1, func() {
		faults = 0
		in := lines.NewReader(t.Context(), "f", strings.NewReader(text), new(measure.Report))
		records := fields.NewRecords(in, func(int, string, ...any) { faults++ }, "id", "label")
		records.Header()
		for range records.All() {
			t.Error("a record without a fault")
		}
	})
	if faults != all || allocations > 20*all {
		t.Errorf("%d faults took %.0f allocations", faults, allocations)
	}
}
