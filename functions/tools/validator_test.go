package tools_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"assay/functions/tools"
	"assay/shared/computation/measure"
	"assay/shared/computation/measure/measuretest"
	"assay/shared/domain/record"
)

// verdict summarizes an answer, with the diagnostics as file:line.
func verdict(out tools.ValidatorOutput) string {
	words := []string{fmt.Sprint(out.Of, " ", out.Kind, " ", out.Format.Kind, " ", out.Valid)}
	for _, d := range out.Diagnostics {
		words = append(words, fmt.Sprintf("%.1s:%s:%d", d.Severity, d.File, d.Line))
	}
	return strings.Join(words, " ")
}

func TestValidator_ReportsFaults(t *testing.T) {
	s := newToolServer(t, record.Public)
	labels := s.newClassificationDataset("id,label\n1,a\n2,b\n")
	ofLabels := object{"kind": "csv", "idField": "id", "valueField": "label"}
	numbers := object{"kind": "jsonl", "idField": "n", "valueField": "v"}
	for _, c := range []struct {
		user  string
		input object
		want  string
	}{
		{"", object{"run": inlineFiles("r", datasetRun)}, "run retrieval trec-run true"},
		// ids that the inputs do not have
		{"", object{"run": inlineFiles("r", "other Q0 d 1 1 t\n"), "datasetId": s.dataset.ID}, "run retrieval trec-run true w:r:0 w:r:0 w:r:0"},
		{"", object{"run": inlineFiles("r", datasetRun+"q3 Q0 d\n")}, "run retrieval trec-run false e:r:4"},
		{"", object{"run": inlineFiles("r", "q Q0 d 1 1 t\nq Q0 e 2 high t\nq Q0 d 3 1 t\nq Q0\n")},
			"run retrieval trec-run false e:r:2 e:r:3 e:r:4"},
		{"", object{"run": inlineFiles("r", "a Q0 d 1 1 t and more\n")}, "run retrieval trec-run true w:r:1"},
		{"", object{"run": inlineFiles("r", "id,label\n1,a\n9,z\n"), "datasetId": labels.ID}, "run classification csv true"},
		{"bob", object{"run": inlineFiles("r", "id,label\n1,a\n1,b\n"), "datasetId": labels.ID}, "run classification csv false e:r:3"},
		{"", object{"run": inlineFiles("r", datasetRun), "datasetId": labels.ID}, "run classification csv false e:r:0"},
		{"", object{"run": inlineFiles("r", "id,label\n1,a\n"), "kind": "classification", "format": ofLabels}, "run classification csv true"},
		{"", object{"run": inlineFiles("r", `{"n":1,"v":"x"}`), "kind": "regression", "format": numbers}, "run regression jsonl false e:r:1"},
		{"", object{"run": runRef(s.addRun(runSpec{public: true}))}, "run retrieval trec-run true"},
		{"alice", object{"run": runRef(s.addRun(runSpec{hidden: true, content: "q1 Q0 d x y t\n"}))}, "run retrieval trec-run false e:run.txt:1"},
		{"", object{"truth": inlineFiles("q", datasetQrels)}, "truth retrieval trec-run true"},
		{"", object{"truth": inlineFiles("q", datasetQrels+"q1 0 d1\n")}, "truth retrieval trec-run false e:q:4"},
		{"", object{"truth": withMembers(inlineFiles("t", "id,label\n1,a\n"), "kind", "classification", "format", ofLabels)},
			"truth classification csv true"},
		{"", object{"truth": withMembers(inlineFiles("t", `{"n":1,"v":2}`), "kind", "regression", "format", numbers)},
			"truth regression jsonl true"},
		{"olga", object{"truth": object{"datasetId": s.dataset.ID}}, "truth retrieval trec-run true"},
		{"olga", object{"truth": object{"datasetId": labels.ID}}, "truth classification csv true"},
	} {
		var out tools.ValidatorOutput
		a := s.invoke(http.StatusOK, &out, c.user, "validator", c.input)
		if verdict(out) != c.want {
			t.Errorf("%v: %s, want %s\n%s", c.input, verdict(out), c.want, a.Body)
		}
		if strings.Contains(string(a.Body), "safeWhileBlinded") {
			t.Errorf("it shows a member that records alone have: %s", a.Body)
		}
	}
}

func TestValidator_RefusesInvalidInputs(t *testing.T) {
	s := newToolServer(t, record.Public)
	run, truth := inlineFiles("r", datasetRun), inlineFiles("q", datasetQrels)
	s.wantRefusals("validator", map[string]refusal{
		"nothing to check":     {object{}, "", ""},
		"run and truth":        {object{"run": run, "truth": truth}, "", ""},
		"kind with a truth":    {object{"truth": truth, "kind": "retrieval"}, "/kind", ""},
		"dataset with a truth": {object{"truth": truth, "datasetId": s.dataset.ID}, "/datasetId", ""},
		"format with a stored run": {object{"run": runRef(s.addRun(runSpec{public: true})), "format": object{"kind": "trec-run"}},
			"/format", ""},
		"kind with a dataset":   {object{"run": run, "datasetId": s.dataset.ID, "kind": "retrieval"}, "/kind", ""},
		"unknown dataset":       {object{"run": run, "datasetId": "none"}, "/datasetId", ""},
		"dataset of a worker":   {object{"run": run, "datasetId": s.newWorkerDataset().ID}, "/datasetId", ""},
		"kind without a format": {object{"run": run, "kind": "classification"}, "/format/kind", ""},
		"format without a kind": {object{"run": run, "format": object{"kind": "conll"}}, "/format/kind",
			`"conll" does not go with retrieval, but with spans; use trec-run; files are read as files of retrieval, unless /kind names ` +
				"another kind"},
		"format without a value field": {object{"run": run, "kind": "classification", "format": object{"kind": "csv", "idField": "id"}},
			"/format/valueField", ""},
		"format of retrieval": {object{"truth": withMembers(truth, "format", object{"kind": "csv"})}, "/truth/format/kind",
			"unless /truth/kind names another kind"},
	})
	for _, user := range []string{"", "alice", "bob"} {
		s.invoke(http.StatusForbidden, nil, user, "validator", object{"truth": object{"datasetId": s.dataset.ID}})
	}
}

// Several goroutines read the files. The diagnostics come in the order of files and lines.
func TestValidator_OrdersDiagnostics(t *testing.T) {
	s := newToolServer(t, record.Public)
	var one, many strings.Builder
	for i := range 40 {
		fmt.Fprintf(&one, "q Q0 d%d 1 %s t\n", i, []string{"high", "1"}[i%2])
		fmt.Fprintf(&many, "q Q0 d%d 1 1 t\n", i) // has all that the other has
	}
	fmt.Fprint(&many, strings.Repeat("a line\n", 40))
	input := object{"run": inlineFiles("z", one.String(), "empty", "\n", "a", many.String())}
	first := answer[tools.ValidatorOutput](s, "", "validator", input)
	if !slices.Equal(first.Files, []string{"z", "empty", "a"}) || first.Valid {
		t.Errorf("it read %v, and they are %v", first.Files, first.Valid)
	}
	if !slices.IsSortedFunc(first.Diagnostics, func(a, b measure.Diagnostic) int {
		return 1000*(slices.Index(first.Files, a.File)-slices.Index(first.Files, b.File)) + a.Line - b.Line
	}) || measure.Faults(first.Diagnostics) < 80 || first.Diagnostics[len(first.Diagnostics)-1].File != "a" {
		t.Errorf("%d diagnostics, not in order: %s", len(first.Diagnostics), verdict(first))
	}
	for range 5 {
		again := answer[tools.ValidatorOutput](s, "", "validator", input)
		if verdict(again) != verdict(first) {
			t.Fatalf("it answers %s and %s", verdict(first), verdict(again))
		}
	}
	full := answer[tools.ValidatorOutput](s, "", "validator", object{"run": inlineFiles("r", strings.Repeat("a line\n", 1000))})
	if d := full.Diagnostics; len(d) != 1 || d[0].Lines != "1 to 1000" || d[0].Count != 1000 {
		t.Errorf("got %+v", d)
	}
}

// Without a dataset and a format, the answer says how the file was read.
func TestValidator_DetectsTheFormat(t *testing.T) {
	s := newToolServer(t, record.Public)
	for _, c := range []struct {
		text, kind, want string // kind of evaluator and format, id and value
		guessed          bool
	}{
		{datasetRun, "", "retrieval trec-run  ", true},
		{"1 Q0 a,b 1 2.5 x\n", "", "retrieval trec-run  ", true},
		{"\ufeff\nid,label\n1,a\n", "", "classification csv id label", true},
		{"label,ID,more\na,1,x\n", "", "classification csv ID label", true},
		{"id,label\n1,1\n2,0\n", "", "classification csv id label", true},
		{"item,x,score\n1,y,0.5\n", "", "regression csv item score", true},
		{"item,x,score\n1,y,0.5\n", "classification", "classification csv item score", true},
		{`{"score": 0.25, "uid": "a"}` + "\n", "", "regression jsonl uid score", true},
		{`{"uid": 1, "prediction": "yes"}` + "\n", "", "classification jsonl uid prediction", true},
		{`{"p": 1, "q": "yes"}` + "\n", "", "classification jsonl p q", true},
		{`{"p": 1, "q": "yes"` + "\n", "", "classification jsonl p label", true},
		{`{"id": 1, "score": NaN}` + "\n", "", "classification jsonl id score", true},
		{`{"text": "` + strings.Repeat("x", 70_000) + `", "uid": 1}` + "\n", "", "classification jsonl uid text", true},
		{"ID;Label\na;x\n", "", "classification csv ID Label", true},
		{"# sent_id = 1\n# text = EU\nEU NNP B-ORG\n\n# sent_id = 2\nX O\n", "", "spans conll  ", true},
		{"p," + strings.Repeat("é", 101) + ",q\n", "", "classification csv p q", true},
		{"p," + strings.Repeat("é", 101) + "\n", "", "retrieval trec-run  ", true},
		{"# made by x, y\n\n1 Q0 a 1 2.5 x\n", "", "retrieval trec-run  ", true},
		{"#id,label\na,b\n", "", "classification csv #id label", true},
		{"id\tlabel\na\tb, c\n", "", "classification csv id label", true},
		{"id\tlabel\n1\tx\n", "", "classification csv id label", true},
		{`{"qid":"1","docid":"d","score":1.0}` + "\n", "", "retrieval trec-run  ", true},
		{`{"qid":"1","docid":"d","score":1.0}` + "\n", "regression", "regression jsonl docid score", true},
		{`{"docid":"d","score":1.0}` + "\n", "", "classification jsonl docid score", true},
		{"topic,docid,rank,score,tag\n1,d,1,2.5,x\n", "", "retrieval trec-run  ", true},
		{"query-id\tcorpus-id\tscore\n1\td\t2\n", "", "retrieval trec-run  ", true},
		{`{"id": 1, "labels": ["a", "b"]}` + "\n", "", "multilabel jsonl id labels", true},
		{"id,labels\n1,a|b\n", "", "multilabel csv id labels", true},
		{`{"id": 1, "value": {"a": 0.5, "b": 0.5}}` + "\n", "", "probabilities jsonl id value", true},
		{"id,cat,dog\n1,0.5,0.5\n", "probabilities", "probabilities csv id label", true},
		{"[1,2]\n", "", "classification jsonl id value", true},
		{"[1,2]\n[3,4]\n", "", "classification jsonl id value", true},
		{"[\n  {\"id\": 1}\n]\n", "", "classification jsonl id value", true},
		{`[{"id": 1, "text": "` + strings.Repeat("x", 70_000) + `"}]`, "", "classification jsonl id value", true},
		{"[1] Q0 d 1 2.5 x\n", "", "retrieval trec-run  ", true},
		{"[a],[b]\n1,2\n", "", "classification csv [a] [b]", true},
		{"1\t0\ta\t1\t2.5\tx\n", "", "retrieval trec-run  ", true},
		{measuretest.Gzip(t, "id,label\n1,a\n"), "", "classification csv id label", true},
		{"id,label\n1,a\n", "retrieval", "retrieval trec-run  ", false},
		{"EU NNP B-ORG\nrejects VBZ O\n\n-DOCSTART- -X- O\n\nPeter\tB-PER\n", "", "spans conll  ", true},
		{"EU O\nrejects O\n", "", "retrieval trec-run  ", true},
		{"EU O\nrejects O\n", "spans", "spans conll  ", true},
		{"EU B-ORG\nrejects\n", "", "retrieval trec-run  ", true},
		{`{"uid": 1, "parts": [{"start": 0, "end": 4}]}` + "\n", "", "spans jsonl uid parts", true},
		{`{"parts": [{"start": 0, "end": 4}], "label": 1, "x": 2}` + "\n", "", "spans jsonl x parts", true},
		{`{"id": 1, "spans": []}` + "\n", "spans", "spans jsonl id spans", true},
		{`{"id": 1, "spans": "x"}` + "\n", "spans", "spans jsonl id spans", true},
	} {
		input := object{"run": inlineFiles("r", c.text)}
		if c.kind != "" {
			input["kind"] = c.kind
		}
		var out struct {
			Kind, Guess string
			Format      record.RunFormat
		}
		s.invoke(http.StatusOK, &out, "", "validator", input)
		if got := fmt.Sprint(out.Kind, " ", out.Format.Kind, " ", out.Format.IDField, " ", out.Format.ValueField); got != c.want ||
			(out.Guess != "") != c.guessed {
			t.Errorf("%q: %s (%s), want %s", c.text, got, out.Guess, c.want)
		}
	}
	for text, want := range map[string]string{
		`{"qid":"1","docid":"d","score":1.0}`: "in the format jsonl, which has to be converted to a format of TREC before it is evaluated, so it was read as a TREC run",
		"[1,2]\n":                             "begins with a JSON array, where JSON lines have one object in each line",
		"1 0 d 1\n":                           "only 4 of 6 fields: topic, Q0, document, rank, score and tag; it looks like one of qrels",
		"1 Q0 d 1\n":                          "only 4 of 6 fields: topic, Q0, document, rank, score and tag\"",
		"1,Q0,d,1,2.5,x\n": "it looks like CSV or JSON: convert it to the format of TREC, " +
			"with spaces or tabs between the fields",
		"1\u00a0Q0 d 1 2.5 x\n": "only 5 of 6 fields: topic, Q0, document, rank, score and tag; U+00A0, which is a no-break space",
		"1\u2003Q0 d 1 2.5 x\n": "; U+2003, which is",
	} {
		if a := s.invoke(http.StatusOK, nil, "", "validator", object{"run": inlineFiles("r", text)}); !strings.Contains(string(a.Body), want) {
			t.Errorf("%q: %s, want %q", text, a.Body, want)
		}
	}
	for text, want := range map[string]string{
		"1 0 a 1\n": "retrieval TREC qrels", "1\t0\ta\t1\n": "retrieval TREC qrels", "id,label\na,x\n": "classification csv",
		"id\ty\na\t0.5\n": "regression csv",
	} {
		var out struct{ Kind, Guess string }
		s.invoke(http.StatusOK, &out, "", "validator", object{"truth": inlineFiles("t", text)})
		if kind, as, _ := strings.Cut(want, " "); out.Kind != kind || !strings.Contains(out.Guess, "read as "+as) {
			t.Errorf("the truth %q: %s (%s), want %s", text, out.Kind, out.Guess, want)
		}
	}
	var out struct{ Guess string }
	s.invoke(http.StatusOK, &out, "", "validator", object{"run": inlineFiles("r", datasetRun), "datasetId": s.dataset.ID})
	if out.Guess != "" {
		t.Errorf("a format that is known is guessed: %s", out.Guess)
	}
}
