package measures_test

import (
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/grpc/worker/measures"
)

var names = []string{"ndcg", "recall"}

// read reads the files as an evaluator's output folder.
func read(t *testing.T, files map[string]string) (*measures.Reported, error) {
	t.Helper()
	folder := t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	return measures.Read(root, names)
}

func same(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }

func TestRead_JSONAndPrototext(t *testing.T) {
	undefined := math.NaN()
	for name, c := range map[string]struct {
		file, content string
		ndcg, recall  float64
	}{
		"flat":        {measures.JSON, `{"ndcg": 0.5, "recall": 1e-3, "more": "text"}`, 0.5, 0.001},
		"not defined": {measures.JSON, `{"ndcg": null, "recall": 0}`, undefined, 0},
		"nested":      {measures.JSON, `{"measures": {"ndcg": 1, "recall": 2}, "version": 3}`, 1, 2},
		"by topic":    {measures.JSON, `{"measures": {"ndcg": 1, "recall": 2}, "topics": {"t1": {"ndcg": 0.5}}}`, 1, 2},
		"blocks": {
			measures.Prototext, "measure {\n  key: \"ndcg\"\n  value: \"0.5\"\n}\nmeasure {\n  key: \"recall\"\n  value: \"0.25\"\n}\n", 0.5, 0.25},
		"blocks in every form": {
			measures.Prototext, "# from an evaluator\nmeasure: <key: 'ndcg', value: '5' '0'; unit: 3>measure{value:\" 1 \" key:\"recall\"} title: " +
				"\"x\"", 50, 1},
		"blocks not defined": {measures.Prototext, `measure{key:"ndcg" value:"nan"} measure{key:"recall"} measure{key:"note" value:"fine"}`,
			undefined, undefined},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := read(t, map[string]string{c.file: c.content})
			if err != nil {
				t.Fatal(err)
			}
			if len(e.Measures) != 2 || !same(e.Measures["ndcg"], c.ndcg) || !same(e.Measures["recall"], c.recall) {
				t.Errorf("read %v, want %v and %v", e.Measures, c.ndcg, c.recall)
			}
			if name == "by topic" && (len(e.Topics) != 1 || len(e.Topics["t1"]) != 1 || e.Topics["t1"]["ndcg"] != 0.5) {
				t.Errorf("read topics %v", e.Topics)
			}
		})
	}
}

func TestRead_PrefersJSON(t *testing.T) {
	e, err := read(t, map[string]string{measures.JSON: `{"ndcg": 1, "recall": 1}`, measures.Prototext: "no text"})
	if err != nil || e.Measures["ndcg"] != 1 {
		t.Errorf("read %v, %v", e, err)
	}
}

func TestRead_RefusesInvalidFiles(t *testing.T) {
	for name, c := range map[string]struct{ file, content, want string }{
		"nothing":      {"other.json", `{}`, "neither evaluation.json nor evaluation.prototext"},
		"empty":        {measures.JSON, ``, "not JSON (RFC 8259) from line 1 on"},
		"Python's NaN": {measures.JSON, "{\"ndcg\": 1,\n\"recall\": NaN}", "from line 2 on; a measure that is not defined must be null"},
		"a list":       {measures.JSON, `[1]`, "must be a JSON object"},
		"null":         {measures.JSON, `null`, "must be a JSON object"},
		"a text":       {measures.JSON, `{"ndcg": "0.5", "recall": 1}`, "the measure ndcg must be a number"},
		"too much":     {measures.JSON, `{"ndcg": 1e999, "recall": 1}`, "the measure ndcg must be a number"},
		"missing":      {measures.JSON, `{"recall": 1}`, "lacks measures that the dataset names: ndcg"},
		"topics":       {measures.JSON, `{"measures": {"ndcg": 1, "recall": 1}, "topics": [1]}`, "its member topics must be an object"},
		"topic": {measures.JSON, `{"measures": {"ndcg": 1, "recall": 1}, "topics": {"a": {"ndcg": true}}}`,
			"the measure ndcg must be a number"},
		"size":           {measures.JSON, strings.Repeat(" ", 4<<20), "more than 3145728 bytes"},
		"no blocks":      {measures.Prototext, `measure { key: "ndcg`, "must consist of blocks"},
		"no text number": {measures.Prototext, `measure { key: "ndcg" value: "high" }`, "the value of the measure ndcg must be a number"},
		"infinite":       {measures.Prototext, `measure { key: "ndcg" value: "-Infinity" }`, "the measure ndcg is infinite"},
		"twice": {measures.Prototext, `measure { key: "ndcg" value: "1" } measure { key: "ndcg" value: "1" }`,
			"the measure ndcg more than once"},
		"blocks missing": {measures.Prototext, `measure { key: "ndcg" value: "1" }`, "lacks measures that the dataset names: recall"},
		"deep":           {measures.Prototext, strings.Repeat("a{", 100_000), "nested too deep"},
		"size of a text": {measures.Prototext, strings.Repeat(" ", 300<<10), "more than 262144 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := read(t, map[string]string{c.file: c.content})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("read %v, %v; want %s", e, err, c.want)
			}
		})
	}
}

// check checks that a file is refused, or contains all measures with finite values.
func check(t *testing.T, file string, content []byte) {
	e, err := read(t, map[string]string{file: string(content)})
	if err != nil {
		return
	}
	for _, values := range append(slices.Collect(maps.Values(e.Topics)), e.Measures) {
		for name, v := range values {
			if math.IsInf(v, 0) || name != "ndcg" && name != "recall" {
				t.Errorf("%s is %g", name, v)
			}
		}
	}
	if len(e.Measures) != len(names) {
		t.Errorf("read %v", e.Measures)
	}
}

func FuzzJSON(f *testing.F) {
	f.Add([]byte(`{"ndcg": 0.5, "recall": null}`))
	f.Add([]byte(`{"measures": {"ndcg": 1, "recall": 2}, "topics": {"t": {"ndcg": 1}, "u": null}}`))
	f.Fuzz(func(t *testing.T, content []byte) { check(t, measures.JSON, content) })
}

func FuzzPrototext(f *testing.F) {
	f.Add([]byte("measure{\n  key: \"ndcg\"\n  value: \"0.5\"\n}\nmeasure {key:'recall';value:\"\\x31\"}"))
	f.Add([]byte(`measure: [{key: "ndcg" value: "nan"}, <key: "recall">] [a.b/c] { d: 1 }`))
	f.Fuzz(func(t *testing.T, content []byte) { check(t, measures.Prototext, content) })
}
