package predictions

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/bounds"
	"assay/shared/computation/measure/measuretest"
)

// names returns the labels of an example, sorted.
func (t *Gold) setNames(i int) []string {
	list := []string{}
	for _, code := range t.Set(i) {
		list = append(list, t.Labels()[code])
	}
	slices.Sort(list)
	return list
}

// TestReadRun_ReportsFaultsOfSets reads each content as a run for a truth with the ids a and b and the labels x and y.
func TestReadRun_ReportsFaultsOfSets(t *testing.T) {
	many := func(separator string) string {
		var b strings.Builder
		for i := range bounds.Set + 1 {
			fmt.Fprintf(&b, `%s"%d"`, separator[:min(i, 1)], i)
		}
		return b.String()
	}
	tests := map[string]struct {
		kind, content string
		want          []string
	}{
		"not arrays": {measure.JSONL, `{"id":"a","label":"x"}` + "\n" + `{"id":"b","label":null}` + "\n" + `{"id":"b"}`, []string{
			`run:1 error: "label" is a string; expected an array`,
			`run:2 error: "label" is null; expected an array`,
			`run:3 error: the object has no "label", only "id"; expected it in every line`,
			`run:3 error: the id "b" was given before, on line 2; expected every id once`,
		}},
		"elements": {measure.JSONL, `{"id":"a","label":["x",["y"]]}` + "\n" + `{"id":"b","label":["x","","y"]}`, []string{
			`run:1 error: an element of "label" is an array; expected a string or number or true or false; write it without its brackets`,
			`run:2 error: "label" is empty; expected a value`,
		}},
		"twice": {measure.JSONL, `{"id":"a","label":["y","x","\u0079","z"]}` + "\n" + `{"id":"b","label":["z","z"]}`, []string{
			`run:1 warning: the truth has no label "z"; every prediction of it counts as wrong`,
			`run:1 error: "label" has the label "y" twice; expected every label once`,
			`run:2 error: "label" has the label "z" twice; expected every label once`,
		}},
		"twice in csv": {measure.CSV, "id,label\na,x|x\nb,x||y\n", []string{
			`run:2 error: "label" has the label "x" twice; expected every label once`,
			`run:3 error: "label" has an empty label after a separator ("|"); expected separators between labels alone`,
		}},
		"empty labels": {measure.CSV, "id,label\na,x|\nb,|x\n", []string{
			`run:2 error: "label" has an empty label after a separator ("|"); expected separators between labels alone`,
			`run:3 error: "label" has an empty label before a separator ("|"); expected separators between labels alone`,
		}},
		"unknown": {measure.CSV, "id,label\na,x|X\nb,\n", []string{
			`run:2 warning: the truth has no label "X"; every prediction of it counts as wrong; the likely cause: "X" differs from "x" only in upper and lower case, and both are compared byte by byte`,
		}},
		"none": {measure.CSV, "id,label\na,\nb,\n", nil},
		"spaces": {measure.CSV, "id,label\na,x y\nb,\n", []string{
			`run:2 warning: the truth has no label "x y"; every prediction of it counts as wrong; the likely cause: labels contain " ", and labels are separated by "|"`,
			`run error: none of the labels predicted ("x y") is among the 2 of the truth ("x", "y"); check the field "label"; the likely cause: labels contain " ", and labels are separated by "|"`,
		}},
		"another separator": {measure.CSV, "id,label\na,x; y\nb,y;x|x\n", []string{
			`run:2 warning: the truth has no label "x; y"; every prediction of it counts as wrong; the likely cause: labels contain ";", and labels are separated by "|"`,
			`run:3 warning: the truth has no label "y;x"; every prediction of it counts as wrong`,
		}},
		"labels with a comma": {measure.JSONL, `{"id":"a","label":["x,y","x"]}` + "\n" + `{"id":"b","label":[]}`, []string{
			`run:1 warning: the truth has no label "x,y"; every prediction of it counts as wrong`,
		}},
		"partly known": {measure.CSV, "id,label\na,x;z|x\nb,\n", []string{
			`run:2 warning: the truth has no label "x;z"; every prediction of it counts as wrong`,
		}},
		"lists of Python": {measure.CSV, "id,label\na,\"['x', 'y']\"\nb,[z]\n", []string{
			`run:2 warning: the truth has no label "['x', 'y']"; every prediction of it counts as wrong; the likely cause: labels are a list as ` +
				`Python prints it; labels are separated by "|", so write them with "|" between them`,
			`run:3 warning: the truth has no label "[z]"; every prediction of it counts as wrong`,
			`run error: none of the labels predicted ("['x', 'y']", "[z]") is among the 2 of the truth ("x", "y"); check the field "label"; ` +
				`the likely cause: labels are a list as Python prints it; labels are separated by "|", so write them with "|" between them`,
		}},
		"many": {measure.JSONL, `{"id":"a","label":[` + many(",") + `]}` + "\n" + `{"id":"b","label":["x"]}`, []string{
			`run:1 error: "label" has more than 1000 labels; expected at most as many`,
		}},
	}
	truth := soundTruth(t, csvLabels, Sets, measuretest.File("truth", "id,label\na,x|y\nb,\n"))
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			of := *truth
			of.format.Kind = test.kind
			_, report := readRun(t, &of, measuretest.File("run", test.content))
			measuretest.Expect(t, report.Diagnostics(), test.want...)
			if alone, report := readTruth(t, of.format, Sets, measuretest.File("run", test.content)); report.Failed() !=
				slices.ContainsFunc(test.want, func(line string) bool {
					return strings.Contains(line, "error") && !strings.Contains(line, "none of the labels")
				}) {
				t.Errorf("%d examples, %q", alone.Len(), measuretest.Lines(report.Diagnostics()))
			}
		})
	}
}

// TestRead_EndlessSetsAreRefused reads files without an end. Each must end with its diagnostic.
func TestRead_EndlessSetsAreRefused(t *testing.T) {
	row := strings.Repeat("l|", 30_000)
	for name, c := range map[string]struct {
		rest *measuretest.Endless
		want string
	}{
		"labels of one example": {measuretest.Numbered("", ","+row+"\n"), `truth:2 error: "label" has more than 1000 labels`},
		"different labels": {&measuretest.Endless{Append: func(text []byte, n int) []byte { return fmt.Appendf(text, "%d,%d|x%d\n", n, n, n) }},
			`truth:5002 error: "label" has more than 10000 different labels up to here`},
		"labels in all": {measuretest.Numbered("", ",a|b|c|d|e|f|g\n"), `the examples up to here have more than 1000 labels together; expected fewer`},
	} {
		t.Run(name, func(t *testing.T) {
			var report measure.Report
			truth := newTruth(csvLabels, Sets)
			if strings.Contains(name, "in all") {
				truth.limits.assigned = 1000
			}
			content := io.MultiReader(strings.NewReader("id,label\n"), c.rest)
			err := truth.read(t.Context(), []measure.File{{Name: "truth", Content: content}}, &report)
			if all := measuretest.Lines(report.Diagnostics()); err != nil || c.rest.Bytes > 50<<20 ||
				!slices.ContainsFunc(all, func(line string) bool { return strings.Contains(line, c.want) }) {
				t.Errorf("%v, after %d bytes: %q", err, c.rest.Bytes, all)
			}
		})
	}
}

// checkSets compares the content of an accepted file with the result of a plain reader.
func checkSets(t *testing.T, truth *Gold, ids []string, sets [][]string) {
	t.Helper()
	if truth.Len() != len(ids) {
		t.Fatalf("%d examples, want %q", truth.Len(), ids)
	}
	for i, id := range ids {
		slices.Sort(sets[i])
		if got := truth.setNames(i); string(truth.ids.at(i)) != id || !slices.Equal(got, sets[i]) {
			t.Fatalf("example %d is %q with %q, want %q with %q", i, truth.ids.at(i), got, id, sets[i])
		}
		if !slices.IsSorted(truth.Set(i)) || len(slices.Compact(slices.Clone(truth.Set(i)))) != len(sets[i]) {
			t.Fatalf("the codes %v are no ascending set", truth.Set(i))
		}
	}
}

func FuzzSetsJSONL(f *testing.F) {
	for _, s := range []string{
		`{"id":"a","label":["x","y"]}` + "\n" + `{"id":2,"label":[]}`,
		`{"label":[ true , -1.5e3,"\ud83d\ude00" , "],\"" ],"id":1}`,
		`{"id":1,"label":["x","\u0078"]}`,
		`{"id":1,"label":["x",null,[],{}]}`,
		`{"id":1,"label":[""]}`,
		`{"id":1,"label":"x"}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, content string) {
		if strings.HasPrefix(content, "\x1f\x8b") || strings.HasPrefix(content, "\xef\xbb\xbf") {
			return // packed text and byte order marks are the line reader's
		}
		truth, report := readTruth(t, jsonLabels, Sets, measuretest.File("labels", content))
		if report.Failed() {
			return
		}
		var ids []string
		var sets [][]string
		for line := range strings.Lines(content) {
			line = strings.Trim(line, " \t\r\n")
			if line == "" {
				continue
			}
			var object struct {
				ID    any   `json:"id"`
				Label []any `json:"label"`
			}
			members := map[string]json.RawMessage{}
			d := json.NewDecoder(strings.NewReader(line))
			if err := d.Decode(&members); err != nil {
				t.Fatal("a file is accepted that a plain reader refuses: ", err)
			}
			for name, into := range map[string]any{"id": &object.ID, "label": &object.Label} {
				d := json.NewDecoder(bytes.NewReader(members[name]))
				d.UseNumber()
				if err := d.Decode(into); err != nil {
					t.Fatal("a file is accepted that a plain reader refuses: ", err)
				}
			}
			ids = append(ids, fmt.Sprint(object.ID))
			set := []string{}
			for _, label := range object.Label {
				set = append(set, fmt.Sprint(label))
			}
			sets = append(sets, set)
		}
		checkSets(t, truth, ids, sets)
	})
}

func FuzzSetsCSV(f *testing.F) {
	for _, s := range []string{"id,label\na,x|y\nb,\n", "label,id\r\n\"x|\"\"|y\",a\r\n", "id\tlabel\n1\tx|x\n", "id,label\n1,|\n"} {
		f.Add(s, "|")
	}
	f.Add("id,label\na,x y\n", " ")
	f.Add("id,label\na,\"x, y\"\n", ", ")
	f.Fuzz(func(t *testing.T, content, separator string) {
		if strings.HasPrefix(content, "\x1f\x8b") || strings.HasPrefix(content, "\xef\xbb\xbf") || strings.Contains(content, "\r\r") ||
			separator == "" {
			return // packed text, byte order marks and several carriage returns are the line reader's
		}
		format := csvLabels
		format.Separator = separator
		truth, report := readTruth(t, format, Sets, measuretest.File("labels", content))
		if report.Failed() {
			return
		}
		r := csv.NewReader(strings.NewReader(content))
		all, err := r.ReadAll()
		if err != nil || !slices.Contains(all[0], "id") || !slices.Contains(all[0], "label") {
			r = csv.NewReader(strings.NewReader(content))
			r.Comma = '\t'
			if all, err = r.ReadAll(); err != nil {
				t.Fatalf("a file is accepted that encoding/csv refuses: %v", err)
			}
		}
		var ids []string
		var sets [][]string
		for _, record := range all[1:] {
			ids = append(ids, record[slices.Index(all[0], "id")])
			set := []string{}
			if text := record[slices.Index(all[0], "label")]; text != "" {
				set = strings.Split(text, separator)
			}
			sets = append(sets, set)
		}
		checkSets(t, truth, ids, sets)
	})
}

// BenchmarkReadSets reads a run of a million examples with three labels each, in another order than its truth.
func BenchmarkReadSets(b *testing.B) {
	const n = 1_000_000
	for _, format := range []measure.Format{jsonLabels, csvLabels} {
		write := func(step int) []byte {
			var text bytes.Buffer
			if format.Kind == measure.CSV {
				text.WriteString("id,label\n")
			}
			for i := range n {
				i = i * step % n
				if format.Kind == measure.CSV {
					fmt.Fprintf(&text, "example-%07d,label-%d|label-%d|label-%d\n", i, i%7, 10+i%11, 30+i%13)
				} else {
					fmt.Fprintf(&text, "{\"id\": \"example-%07d\", \"label\": [\"label-%d\", \"label-%d\", \"label-%d\"]}\n", i, i%7, 10+i%11, 30+i%13)
				}
			}
			return text.Bytes()
		}
		truth := soundTruth(b, format, Sets, measure.File{Name: "truth", Content: bytes.NewReader(write(1))})
		content := write(7919)
		b.Run(format.Kind, func(b *testing.B) {
			b.SetBytes(int64(len(content)))
			b.ReportAllocs()
			for b.Loop() {
				readRun(b, truth, measure.File{Name: "run", Content: bytes.NewReader(content)})
			}
		})
	}
}
