package predictions

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/bounds"
	"assay/shared/computation/measure/measuretest"
)

// TestReadRun_ReportsFaultsOfScores reads each content as a run for a truth with the ids a and b and the labels x and y.
func TestReadRun_ReportsFaultsOfScores(t *testing.T) {
	wide := func(n int) string {
		var b strings.Builder
		b.WriteString("id")
		for i := range n {
			fmt.Fprintf(&b, ",c%d", i)
		}
		return b.String() + "\n"
	}
	tests := map[string]struct {
		kind, content string
		want          []string
	}{
		"other classes": {measure.JSONL, `{"id":"a","label":{"x":1,"y":2}}` + "\n" + `{"id":"b","label":{"x":1,"z":2}}`, []string{
			`run:2 error: the first example has no score for the class "z"; expected the same classes in all`}},
		"labels as classes": {measure.JSONL, `{"id":"a","label":{"x":1}}` + "\n" + `{"id":"b","label":{"y":1}}`, []string{
			`run:2 error: the first example has no score for the class "y"; expected the same classes in all; if the only class of an example ` +
				`is its label, write the label itself`,
			`run warning: the run has scores for classes, but none for "y" of the truth`}},
		"fewer classes": {measure.JSONL, `{"id":"a","label":{"x":1,"y":2}}` + "\n" + `{"id":"b","label":1}`, []string{
			`run:2 error: the example has scores for 0 labels, and the first one for 2; expected the same in all, or one score alone`}},
		"twice at first": {measure.JSONL, `{"id":"a","label":{"x":1,"x":2}}` + "\n", []string{
			`run:1 error: "label" has the class "x" twice; expected every class once`}},
		"twice later": {measure.JSONL, `{"id":"a","label":{"x":1,"y":2}}` + "\n" + `{"id":"b","label":{"y":1,"y":2}}`, []string{
			`run:2 error: "label" has the class "y" twice; expected every class once`}},
		"no numbers": {measure.JSONL, `{"id":"a","label":{"x":"1"}}` + "\n" + `{"id":"b","label":{}}` + "\n" + `{"id":"b","label":[1]}` + "\n" +
			`{"id":"b","label":{"":1}}`, []string{
			`run:1 error: a score of "label" is a string; expected a number: write it without quotes`,
			`run:2 error: "label" has no class; expected a score for each`,
			`run:3 error: "label" is an array; expected a number or object` + unbracketed,
			`run:3 error: the id "b" was given before, on line 2; expected every id once (lines 3 and 4)`,
			`run:4 error: "label" is empty; expected a value`}},
		"scores without labels": {measure.JSONL, `{"id":"a","label":[0.7,0.3]}` + "\n" + `{"id":"b","label":[0.5,0.5]}`, []string{
			`run:1 error: "label" is an array; expected a number or object; an array does not say which label each score has: write an object with ` +
				`the score of each label, such as {"yes": 0.7, "no": 0.3} (lines 1 and 2)`}},
		"no column of a class": {measure.CSV, "id,z,x\na,0.3,0.7\nb,0.5,0.6\n", []string{
			`run:1 warning: the truth has no label "z"; every prediction of it counts as wrong; if the column is no label, leave it out`,
			`run warning: the run has scores for classes, but none for "y" of the truth`}},
		"an unknown class": {measure.CSV, "id,x,z,y\na,1,2,3\nb,3,4,5\n", []string{
			`run:1 warning: the truth has no label "z"; every prediction of it counts as wrong; if the column is no label, leave it out`}},
		"no class is known": {measure.CSV, "id,score\na,1\nb,3\n", []string{
			`run:1 warning: the truth has no label "score"; every prediction of it counts as wrong`,
			`run:1 error: none of the labels predicted ("score") is among the 2 of the truth ("x", "y"); name a single column of scores "label"`}},
		"columns twice": {measure.CSV, "id,x,x\na,1,2\n", []string{`run:1 error: the first line names the class "x" twice; expected it once`}},
		"no column": {measure.CSV, "id\na\n", []string{
			`run:1 error: the first line names 0 classes and no field "label"; expected that field, or a column for each of at most 1000 classes`}},
		"no id": {measure.CSV, "x,y\n1,2\n", []string{
			`run:1 error: the first line names no field "id"; it has "x", "y", and fields are separated by commas, tabs or semicolons; if the ` +
				"first line is an item, write a line with the names of the fields before it"}},
		"many columns": {measure.CSV, wide(bounds.Set + 1), []string{
			`run:1 error: the first line names 1001 classes and no field "label"; expected that field, or a column for each of at most 1000 classes`}},
		"many columns with one name": {measure.CSV, "id" + strings.Repeat(",x", bounds.Set+1) + "\n", []string{ // not compared with each other
			`run:1 error: the first line names 1001 classes and no field "label"; expected that field, or a column for each of at most 1000 classes`}},
		"texts in columns": {measure.CSV, "id,x,y\na,1,two\nb,NaN,1\n", []string{
			`run:2 error: the column "y" has "two"; expected a score, which is a finite decimal number such as 0.75; if "y" is no label, leave ` +
				`its column out`,
			`run:3 error: the column "x" has "NaN"; expected a finite decimal number such as 0.75`}},
		"a percentage in a column": {measure.CSV, "id,x,y\na,10%,0.9\nb,0.5,0.5\n", []string{
			`run:2 error: the column "x" has "10%"; expected a finite decimal number such as 0.75; leave out % and divide by 100`}},
		"a column without a name": {measure.CSV, "id,x,\na,1,2\n", []string{
			`run:1 error: column 3 has no name in the first line; name it like its label, or leave it out`}},
		"an index without a name": {measure.CSV, ",x,y\na,1,2\n", []string{
			`run:1 error: the first line names no field "id"; it has "", "x", "y", and fields are separated by commas, tabs or semicolons; ` +
				`the first column has no name, as pandas writes an index: name it "id", and each other column like its label`}},
		"no column of a label": {measure.CSV, "id,LABEL_0,LABEL_1\na,0.1,0.9\nb,0.4,0.6\n", []string{
			`run:1 warning: the truth has no label "LABEL_0"; every prediction of it counts as wrong; if the column is no label, leave it out`,
			`run:1 warning: the truth has no label "LABEL_1"; every prediction of it counts as wrong; if the column is no label, leave it out`,
			`run:1 error: none of the labels predicted ("LABEL_0", "LABEL_1") is among the 2 of the truth ("x", "y"); name each column of ` +
				`scores like its label`}},
	}
	truth := soundTruth(t, csvLabels, Classes, measuretest.File("truth", "id,label\na,x\nb,y\n"))
	truth.runs = Scores
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			of := *truth
			of.format.Kind = test.kind
			_, report := readRun(t, &of, measuretest.File("run", test.content))
			measuretest.Expect(t, report.Diagnostics(), test.want...)
		})
	}
}

// TestRead_EndlessScoresAreRefused reads files without an end. Each must end with its diagnostic, and take no more memory than its scores.
func TestRead_EndlessScoresAreRefused(t *testing.T) {
	var ids strings.Builder
	ids.WriteString("id,label\n")
	for i := range 20000 {
		fmt.Fprintf(&ids, "%d,c1\n", i)
	}
	truth := soundTruth(t, csvLabels, Classes, measuretest.File("truth", ids.String()))
	truth.runs, truth.limits.scores = Scores, 10_000
	for name, c := range map[string]struct {
		header string
		rest   *measuretest.Endless
		want   string
	}{
		"in all": {"id,c1,c2\n", measuretest.Numbered("", ",1,2\n"),
			"run:5002 error: the examples up to here have more than 10000 scores together"},
		"one for all": {"id,label\n", measuretest.Repeat("1,2\n"), `run:3 error: the id "1" was given before`},
	} {
		t.Run(name, func(t *testing.T) {
			_, report := readRun(t, truth, measure.File{Name: "run", Content: io.MultiReader(strings.NewReader(c.header), c.rest)})
			if all := measuretest.Lines(report.Diagnostics()); c.rest.Bytes > 50<<20 ||
				!slices.ContainsFunc(all, func(line string) bool { return strings.HasPrefix(line, c.want) }) {
				t.Errorf("after %d bytes: %q", c.rest.Bytes, all)
			}
		})
	}
}

func FuzzScoresJSONL(f *testing.F) {
	for _, s := range []string{
		`{"id":"a","label":{"x":1,"y":0.5}}` + "\n" + `{"id":"b","label":{ "\u0079" : 1e-3 , "x":-2}}`,
		`{"id":"a","label":1}` + "\n" + `{"id":"b","label":0.25}`,
		`{"id":"b","label":{"x":{"y":1}}}`,
		`{"id":"a","label":{"x":1,"x":2}}`,
		`{"id":"a","label":{}}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, content string) {
		if strings.HasPrefix(content, "\x1f\x8b") || strings.HasPrefix(content, "\xef\xbb\xbf") {
			return // packed text and byte order marks are the line reader's
		}
		readTruth(t, jsonLabels, Probabilities, measuretest.File("probabilities", content))
		examples := map[string]map[string]float64{}
		for line := range strings.Lines(content) {
			line = strings.Trim(line, " \t\r\n")
			if line == "" {
				continue
			}
			var object map[string]json.RawMessage
			if json.Unmarshal([]byte(line), &object) != nil {
				return
			}
			var id string
			if json.Unmarshal(object["id"], &id) != nil {
				id = string(object["id"])
			}
			row := map[string]float64{}
			if one, err := strconv.ParseFloat(string(object["label"]), 64); err == nil {
				row[""] = one
			} else if json.Unmarshal(object["label"], &row) != nil {
				return
			}
			examples[id] = row
		}
		var ids strings.Builder
		for id := range examples {
			line, _ := json.Marshal(map[string]string{"id": id, "label": "x"})
			ids.Write(append(line, '\n'))
		}
		truth, report := readTruth(t, jsonLabels, Classes, measuretest.File("truth", ids.String()))
		truth.runs = Scores
		if report.Failed() {
			return
		}
		run, report := readRun(t, truth, measuretest.File("run", content))
		if report.Failed() {
			return
		}
		for i := range truth.Len() {
			got := map[string]float64{}
			for j, x := range run.Scores(i) {
				name := ""
				if len(run.Classes()) > 0 {
					name = run.Labels()[run.Classes()[j]]
				}
				got[name] = x
			}
			same := func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }
			if want := examples[truth.ID(i)]; !maps.EqualFunc(got, want, same) {
				t.Fatalf("the scores of %q are %v, want %v", truth.ID(i), got, want)
			}
		}
	})
}

func FuzzScoresCSV(f *testing.F) {
	for _, s := range []string{"id,x,y\na,1,2\n", "y\tid\n1\ta\n", "id,label\na,0.5\n", "id,\"x\n\"\na,1\n", "id,,x\na,1,2\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, content string) {
		truth, report := readTruth(t, csvLabels, Probabilities, measuretest.File("probabilities", content))
		again := soundTruth(t, csvLabels, Classes, measuretest.File("truth", "id,label\na,x\n"))
		again.runs = Scores
		run, ofRun := readRun(t, again, measuretest.File("run", content))
		if !report.Failed() && truth.Len() == 1 && string(truth.ids.at(0)) == "a" && !ofRun.Failed() {
			for _, x := range run.Scores(0) {
				if x < 0 || x > 1 {
					t.Fatalf("%v is a probability", x)
				}
			}
		}
	})
}

// BenchmarkReadScores reads a run of a million examples in another order than its truth.
func BenchmarkReadScores(b *testing.B) {
	const n = 1_000_000
	for _, format := range []measure.Format{jsonLabels, csvLabels} {
		truth := soundTruth(b, format, Labels, measure.File{Name: "truth", Content: strings.NewReader(string(benchmarkFile(format, n, false)))})
		truth.values, truth.runs = Classes, Probabilities
		var text strings.Builder
		if format.Kind == measure.CSV {
			text.WriteString("id,label\n")
		}
		for i := range n {
			i = i * 7919 % n
			if format.Kind == measure.CSV {
				fmt.Fprintf(&text, "example-%07d,%.4f\n", i, float64(i)/n)
			} else {
				fmt.Fprintf(&text, "{\"id\": \"example-%07d\", \"label\": %.4f}\n", i, float64(i)/n)
			}
		}
		b.Run(format.Kind, func(b *testing.B) {
			b.SetBytes(int64(text.Len()))
			b.ReportAllocs()
			for b.Loop() {
				readRun(b, truth, measure.File{Name: "run", Content: strings.NewReader(text.String())})
			}
		})
	}
}
