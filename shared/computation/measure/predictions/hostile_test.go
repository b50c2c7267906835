package predictions

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/bounds"
	"assay/shared/computation/measure/measuretest"
	"assay/shared/testing/nightlytest"

	"pgregory.net/rapid"
)

// TestRead_EndlessFilesAreRefused reads files without an end. Each must end with its diagnostic.
func TestRead_EndlessFilesAreRefused(t *testing.T) {
	const header = "id,label\n"
	tests := []struct {
		name   string
		format measure.Format
		before string
		rest   *measuretest.Endless
		want   string // the beginning of a diagnostic
	}{
		{"faulty lines", jsonLabels, "", measuretest.Repeat("{\n"), "run:1 error"},
		{"overlong lines", jsonLabels, "", measuretest.Repeat(strings.Repeat(`{"id": "a", "label": "xxxxxxxxxxxxxxxxxx"},`, 10_000) + "\n"),
			"run:1 error: the line is longer than 65536 bytes"},
		{"unknown ids", jsonLabels, "", measuretest.Numbered(`{"id":"`, `!","label":"x"}`+"\n"),
			`run:9 error: the truth has no id "9!"`},
		{"one id", csvLabels, header, measuretest.Repeat("1,x\n"), "run:3 error: the id \"1\" was given before, on line 2"},
		{"faulty records", csvLabels, header, measuretest.Repeat("1\n"), "run:2 error: the record has 1 field, and the first line has 2"},
		{"a quote that is never closed", csvLabels, header + "1,x\n\"2,x\n", measuretest.Numbered("", ",x\n"),
			"run:3 error: the record that starts here has a quoted field that is not closed within 4194304 bytes"},
		{"labels", csvLabels, header, &measuretest.Endless{Append: func(text []byte, n int) []byte { return fmt.Appendf(text, "%d,%d\n", n, n) }},
			`run:10002 error: "label" has more than 10000 different labels up to here`},
		{"empty lines of csv", csvLabels, header + "1,x\n", measuretest.Repeat("\n"),
			"run:4194307 error: before this line are 4194304 bytes of empty lines"},
		{"zero bytes", csvLabels, "x", measuretest.Repeat("\x00\n"), "run:1 error: the line has a zero byte"},
	}
	var truthText strings.Builder
	truthText.WriteString("id,label\n")
	for i := range 20000 {
		fmt.Fprintf(&truthText, "%d,x\n", i)
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			truth := soundTruth(t, csvLabels, Labels, measuretest.File("truth", truthText.String()))
			truth.format = test.format
			_, report := readRun(t, truth, measure.File{Name: "run", Content: io.MultiReader(strings.NewReader(test.before), test.rest)})
			all := measuretest.Lines(report.Diagnostics())
			if !slices.ContainsFunc(all, func(line string) bool { return strings.HasPrefix(line, test.want) }) {
				t.Errorf("no diagnostic begins with %q; the last are %q", test.want, all[max(0, len(all)-3):])
			}
			if !report.Failed() || len(report.Diagnostics()) > measure.MaxDiagnostics {
				t.Errorf("%d diagnostics, failed %v", len(report.Diagnostics()), report.Failed())
			}
			if test.rest.Bytes > 50<<20 {
				t.Errorf("read %d bytes before it gave up", test.rest.Bytes)
			}
		})
	}
}

// TestReadRun_OfLongFiles reads files in each format that are longer than any buffer and than the limit of one record.
func TestReadRun_OfLongFiles(t *testing.T) {
	const n = 60_000
	for _, format := range []measure.Format{jsonLabels, csvLabels} {
		truth := soundTruth(t, format, Labels, measure.File{Name: "truth", Content: bytes.NewReader(benchmarkFile(format, n, false))})
		run, report := readRun(t, truth, measure.File{Name: "run", Content: bytes.NewReader(benchmarkFile(format, n, true))})
		if truth.Len() != n || len(report.Diagnostics()) > 0 || !slices.Equal(run.Codes(), truth.Codes()) {
			t.Errorf("%s: %d examples, %q", format.Kind, truth.Len(), measuretest.Lines(report.Diagnostics()))
		}
	}
}

func TestReadTruth_BoundsTheDepthOfJSON(t *testing.T) {
	deep := func(n int) string {
		return `{"x":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `,"id":"a","label":"x"}`
	}
	soundTruth(t, jsonLabels, Labels, measuretest.File("truth", deep(9000)))
	if _, report := readTruth(t, jsonLabels, Labels, measuretest.File("truth", deep(20000))); !report.Failed() {
		t.Error("20000 levels are read")
	}
	if _, report := readTruth(t, jsonLabels, Labels, measuretest.File("truth", strings.Repeat("[", 60000))); !report.Failed() {
		t.Error("60000 open brackets are read")
	}
}

func TestReadTruth_IsBounded(t *testing.T) {
	content := "id,label\na,x\nb,y\nc,x\nd,z\n"
	tests := []struct {
		name   string
		limits limits
		want   string
	}{
		{"examples", limits{examples: 3, labels: 9, ids: 9}, "truth:5 error: this is one example too many; expected at most 3"},
		{"labels", limits{examples: 9, labels: 2, ids: 9},
			`truth:5 error: "label" has more than 2 different labels up to here; check that it is the field meant, or use regression for numbers`},
		{"ids", limits{examples: 9, labels: 9, ids: 3}, "truth:5 error: the ids up to here have more than 3 bytes together; give shorter ones"},
		{"none", limits{examples: 4, labels: 3, ids: 4}, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var report measure.Report
			truth := &Gold{format: csvLabels, values: Labels, limits: test.limits, ids: newIDs(), clusters: newIDs()}
			if err := truth.read(t.Context(), []measure.File{measuretest.File("truth", content)}, &report); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(measuretest.Lines(report.Diagnostics()), "\n"); got != test.want {
				t.Errorf("reported %q, want %q", got, test.want)
			}
		})
	}
}

// TestReadTruth_BoundsTheNumberOfTexts reads only empty texts, which take memory too.
func TestReadTruth_BoundsTheNumberOfTexts(t *testing.T) {
	var report measure.Report
	truth := newTruth(jsonLabels, References)
	truth.limits.texts = 1000
	line := `{"id":1,"label":[` + strings.Repeat(`"",`, bounds.References-1) + `""]}` + "\n"
	content := line + strings.ReplaceAll(line, "1", "2") + strings.ReplaceAll(line, "1", "3")
	if err := truth.read(t.Context(), []measure.File{measuretest.File("truth", content)}, &report); err != nil {
		t.Fatal(err)
	}
	const want = "truth:3 error: the texts up to here have more than 1000 bytes together; give fewer or shorter ones"
	if got := measuretest.Lines(report.Diagnostics()); !slices.Equal(got, []string{want}) {
		t.Errorf("reported %q, want %q", got, want)
	}
}

func TestReadTruth_BoundsClusters(t *testing.T) {
	var report measure.Report
	truth := newTruth(csvLabels, Clusters)
	truth.limits.ids = 2
	if err := truth.read(t.Context(), []measure.File{measuretest.File("truth", "id,label\na,1\nb,23\n")}, &report); err != nil {
		t.Fatal(err)
	}
	const want = "truth:3 error: the clusters up to here have names of more than 2 bytes together; give shorter ones"
	if got := measuretest.Lines(report.Diagnostics()); !slices.Equal(got, []string{want}) {
		t.Errorf("reported %q, want %q", got, want)
	}
}

// TestLabelLimit_RevealsNothingOfTheTruth reads runs at and beyond the limit of labels, with truths that have more and fewer of their
// labels.
func TestLabelLimit_RevealsNothingOfTheTruth(t *testing.T) {
	for _, labels := range []string{"id,label\na,x\nb,x\nc,x\n", "id,label\na,x\nb,y\nc,z\n", "id,label\na,p\nb,q\nc,p\n"} {
		truth := soundTruth(t, csvLabels, Labels, measuretest.File("truth", labels))
		truth.limits.labels = 2
		for content, want := range map[string]bool{"id,label\na,x\nb,y\nc,x\n": false, "id,label\na,x\nb,y\nc,z\n": true} {
			if _, report := readRun(t, truth,
				measuretest.File("run", content)); strings.Contains(strings.Join(measuretest.Lines(report.Diagnostics()), "\n"),
				"more than 2 different labels") != want {
				t.Errorf("%q against %q: %q", content, labels, measuretest.Lines(report.Diagnostics()))
			}
		}
	}
}

// TestReadRun_CallsNoIDMissingThatItMayNotHaveRead reads runs with all ids of the truth, but with a fault that hides some of them.
func TestReadRun_CallsNoIDMissingThatItMayNotHaveRead(t *testing.T) {
	whole := soundTruth(t, csvLabels, Labels, measuretest.File("truth", "id,label\na,x\nb,y\nc,z\n"))
	whole.limits.labels = 2
	const first, last = `{"id":"a","label":"x"}` + "\n", "\n" + `{"id":"c","label":"x"}`
	for name, c := range map[string]struct {
		kind, run string
		missing   bool
	}{
		"a limit":                {measure.CSV, "id,label\na,x\nb,y\nc,z\n", false},
		"a record of one field":  {measure.CSV, "id,label\na,x\nb\nc,x\n", false},
		"a line that is no JSON": {measure.JSONL, first + `{"id":"b","label":"x"` + last, false},
		"an id that is null":     {measure.JSONL, first + `{"id":null,"label":"x"}` + last, false},
		"a faulty value":         {measure.CSV, "id,label\na,x\nb,\n", true},
		"an empty row":           {measure.CSV, "id,label\na,x\n,\nc,x\n", true},
		"a repeated id":          {measure.CSV, "id,label\na,x\na,x\nc,x\n", true},
	} {
		for _, origin := range []measure.Origin{measure.OfTruth, measure.OfInputs} {
			truth := *whole
			truth.format.Kind, truth.origin = c.kind, origin
			_, report := readRun(t, &truth, measuretest.File("run", c.run))
			text := strings.Join(measuretest.Lines(report.Diagnostics()), "\n")
			found := strings.Contains(text, "no prediction")
			isRead := origin == measure.OfInputs && name == "a limit" // labels are read only against a truth
			if found != c.missing || report.Failed() == isRead {
				t.Errorf("%s, %s: %s", name, origin, text)
			}
		}
	}
}

// value draws a valid id or label: at least one sound character.
var value = rapid.StringOfN(rapid.Rune().Filter(func(r rune) bool { return r != 0 && r != '\r' && r != 0xfeff }), 1, 12, -1)

// TestReadRun_IgnoresOrderAndFormat writes the same examples in both formats and any order.
func TestReadRun_IgnoresOrderAndFormat(t *testing.T) {
	nightlytest.Check(t, func(t *rapid.T) {
		examples := rapid.MapOfN(value, value, 1, 30).Draw(t, "examples")
		ids := slices.Sorted(maps.Keys(examples))
		other := rapid.Permutation(ids).Draw(t, "order")
		write := func(kind string, ids []string) measure.File {
			var b bytes.Buffer
			if kind == measure.CSV {
				w := csv.NewWriter(&b)
				w.Write([]string{"extra", "id", "label"})
				for _, id := range ids {
					w.Write([]string{"", id, examples[id]})
				}
				w.Flush()
			} else {
				for _, id := range ids {
					line, _ := json.Marshal(map[string]any{"id": id, "label": examples[id], "extra": map[string]string{id: `"}`}})
					b.Write(append(line, '\n'))
				}
			}
			return measure.File{Name: kind, Content: &b}
		}
		kinds := rapid.SampledFrom([]string{measure.JSONL, measure.CSV})
		var report measure.Report
		truthKind, runKind := kinds.Draw(t, "truth"), kinds.Draw(t, "run")
		truth, err := ReadGold(t.Context(), formatOf(truthKind, "label"), Labels, []measure.File{write(truthKind, ids)}, &report)
		if err != nil {
			t.Fatal(err)
		}
		truth.format.Kind = runKind
		run, err := truth.ReadRun(t.Context(), []measure.File{write(runKind, other)}, &report)
		if err != nil || len(report.Diagnostics()) > 0 {
			t.Fatal(err, measuretest.Lines(report.Diagnostics()))
		}
		for i, id := range ids {
			if got := string(truth.ids.at(i)); got != id {
				t.Fatalf("example %d is %q, want %q", i, got, id)
			}
			if got := run.Labels()[run.Codes()[i]]; got != examples[id] || truth.Codes()[i] != run.Codes()[i] {
				t.Fatalf("label of %q is %q, want %q", id, got, examples[id])
			}
		}
	})
}

// decodeJSONL reads a file of FuzzJSONL with encoding/json only. ok is false if a line is not valid.
func decodeJSONL(content string) (ids, labels []string, ok bool) {
	for line := range strings.Lines(content) {
		line = strings.Trim(line, " \t\r\n")
		if line == "" {
			continue
		}
		d := json.NewDecoder(strings.NewReader(line))
		d.UseNumber()
		var object map[string]any
		if d.Decode(&object) != nil || d.More() {
			return nil, nil, false
		}
		for _, field := range []string{"id", "label"} {
			var text string
			switch v := object[field].(type) {
			case string:
				text = v
			case json.Number:
				text = v.String()
			case bool:
				if field == "id" {
					return nil, nil, false
				}
				text = fmt.Sprint(v)
			default:
				return nil, nil, false
			}
			if field == "id" {
				ids = append(ids, text)
			} else {
				labels = append(labels, text)
			}
		}
	}
	return ids, labels, true
}

// checkRead compares the content of an accepted file with the result of the naive reader.
func checkRead(t *testing.T, truth *Gold, ids, labels []string, ok bool) {
	t.Helper()
	if !ok {
		t.Fatal("a file is accepted that a plain reader refuses")
	}
	if truth.Len() != len(ids) {
		t.Fatalf("%d examples, want %q", truth.Len(), ids)
	}
	for i := range ids {
		if got := string(truth.ids.at(i)); got != ids[i] {
			t.Fatalf("id %d is %q, want %q", i, got, ids[i])
		}
		if got := truth.Labels()[truth.Codes()[i]]; got != labels[i] {
			t.Fatalf("label %d is %q, want %q", i, got, labels[i])
		}
	}
}

func FuzzJSONL(f *testing.F) {
	for _, s := range []string{
		`{"id":"a","label":"x"}` + "\n" + `{"id":2,"label":true}`,
		`{"id":"\ud83d\ude00","label":"\ud800"}`,
		`{ "a" : {"id":[1,"]}\\\""]} , "id" : -1.5e3 , "label" : "\"," }` + "\r\n\r\n",
		`{"id":1,"id":2,"label":3}`,
		`{"\u0069d":"\\","label":""}`,
		`[{}]` + "\n" + `{"id":{},"label":[[]]}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, content string) {
		if strings.HasPrefix(content, "\x1f\x8b") || strings.HasPrefix(content, "\xef\xbb\xbf") {
			return // packed text and byte order marks are the line reader's
		}
		readTruth(t, formatOf(measure.JSONL, "label"), Numbers, measuretest.File("numbers", content))
		truth, report := readTruth(t, jsonLabels, Labels, measuretest.File("labels", content))
		if report.Failed() {
			return
		}
		ids, labels, ok := decodeJSONL(content)
		checkRead(t, truth, ids, labels, ok)
	})
}

func FuzzCSV(f *testing.F) {
	for _, s := range []string{
		"id,label\na,x\nb,y\n",
		"\"la\"\"bel\",label,id\r\n,\"x\n,\"\"\",\"a\"\r\n",
		"id,label\n\"a\",x\"y\n\"b\"c,d\n",
		"id,id,label\n1,2,3\n",
		"label,id\n\n\n1\n1,2,3\n\"\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, content string) {
		if strings.HasPrefix(content, "\x1f\x8b") || strings.HasPrefix(content, "\xef\xbb\xbf") || strings.Contains(content, "\r\r") {
			return // packed text, byte order marks and several carriage returns are the line reader's
		}
		readTruth(t, formatOf(measure.CSV, "label"), Numbers, measuretest.File("numbers", content))
		truth, report := readTruth(t, csvLabels, Labels, measuretest.File("labels", content))
		if report.Failed() {
			return
		}
		all, err := csv.NewReader(strings.NewReader(content)).ReadAll()
		if err != nil {
			t.Fatalf("a file is accepted that encoding/csv refuses: %v", err)
		}
		var ids, labels []string
		for _, record := range all[1:] {
			ids = append(ids, record[slices.Index(all[0], "id")])
			labels = append(labels, record[slices.Index(all[0], "label")])
		}
		checkRead(t, truth, ids, labels, true)
	})
}
