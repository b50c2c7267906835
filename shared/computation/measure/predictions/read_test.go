package predictions

import (
	"fmt"
	"slices"
	"testing"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/measuretest"
)

var (
	jsonLabels = formatOf(measure.JSONL, "label")
	csvLabels  = formatOf(measure.CSV, "label")
)

// formatOf returns a format with the id in the field "id".
func formatOf(kind, valueField string) measure.Format {
	return measure.Format{Kind: kind, IDField: "id", ValueField: valueField}
}

func readTruth(t testing.TB, format measure.Format, values Values, files ...measure.File) (*Gold, *measure.Report) {
	t.Helper()
	var report measure.Report
	truth, err := ReadGold(t.Context(), format, values, files, &report)
	if err != nil {
		t.Fatal(err)
	}
	return truth, &report
}

func soundTruth(t testing.TB, format measure.Format, values Values, files ...measure.File) *Gold {
	t.Helper()
	truth, report := readTruth(t, format, values, files...)
	if report.Failed() {
		t.Fatal(measuretest.Lines(report.Diagnostics()))
	}
	return truth
}

func readRun(t testing.TB, truth *Gold, files ...measure.File) (*Run, *measure.Report) {
	t.Helper()
	var report measure.Report
	run, err := truth.ReadRun(t.Context(), files, &report)
	if err != nil {
		t.Fatal(err)
	}
	return run, &report
}

// pairs writes the joined labels as "true label > predicted label", in the truth's order.
func (r *Run) pairs() []string {
	var list []string
	names := r.Labels()
	for i, code := range r.Codes() {
		list = append(list, names[r.truth.Codes()[i]]+" > "+names[code])
	}
	return list
}

func TestReadRun_JoinsByID(t *testing.T) {
	tests := []struct {
		name       string
		format     measure.Format
		truth, run string
	}{
		{"jsonl, other order and members", jsonLabels,
			`{"id": "a", "label": "x"}` + "\n" + `{"id": "b", "label": "y"}` + "\n" + `{"id": "c", "label": "x"}` + "\n",
			`{"score": 0.5, "label": "x", "id": "c"}` + "\n" + `{"label":"y","id":"a","why":{"id":[1,"}",{}]}}` + "\n\n" +
				`  {"id":"b","label":"z"}`},
		{"jsonl, escapes and odd spaces", jsonLabels,
			"{\"id\":\"a\",\"label\":\"x\"}\r\n\t\r\n{\"\\u0069d\":\"b\",\"label\":\"y\"}\r\n{ \"id\"\t: \"c\" , \"label\" : \"x\" }\r\n",
			`{"id":"\u0063","la\u0062el":"x","\"id":"no"}` + "\n" + `{"id":"a","label":"\u0079","id ":0}` + "\n" + `{"id":"b","label":"z"}`},
		{"jsonl, gaps between files are none", jsonLabels,
			`{"id":"a","label":"x"}` + "\n" + `{"id":"b","label":"y"}` + "\n" + `{"id":"c","label":"x"}`,
			"\xef\xbb\xbf" + `{"id":"a","label":"y"}` + "\n" + `{"id":"b","label":"z"}` + "\n" + `{"id":"c","label":"x"}`},
		{"csv, other order and fields", csvLabels,
			"id,label\na,x\nb,y\nc,x\n",
			"score,label,id\n0.5,x,c\r\n\n\"0,1\",y,a\r\n,z,b"},
		{"csv, quoted fields over several lines", csvLabels,
			"\"label\",note,id\nx,\"one\ntwo\"\"\n\",a\n\"y\",,b\nx,,c\n",
			"\xef\xbb\xbfid,label\na,\"y\"\nb,z\nc,x\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			truth := soundTruth(t, test.format, Labels, measuretest.File("truth", test.truth))
			run, report := readRun(t, truth, measuretest.File("run", test.run))
			if report.Failed() {
				t.Fatal(measuretest.Lines(report.Diagnostics()))
			}
			if got, want := run.pairs(), []string{"x > y", "y > z", "x > x"}; !slices.Equal(got, want) {
				t.Errorf("joined %q, want %q", got, want)
			}
		})
	}
}

func TestReadRun_NumbersNewLabels(t *testing.T) {
	truth := soundTruth(t, csvLabels, Labels, measuretest.File("truth", "id,label\na,x\nb,y\nc,x\nd,y\ne,x\n"))
	run, _ := readRun(t, truth, measuretest.File("run", "id,label\na,z\nb,w\nc,w\nd,z\ne,x\n"))
	if got, want := run.pairs(), []string{"x > z", "y > w", "x > w", "y > z", "x > x"}; !slices.Equal(got, want) {
		t.Errorf("joined %q, want %q", got, want)
	}
}

func TestReadRun_CountsUnknownIDs(t *testing.T) {
	truth := soundTruth(t, csvLabels, Labels, measuretest.File("truth", "id,label\na,x\n"))
	text := "id,label\na,x\n"
	var want []string
	for i := range 200 {
		text += fmt.Sprintf("u%d,x\n", i)
		if i < 11 {
			want = append(want, fmt.Sprintf(`run:%d error: the truth has no id "u%d"; expected only ids of the truth`, i+3, i))
		}
	}
	want[10] += "; the other lines have the same kind of fault with other values (lines 13 to 202)"
	_, report := readRun(t, truth, measuretest.File("run", text))
	measuretest.Expect(t, report.Diagnostics(), want...)
	if report.Errors() != 200 || measure.Faults(report.Diagnostics()) != 200 {
		t.Errorf("%d errors, %d faults", report.Errors(), measure.Faults(report.Diagnostics()))
	}
}

func TestReadRun_ComparesTexts(t *testing.T) {
	truth := soundTruth(t, jsonLabels, Labels, measuretest.File("truth", `{"id":1,"label":0}`+"\n"+`{"id":"1.0","label":true}`+"\n"+
		`{"id":-2e3,"label":"0"}`))
	if got, want := truth.Labels(), []string{"0", "true"}; !slices.Equal(got, want) {
		t.Errorf("labels are %q, want %q", got, want)
	}
	run, report := readRun(t, truth, measuretest.File("run", `{"id":"-2e3","label":0}`+"\n"+`{"id":1.0,"label":"true"}`+"\n"+
		`{"id":"1","label":0.0}`))
	if got, want := run.pairs(), []string{"0 > 0.0", "true > true", "0 > 0"}; !slices.Equal(got, want) {
		t.Errorf("joined %q, want %q", got, want)
	}
	want := []string{`run:3 warning: the truth has no label "0.0"; every prediction of it counts as wrong; the likely cause: "0.0" differs from "0" only in how a number is written, and both are compared byte by byte`}
	measuretest.Expect(t, report.Diagnostics(), want...)
	for _, same := range []measure.Format{jsonLabels, csvLabels} {
		truth.format = same
		content := "id,label\n1,0\n1.0,true\n-2e3,0\n"
		if same.Kind == measure.JSONL {
			content = `{"id":1,"label":0}` + "\n" + `{"id":1.0,"label":true}` + "\n" + `{"id":-2e3,"label":"0"}`
		}
		run, report := readRun(t, truth, measuretest.File("run", content))
		if report.Failed() || !slices.Equal(run.Codes(), truth.Codes()) {
			t.Errorf("%s: %v %v", same.Kind, run.Codes(), measuretest.Lines(report.Diagnostics()))
		}
	}
}

func TestReadRun_OfSeveralFiles(t *testing.T) {
	truth := soundTruth(t, csvLabels, Labels, measuretest.File("one", "id,label\na,x\n"), measuretest.File("two", "label,id\ny,b\n"))
	run, report := readRun(t, truth, measuretest.File("first", "id,label\nb,y\n"), measuretest.File("second", "id,label\na,x\n"))
	if report.Failed() || !slices.Equal(run.pairs(), []string{"x > x", "y > y"}) {
		t.Error(run.pairs(), measuretest.Lines(report.Diagnostics()))
	}
	_, report = readRun(t, truth, measuretest.File("first", "id,label\nb,y\n"), measuretest.File("second", "id,label\nb,x\n"))
	want := []string{
		`second:2 error: the id "b" was given before, on line 2 of first; expected every id once`,
		` error: there is no prediction for 1 of 2 ids of the truth: "a"; expected one for each`,
	}
	measuretest.Expect(t, report.Diagnostics(), want...)
}

func TestReadTruth_ReadsNumbers(t *testing.T) {
	good := map[string]float64{"1": 1, "-1.5": -1.5, "2e-3": 0.002, "0.1": 0.1, "1e308": 1e308, "-0": 0, "1e-400": 0,
		"123456789012345678": 123456789012345678}
	for written, want := range good {
		truth := soundTruth(t, formatOf(measure.JSONL, "y"), Numbers, measuretest.File("truth", `{"id":1,"y":`+written+`}`))
		if got := truth.Numbers()[0]; got != want {
			t.Errorf("jsonl %s is %v, want %v", written, got, want)
		}
		truth = soundTruth(t, formatOf(measure.CSV, "y"), Numbers, measuretest.File("truth", "id,y\n1,"+written+"\n"))
		if got := truth.Numbers()[0]; got != want {
			t.Errorf("csv %s is %v, want %v", written, got, want)
		}
	}
	for _, written := range []string{"1e309", "-1e309", `"1"`, "null", "true", "[1]", "NaN", "Infinity", "0x10", "1_0", "+1", ".5"} {
		if truth, report := readTruth(t, formatOf(measure.JSONL, "y"), Numbers,
			measuretest.File("truth", `{"id":1,"y":`+written+`}`)); !report.Failed() {
			t.Errorf("jsonl %s is read as %v", written, truth.Numbers())
		}
	}
}
