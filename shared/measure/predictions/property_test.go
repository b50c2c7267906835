package predictions

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"assay/shared/measure"
	"assay/shared/measure/measuretest"

	"pgregory.net/rapid"
)

// TestIDs_AgreeWithAMap compares the table of ids with a map of strings.
func TestIDs_AgreeWithAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table, want := newIDs(), map[string]int{}
		for _, id := range rapid.SliceOfN(rapid.StringN(0, 3, 8), 0, 300).Draw(t, "ids") {
			_, known := want[id]
			index, isNew := table.add([]byte(id))
			if isNew == known {
				t.Fatalf("%q is new: %v", id, isNew)
			}
			if isNew {
				want[id] = len(want)
			}
			if index != want[id] {
				t.Fatalf("%q has the index %d, want %d", id, index, want[id])
			}
		}
		for id, index := range want {
			if got := table.find([]byte(id)); got != index || string(table.at(index)) != id {
				t.Fatalf("%q is found at %d, want %d", id, got, index)
			}
		}
		if id := rapid.String().Draw(t, "other"); table.len() != len(want) {
			t.Fatalf("%d ids, want %d", table.len(), len(want))
		} else if _, known := want[id]; !known && table.find([]byte(id)) >= 0 {
			t.Fatalf("%q is found", id)
		}
	})
}

// value draws text that may stand in an id or label: sound characters, at least one.
var value = rapid.StringOfN(rapid.Rune().Filter(func(r rune) bool { return r != 0 && r != '\r' && r != 0xfeff }), 1, 12, -1)

// TestReadRun_IgnoresOrderAndFormat writes the same examples in both formats and any order.
func TestReadRun_IgnoresOrderAndFormat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		examples := rapid.MapOfN(value, value, 1, 30).Draw(t, "examples")
		ids := slices.Sorted(maps.Keys(examples))
		other := rapid.Permutation(ids).Draw(t, "order")
		write := func(kind string, ids []string) measure.File {
			var b bytes.Buffer
			if kind == CSV {
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
		kinds := rapid.SampledFrom([]string{JSONL, CSV})
		var report measure.Report
		truthKind, runKind := kinds.Draw(t, "truth"), kinds.Draw(t, "run")
		truth, err := ReadTruth(t.Context(), Format{truthKind, "id", "label"}, Labels, []measure.File{write(truthKind, ids)}, &report)
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

// sampleJSONL and sampleCSV are the seeds of the fuzz targets.
var (
	sampleJSONL = []string{
		`{"id":"a","label":"x"}` + "\n" + `{"id":2,"label":true}`,
		`{"id":"\ud83d\ude00","label":"\ud800"}`,
		`{ "a" : {"id":[1,"]}\\\""]} , "id" : -1.5e3 , "label" : "\"," }` + "\r\n\r\n",
		`{"id":1,"id":2,"label":3}`,
		`{"\u0069d":"\\","label":""}`,
		`[{}]` + "\n" + `{"id":{},"label":[[]]}`,
	}
	sampleCSV = []string{
		"id,label\na,x\nb,y\n",
		"\"la\"\"bel\",label,id\r\n,\"x\n,\"\"\",\"a\"\r\n",
		"id,label\n\"a\",x\"y\n\"b\"c,d\n",
		"id,id,label\n1,2,3\n",
		"label,id\n\n\n1\n1,2,3\n\"\n",
	}
)

// decodeJSONL reads what FuzzJSONL reads with nothing but encoding/json; ok is false when a line is not as expected.
func decodeJSONL(content string) (ids, labels []string, ok bool) {
	for line := range strings.Lines(content) {
		if line = strings.Trim(line, " \t\r\n"); line == "" {
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

// checkRead fails when a file that was accepted does not say what the slow reader found.
func checkRead(t *testing.T, truth *Truth, ids, labels []string, ok bool) {
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
	for _, s := range sampleJSONL {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, content string) {
		if strings.HasPrefix(content, "\x1f\x8b") || strings.HasPrefix(content, "\xef\xbb\xbf") {
			return // packed text and byte order marks are the line reader's
		}
		readTruth(t, Format{JSONL, "id", "label"}, Numbers, measuretest.File("numbers", content))
		truth, report := readTruth(t, jsonLabels, Labels, measuretest.File("labels", content))
		if report.Failed() {
			return
		}
		ids, labels, ok := decodeJSONL(content)
		checkRead(t, truth, ids, labels, ok)
	})
}

func FuzzCSV(f *testing.F) {
	for _, s := range sampleCSV {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, content string) {
		if strings.HasPrefix(content, "\x1f\x8b") || strings.HasPrefix(content, "\xef\xbb\xbf") || strings.Contains(content, "\r\r") {
			return // packed text, byte order marks and several carriage returns are the line reader's
		}
		readTruth(t, Format{CSV, "id", "label"}, Numbers, measuretest.File("numbers", content))
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
