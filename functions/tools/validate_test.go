package tools_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"assay/shared/measure"
	"assay/shared/record"
)

// validated is an answer of the tool.
type validated struct {
	Valid       bool
	Of, Kind    string
	Format      record.RunFormat
	Files       []string
	Diagnostics []measure.Diagnostic
}

// told is what it says, with the diagnostics as file:line.
func (v validated) told() string {
	words := []string{fmt.Sprint(v.Of, " ", v.Kind, " ", v.Format.Kind, " ", v.Valid)}
	for _, d := range v.Diagnostics {
		words = append(words, fmt.Sprintf("%.1s:%s:%d", d.Severity, d.File, d.Line))
	}
	return strings.Join(words, " ")
}

func TestValidate(t *testing.T) {
	p := newPlatform(t)
	labels := p.newDataset(record.RunFormat{Kind: "csv", IDField: "id", ValueField: "label"},
		record.Evaluator{Kind: "classification", Measures: []string{"Accuracy"}, PrimaryMeasure: "Accuracy"}, "truth.csv", "id,label\n1,a\n2,b\n")
	ofLabels := object{"kind": "csv", "idField": "id", "valueField": "label"}
	numbers := object{"kind": "jsonl", "idField": "n", "valueField": "v"}
	for _, c := range []struct {
		user  string
		input object
		want  string
	}{
		{"", object{"run": along(fileOf("r", heldRun))}, "run retrieval trec-run true"},
		{"", object{"run": along(fileOf("r", "other Q0 d 1 1 t\n")), "datasetId": p.dataset.ID}, "run retrieval trec-run true"},
		{"", object{"run": along(fileOf("r", heldRun+"q3 Q0 d\n"))}, "run retrieval trec-run false e:r:4"},
		{"", object{"run": along(fileOf("r", "q Q0 d 1 1 t\nq Q0 e 2 high t\nq Q0 d 3 1 t\nq Q0\n"))}, "run retrieval trec-run false e:r:2 e:r:3 e:r:4"},
		{"", object{"run": along(fileOf("r", "a Q0 d 1 1 t and more\n"))}, "run retrieval trec-run true w:r:1"},
		{"", object{"run": along(fileOf("r", "id,label\n1,a\n9,z\n")), "datasetId": labels.ID}, "run classification csv true"},
		{"bob", object{"run": along(fileOf("r", "id,label\n1,a\n1,b\n")), "datasetId": labels.ID}, "run classification csv false e:r:3"},
		{"", object{"run": along(fileOf("r", heldRun)), "datasetId": labels.ID}, "run classification csv false e:r:1 e:r:1"},
		{"", object{"run": along(fileOf("r", "id,label\n1,a\n")), "kind": "classification", "format": ofLabels}, "run classification csv true"},
		{"", object{"run": along(fileOf("r", `{"n":1,"v":"x"}`)), "kind": "regression", "format": numbers}, "run regression jsonl false e:r:1"},
		{"", object{"run": byID(p.run(shown, heldRun))}, "run retrieval trec-run true"},
		{"alice", object{"run": byID(p.run(record.Standing{}, "q1 Q0 d x y t\n"))}, "run retrieval trec-run false e:run.txt:1"},
		{"", object{"truth": along(fileOf("q", heldQrels))}, "truth retrieval trec-run true"},
		{"", object{"truth": along(fileOf("q", heldQrels+"q1 0 d1\n"))}, "truth retrieval trec-run false e:q:4"},
		{"", object{"truth": object{"files": []object{fileOf("t", "id,label\n1,a\n")}, "kind": "classification", "format": ofLabels}}, "truth classification csv true"},
		{"", object{"truth": object{"files": []object{fileOf("t", `{"n":1,"v":2}`)}, "kind": "regression", "format": numbers}}, "truth regression jsonl true"},
		{"olga", object{"truth": object{"datasetId": p.dataset.ID}}, "truth retrieval trec-run true"},
		{"olga", object{"truth": object{"datasetId": labels.ID}}, "truth classification csv true"},
	} {
		var out validated
		a := p.Want(http.StatusOK, &out, c.user, http.MethodPost, "/v1/tools/validate", c.input)
		if out.told() != c.want {
			t.Errorf("%v: %s, want %s\n%s", c.input, out.told(), c.want, a.Body)
		}
		if strings.Contains(string(a.Body), "discreet") {
			t.Errorf("it shows what is for records: %s", a.Body)
		}
	}
}

func TestValidateRefuses(t *testing.T) {
	p := newPlatform(t)
	own := p.newDataset(record.RunFormat{Kind: "jsonl", IDField: "id", ValueField: "v"},
		record.Evaluator{Kind: record.EvaluatorWorker, Measures: []string{"m"}, PrimaryMeasure: "m", Image: "image"}, "t", "t")
	run, truth := along(fileOf("r", heldRun)), along(fileOf("q", heldQrels))
	for _, c := range []struct {
		input   object
		pointer string
	}{
		{object{}, ""},
		{object{"run": run, "truth": truth}, ""},
		{object{"truth": truth, "kind": "retrieval"}, "/kind"},
		{object{"truth": truth, "datasetId": p.dataset.ID}, "/datasetId"},
		{object{"run": byID(p.run(shown, heldRun)), "format": object{"kind": "trec-run"}}, "/format"},
		{object{"run": run, "datasetId": p.dataset.ID, "kind": "retrieval"}, "/kind"},
		{object{"run": run, "datasetId": "none"}, "/datasetId"},
		{object{"run": run, "datasetId": own.ID}, "/datasetId"},
		{object{"run": run, "kind": "classification"}, "/format/kind"},
		{object{"run": run, "kind": "classification", "format": object{"kind": "csv", "idField": "id"}}, "/format/valueField"},
		{object{"truth": object{"files": truth["files"], "format": object{"kind": "csv"}}}, "/truth/format/kind"},
	} {
		found := p.faults(http.StatusUnprocessableEntity, "", "validate", c.input)
		if len(found) == 0 || found[0].Pointer != c.pointer {
			t.Errorf("%v is refused for %v, want %q", c.input, found, c.pointer)
		}
	}
	for _, user := range []string{"", "alice", "bob"} {
		p.Want(http.StatusForbidden, nil, user, http.MethodPost, "/v1/tools/validate", object{"truth": object{"datasetId": p.dataset.ID}})
	}
	p.unseenAs("validate", func(id string) object { return object{"run": object{"runId": id}} })
	hidden := &record.DatasetItem{OrganizerID: p.task.OrganizerID, PrivateTask: true}
	hidden.Meta, hidden.TaskID, hidden.RunFormat, hidden.Evaluator = p.meta(), p.task.ID, p.dataset.RunFormat, p.dataset.Evaluator
	p.Put(hidden)
	of := func(id string) string {
		return string(p.Want(http.StatusNotFound, nil, "bob", http.MethodPost, "/v1/tools/validate", object{"run": run, "datasetId": id}, "X-Request-Id", "same").Body)
	}
	if got, want := of(hidden.ID), of(p.meta().ID); got != want {
		t.Errorf("a dataset that is hidden is told from a missing one:\n%s\n%s", got, want)
	}
	p.Want(http.StatusOK, nil, "olga", http.MethodPost, "/v1/tools/validate", object{"run": run, "datasetId": hidden.ID})
}

// Files are read by several at once, and what they find comes in the order of the files and lines all the same.
func TestValidateTellsInOrder(t *testing.T) {
	p := newPlatform(t)
	var one, many strings.Builder
	for i := range 40 {
		fmt.Fprintf(&one, "q Q0 d%d 1 %s t\n", i, []string{"high", "1"}[i%2])
		fmt.Fprintf(&many, "q Q0 d%d 1 1 t\n", i) // has all that the other has
	}
	fmt.Fprint(&many, strings.Repeat("a line\n", 40))
	input := object{"run": along(fileOf("z", one.String()), fileOf("empty", "\n"), fileOf("a", many.String()))}
	var first validated
	p.Want(http.StatusOK, &first, "", http.MethodPost, "/v1/tools/validate", input)
	if !slices.Equal(first.Files, []string{"z", "empty", "a"}) || first.Valid {
		t.Errorf("it read %v, and they are %v", first.Files, first.Valid)
	}
	if !slices.IsSortedFunc(first.Diagnostics, func(a, b measure.Diagnostic) int {
		return 1000*(slices.Index(first.Files, a.File)-slices.Index(first.Files, b.File)) + a.Line - b.Line
	}) || len(first.Diagnostics) < 80 || first.Diagnostics[len(first.Diagnostics)-1].File != "a" {
		t.Errorf("%d diagnostics, not in order: %s", len(first.Diagnostics), first.told())
	}
	for range 5 {
		var again validated
		p.Want(http.StatusOK, &again, "", http.MethodPost, "/v1/tools/validate", input)
		if again.told() != first.told() {
			t.Fatalf("it is told as %s and as %s", first.told(), again.told())
		}
	}
	var full validated
	p.Want(http.StatusOK, &full, "", http.MethodPost, "/v1/tools/validate", object{"run": along(fileOf("r", strings.Repeat("a line\n", 1000)))})
	if len(full.Diagnostics) != measure.MaxDiagnostics {
		t.Errorf("%d diagnostics", len(full.Diagnostics))
	}
}
