package predictions

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/measuretest"
)

func TestReadRun_ReturnsErrorsOfFiles(t *testing.T) {
	broken := errors.New("broken")
	for _, format := range []measure.Format{jsonLabels, csvLabels} {
		var report measure.Report
		files := []measure.File{{Name: "truth", Content: io.MultiReader(strings.NewReader("id,label\n"), iotest.ErrReader(broken))}}
		if _, err := ReadGold(t.Context(), format, Labels, files, &report); !errors.Is(err, broken) {
			t.Errorf("%s: %v, want %v", format.Kind, err, broken)
		}
		content := map[string]string{measure.JSONL: `{"id":1,"label":2}`, measure.CSV: "id,label\n1,2\n"}[format.Kind]
		truth := soundTruth(t, format, Labels, measuretest.File("truth", content))
		if _, err := truth.ReadRun(t.Context(), files, &report); !errors.Is(err, broken) {
			t.Errorf("%s: %v, want %v", format.Kind, err, broken)
		}
	}
}

// TestReadGold_ExplainsRepeatedIDs names exchanged fields only if most items repeat an id, and every item has a label or cluster of its
// own.
func TestReadGold_ExplainsRepeatedIDs(t *testing.T) {
	const exchanged = `; no value of "label" comes twice: exchange "id" and "label" if "label" has the ids`
	twice := func(line int) string {
		return fmt.Sprintf(`truth:%d error: the id "x" was given before, on line 2; expected every id once`, line)
	}
	for content, want := range map[string]string{
		"x,1\nx,2\nx,3\n":      twice(3) + exchanged + " (lines 3 and 4)",
		"x,1\nx,2\nx,3\ny,4\n": twice(3) + " (lines 3 and 4)",
		"x,1\ny,2\nx,3\n":      twice(4),
		"x,1\nx,2\nx,2\n":      twice(3) + " (lines 3 and 4)",
	} {
		for _, values := range []Values{Labels, Clusters, Classes} {
			_, report := readTruth(t, csvLabels, values, measuretest.File("truth", "id,label\n"+content))
			measuretest.Expect(t, report.Diagnostics(), want)
		}
	}
}

// TestReadRun_ReportsFaults reads each content as a run for a truth with the ids a and b and the labels x and y, or the numbers 1 and 2.
func TestReadRun_ReportsFaults(t *testing.T) {
	const rest = `{"id":"a","label":"x"}` + "\n"
	tests := []struct {
		name    string
		kind    string
		values  Values
		content string
		want    []string
	}{
		{"not JSON", measure.JSONL, Labels, rest + "id,label\n" + `{"id":"b","label":"y"}` + "\n" + `{"id":"b"`, []string{
			`run:2 error: the line is not JSON; expected an object like {"id": ..., "label": ...}; it looks like CSV: convert it to JSON ` +
				"lines, with such an object in each line",
			`run:4 error: the line is not a JSON object: unexpected end of JSON input, at byte 9; expected one whole object in each line; ` +
				"an object over several lines has to be on one, and a file whose last line is cut short has to be written again",
		}},
		{"two objects in a line", measure.JSONL, Labels, rest + `{"id":"b","label":"y"} {"id":"c","label":"y"}`, []string{
			`run:2 error: the line is not a JSON object: invalid character '{' after top-level value, at byte 24; expected one whole object in each line`,
		}},
		{"a comma after an object", measure.JSONL, Labels, rest + `{"id":"b","label":"y"},`, []string{
			`run:2 error: the line is not a JSON object: invalid character ',' after top-level value, at byte 23; expected one whole object in ` +
				`each line; a comma follows the object: leave it out`,
		}},
		{"not objects", measure.JSONL, Labels, `["a","x"]` + "\n" + `"a"` + "\nnull\ntrue\n17", []string{
			`run:1 error: the line is an array; expected an object like {"id": ..., "label": ...}; write such an object for each item, on a line of its own`,
			`run:2 error: the line is a string; expected an object like {"id": ..., "label": ...}`,
			`run:3 error: the line is null; expected an object like {"id": ..., "label": ...}`,
			`run:4 error: the line is true; expected an object like {"id": ..., "label": ...}`,
			`run:5 error: the line is a number; expected an object like {"id": ..., "label": ...}`,
		}},
		{"members missing, wrong or twice", measure.JSONL, Labels,
			`{}` + "\n" + `{"id":"a"}` + "\n" + `{"id":null,"label":["x"]}` + "\n" + `{"id":true,"label":{}}` + "\n" +
				`{"id":"b","label":"x","la\u0062el":"y"}` + "\n" + `{"id":"","label":""}` + "\n" + `{"id":"b","label":"y"}`, []string{
				`run:1 error: the object has no "id"; expected it in every line`,
				`run:1 error: the object has no "label"; expected it in every line`,
				`run:2 error: the object has no "label", only "id"; expected it in every line`,
				`run:3 error: "id" is null; expected a string or number`,
				`run:3 error: "label" is an array; expected a string or number or true or false` + unbracketed,
				`run:4 error: "id" is true; expected a string or number`,
				`run:4 error: "label" is an object; expected a string or number or true or false`,
				`run:5 error: the object has "la\u0062el" twice; expected it once`,
				`run:6 error: "label" is empty; expected a value`,
				`run:6 error: "id" is empty; expected a value`,
			}},
		{"escapes that are no characters", measure.JSONL, Labels, `{"id":"a\ud800","label":"\udc00\ud800"}` + "\n" + `{"id":"a","label":"x\u0000"}` +
			"\n" + `{"id":"b","label":"\ud83d\ude00"}`, []string{
			`run:1 error: "id" has an escape that stands for half a character or for a zero byte: "a\ud800"; write the character itself`,
			`run:1 error: "label" has an escape that stands for half a character or for a zero byte: "\udc00\ud800"; write the character itself`,
			`run:2 error: "label" has an escape that stands for half a character or for a zero byte: "x\u0000"; write the character itself`,
			`run:3 warning: the truth has no label "😀"; every prediction of it counts as wrong`,
		}},
		{"unknown, repeated and missing ids", measure.JSONL, Labels, rest + `{"id":"A","label":"x"}` + "\n\n" + `{"id":"a","label":"y"}`, []string{
			`run:2 error: the truth has no id "A"; expected only ids of the truth`,
			`run:4 error: the id "a" was given before, on line 1; expected every id once`,
			`run error: there is no prediction for 1 of 2 ids of the truth: "b"; expected one for each`,
		}},
		{"a label that is new is reported once", measure.JSONL, Labels, `{"id":"a","label":"z"}` + "\n" + `{"id":"c","label":"z"}` + "\n" +
			`{"id":"b","label":"x"}`, []string{
			`run:1 warning: the truth has no label "z"; every prediction of it counts as wrong`,
			`run:2 error: the truth has no id "c"; expected only ids of the truth`,
		}},
		{"no label is known", measure.JSONL, Labels, `{"id":"a","label":"X"}` + "\n" + `{"id":"b","label":"z"}`, []string{
			`run:1 warning: the truth has no label "X"; every prediction of it counts as wrong; the likely cause: "X" differs from "x" only in upper and lower case, and both are compared byte by byte`,
			`run:2 warning: the truth has no label "z"; every prediction of it counts as wrong`,
			`run error: none of the labels predicted ("X", "z") is among the 2 of the truth ("x", "y"); check the field "label"; the likely cause: "X" differs from "x" only in upper and lower case, and both are compared byte by byte`,
		}},
		{"ids in another spelling", measure.CSV, Labels, "id,label\n a,x\nb,y\n", []string{
			`run:2 error: the truth has no id " a"; expected only ids of the truth; the likely cause: " a" differs from "a" only in blanks before or after it, and both are compared byte by byte`,
			`run error: there is no prediction for 1 of 2 ids of the truth: "a"; expected one for each`,
		}},
		{"ids of other files", measure.CSV, Labels, "id,label\nc,x\nd,y\n", []string{
			`run:2 error: the truth has no id "c"; expected only ids of the truth; the ids of the truth are "a", "b"`,
			`run:3 error: the truth has no id "d"; expected only ids of the truth`,
		}},
		{"ids with paths", measure.CSV, Labels, "id,label\n/data/a.txt,x\n/data/b.txt,y\n", []string{
			`run:2 error: the truth has no id "/data/a.txt"; expected only ids of the truth; the likely cause: "/data/a.txt" is "a" of the truth with "/data/" before it and ".txt" after it: leave that out of each id`,
			`run:3 error: the truth has no id "/data/b.txt"; expected only ids of the truth`,
		}},
		{"texts too long", measure.JSONL, Labels, `{"id":"` + strings.Repeat("é", 600) + `","label":"` + strings.Repeat("x", 1025) + `"}` + "\n" + rest +
			`{"id":"b","label":"y"}`, []string{
			`run:1 error: "label" has 1025 bytes ("` + strings.Repeat("x", 60) + `"...); expected at most 1024`,
			`run:1 error: "id" has 1200 bytes ("` + strings.Repeat("é", 30) + `"...); expected at most 1024`,
		}},
		{"nothing", measure.JSONL, Labels, " \n\n", []string{
			`run error: the file is empty or has no examples; expected one for each line, with the fields "id" and "label"`,
		}},
		{"numbers in jsonl", measure.JSONL, Numbers, `{"id":"a","label":"1"}` + "\n" + `{"id":"b","label":1e400}`, []string{
			`run:1 error: "label" is a string; expected a number: write it without quotes`,
			`run:2 error: "label" is "1e400", which is too large for a double-precision number; expected at most 1.7e308`,
		}},
		{"numbers in csv", measure.CSV, Numbers, "id,label\na,one\nb,1.2.3\n", []string{
			`run:2 error: "label" is "one"; expected a finite decimal number such as -1.5 or 2e-3`,
			`run:3 error: "label" is "1.2.3"; expected a finite decimal number such as -1.5 or 2e-3`,
		}},
		{"csv header without the fields", measure.CSV, Labels, "ID;labels\na;x\n", []string{
			`run:1 error: the first line names no field "id"; it has "ID", "labels", and fields are separated by commas, tabs or semicolons; ` +
				`"ID" is not "id", because names are compared byte by byte: rename it`,
			`run:1 error: the first line names no field "label"; it has "ID", "labels", and fields are separated by commas, tabs or semicolons`,
		}},
		{"a printed table", measure.CSV, Labels, "   id label\n0   a     x\n1   b     y\n", []string{
			`run error: the file is a table that pandas printed, which leaves rows out and rounds numbers; expected csv with the fields "id" ` +
				`and "label": write it with to_csv(FILE, index=False)`,
		}},
		{"a printed table as jsonl", measure.JSONL, Labels, "   id label\n0   a     x\n", []string{
			`run error: the file is a table that pandas printed, which leaves rows out and rounds numbers; expected JSON lines like ` +
				`{"id": ..., "label": ...}: write it with to_json(FILE, orient="records", lines=True)`,
		}},
		{"csv header with a field twice", measure.CSV, Labels, "id,label,id\na,x,a\n", []string{
			`run:1 error: the first line names the field "id" twice; expected it once`,
		}},
		{"csv records of separators", measure.CSV, Labels, "id,label\na,x\n,\nb,y\n,\n", []string{
			`run:3 error: the line has only separators, as spreadsheets write an empty row: leave it out (lines 3 and 5)`,
		}},
		{"csv header only", measure.CSV, Labels, "id,label\n", []string{
			`run error: the file is empty or has no examples; expected one for each line, with the fields "id" and "label"`,
		}},
		{"csv without anything", measure.CSV, Labels, "", []string{
			`run error: the file is empty or has no examples; expected one for each line, with the fields "id" and "label"`,
		}},
		{"csv records that are not like the header", measure.CSV, Labels, "id,label\na\na,x,\n\"a\n\n\",x\nb\n\n,x\nb,\na,x\n", []string{
			`run:2 error: the record has 1 field, and the first line has 2; expected as many (lines 2 and 7)`,
			`run:3 error: the record has 3 fields, and the first line has 2; expected as many; a separator ends the line: leave it out`,
			`run:4 error: the truth has no id "a\n\n"; expected only ids of the truth`,
			`run:9 error: "id" is empty; expected a value`,
			`run:10 error: "label" is empty; expected a value`,
		}},
		{"csv quotes", measure.CSV, Labels, "id,label\na\"b,x\n\"a\"b,x\na,x\n\"b,y\nb,y\n", []string{
			`run:2 error: a quote stands within a field that does not begin with one; put the whole field in quotes, and write a quote within it twice`,
			`run:3 error: a quoted field does not end with a quote before a separator or the end of the line; close it, and write a quote within it twice (lines 3 and 5)`,
		}},
		{"a merge conflict in csv", measure.CSV, Labels, "id,label\na,x\n<<<<<<< HEAD\nb,x\n=======\nb,y\n>>>>>>> other\n", []string{
			`run:3 error: the line is a mark of a merge conflict in Git, whose two sides stand after another: resolve the conflict`,
		}},
		{"a merge conflict in jsonl", measure.JSONL, Labels, rest + "<<<<<<< HEAD\n=======\n" + `{"id":"b","label":"y"}` + "\n>>>>>>> other\n", []string{
			`run:2 error: the line is a mark of a merge conflict in Git, whose two sides stand after another: resolve the conflict (lines 2, 3 and 5)`,
		}},
		{"csv lines keep their numbers after refused ones", measure.CSV, Labels, "id,label\n\x00\n\xff\nc,x\na,x\nb,y\n", []string{
			`run:2 error: the line has a zero byte, so this is not a text file; send it as plain UTF-8 text, or that text compressed with gzip`,
			`run:3 error: the line is not valid UTF-8; save the file as UTF-8`,
			`run:4 error: the truth has no id "c"; expected only ids of the truth`,
		}},
		{"csv record that starts above its fault", measure.CSV, Labels, "id,label\nb,y\na,\"x\n\n\"\n\"c\n\",x\n", []string{
			`run:3 warning: the truth has no label "x\n\n"; every prediction of it counts as wrong; the likely cause: "x\n\n" differs from "x" only in blanks before or after it, and both are compared byte by byte`,
			`run:6 error: the truth has no id "c\n"; expected only ids of the truth`,
		}},
	}
	truths := map[Values]*Gold{
		Labels:  soundTruth(t, csvLabels, Labels, measuretest.File("truth", "id,label\na,x\nb,y\n")),
		Numbers: soundTruth(t, csvLabels, Numbers, measuretest.File("truth", "id,label\na,1\nb,2\n")),
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			truth := *truths[test.values]
			truth.format.Kind = test.kind
			_, report := readRun(t, &truth, measuretest.File("run", test.content))
			measuretest.Expect(t, report.Diagnostics(), test.want...)
		})
	}
}

func TestReadTruth_ReportsFaults(t *testing.T) {
	tests := []struct {
		name  string
		files []measure.File
		want  []string
	}{
		{"no file", nil, []string{` error: there is no file; expected at least one`}},
		{"repeated ids", []measure.File{measuretest.File("one", "id,label\na,x\na,x\n"), measuretest.File("two", "id,label\n\na,y\n")}, []string{
			`one:3 error: the id "a" was given before, on line 2; expected every id once`,
			`two:3 error: the id "a" was given before, on line 2 of one; expected every id once`,
		}},
		{"lines left out", []measure.File{measuretest.File("one", "id,label\na,x\n"), measuretest.File("two", "id,label\n\nb,x\nc,x\n\nd,x\n"),
			measuretest.File("three", "id,label\nd,x\nc,x\nb,x\na,x\n")}, []string{
			`three:2 error: the id "d" was given before, on line 6 of two; expected every id once`,
			`three:3 error: the id "c" was given before, on line 4 of two; expected every id once`,
			`three:4 error: the id "b" was given before, on line 3 of two; expected every id once`,
			`three:5 error: the id "a" was given before, on line 2 of one; expected every id once`,
		}},
		{"an empty file among others", []measure.File{measuretest.File("one", "id,label\na,\n"), measuretest.File("two", "id,label\n"),
			measuretest.File("three", "id,label\nb,x\n")}, []string{
			`one:2 error: "label" is empty; expected a value`,
			`two error: the file is empty or has no examples; expected one for each line, with the fields "id" and "label"`,
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, report := readTruth(t, csvLabels, Labels, test.files...)
			measuretest.Expect(t, report.Diagnostics(), test.want...)
		})
	}
}

// TestReadRun_CountsEachMissingId expects as many faults as there are ids without a prediction, and unknown ids.
func TestReadRun_CountsEachMissingId(t *testing.T) {
	for name, c := range map[string]struct {
		truth, run string
		want       int
		first      string
	}{
		"some":        {"a,x\nb,x\nc,x\n", "a,x\n", 2, `there is no prediction for 2 of 3 ids of the truth, the first of them "b"; expected one for each`},
		"with causes": {"a,x\nb,x\n", "a ,x\nb ,x\n", 2, `the truth has no id "a "; expected only ids of the truth; the likely cause…`},
		"many": {strings.Repeat("a", 40) + ",x\n" + numbered(40), numbered(0) + strings.Repeat("a", 40) + ",x\n", 40,
			`there is no prediction for 40 of 41 ids of the truth, the first of them "0"; expected one for each`},
	} {
		t.Run(name, func(t *testing.T) {
			truth := soundTruth(t, csvLabels, Labels, measuretest.File("truth", "id,label\n"+c.truth))
			_, report := readRun(t, truth, measuretest.File("run", "id,label\n"+c.run))
			all := report.Diagnostics()
			start, cut := strings.CutSuffix(c.first, "…")
			first := all[0].Message
			explained := first == c.first || cut && strings.HasPrefix(first, start)
			if measure.Faults(all) != c.want || report.Errors() != c.want || !explained {
				t.Errorf("%d faults: %q", measure.Faults(all), measuretest.Lines(all))
			}
		})
	}
}

// numbered returns n lines with the ids from 0.
func numbered(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "%d,x\n", i)
	}
	return text.String()
}

// unbracketed ends the fault of an array in the place of one value.
const unbracketed = "; each id has one value, so write it without brackets"

// TestReadArrays_ShowsASpan says what goes into the array of an object, and that spans in CSV are written again.
func TestReadArrays_ShowsASpan(t *testing.T) {
	var report measure.Report
	take := func(string, int, int, []byte, []byte) string { return "" }
	format := measure.Format{Kind: measure.JSONL, IDField: "id", ValueField: "spans"}
	files := []measure.File{measuretest.File("run", "id,start,end\n")}
	if _, err := ReadArrays(t.Context(), format, measure.Options{}, take, files, &report); err != nil {
		t.Error(err)
	}
	measuretest.Expect(t, report.Diagnostics(), `run:1 error: the line is not JSON; expected an object like {"id": ..., "spans": [{"start": 0, `+
		`"end": 4, "type": "PER"}]}; it looks like CSV: convert it to JSON lines, with such an object in each line`)
}
