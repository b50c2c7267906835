package tools_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"assay/functions/tools"
	"assay/shared/computation/measure/measuretest"
	"assay/shared/domain/record"
)

func TestConverter_NamesFilesAndMediaTypes(t *testing.T) {
	s := newToolServer(t, record.Public)
	for to, want := range map[string]string{
		"trec-qrels": "qrels.txt text/plain; charset=utf-8", "jsonl": "qrels.jsonl text/plain; charset=utf-8",
		"csv": "qrels.csv text/csv; charset=utf-8", "beir": "qrels.tsv text/tab-separated-values; charset=utf-8",
	} {
		out := answer[tools.ConverterOutput](s, "", "converter", object{"qrels": inlineFiles("../hostile\";.exe", "1 7 a 1\n"), "to": to})
		if got := out.File.Name + " " + out.File.MediaType; got != want {
			t.Errorf("%s is %s, want %s", to, got, want)
		}
		own, _, _ := strings.Cut(out.File.MediaType, ";")
		for accept, want := range map[string]string{
			own: out.File.MediaType, "text/*": out.File.MediaType, "text/plain": "text/plain; charset=utf-8"} {
			a := s.invoke(http.StatusOK, nil, "", "converter", object{"qrels": inlineFiles("q", "1 7 a 1\n"), "to": to}, "Accept", accept)
			if got := a.Header.Get("Content-Type"); got != want || !bytes.Equal(a.Body, out.File.Content) {
				t.Errorf("%s as %s is %s:\n%s", to, accept, got, a.Body)
			}
		}
		back := answer[tools.ConverterOutput](s, "", "converter", object{"qrels": inlineFiles("f", string(out.File.Content)), "from": to,
			"to": "trec-qrels"})
		if grade := map[bool]string{true: "1 0 a 1\n", false: "1 7 a 1\n"}[to == "beir"]; string(back.File.Content) != grade {
			t.Errorf("from %s it comes back as %s", to, back.File.Content)
		}
		if lossy := to == "beir"; lossy != (len(out.Diagnostics) == 1) {
			t.Errorf("%s: the warnings about the iteration are %+v", to, out.Diagnostics)
		}
	}
}

// Until the result is known, the problem lists all media types of the tool. Later it lists the media types of the result.
func TestConverter_NamesItsMediaTypes(t *testing.T) {
	s := newToolServer(t, record.Public)
	input := object{"qrels": inlineFiles("q", "1 7 a 1\n"), "to": "trec-qrels"}
	for accept, want := range map[string]string{
		"image/svg+xml": "can be application/json or text/plain or text/csv or text/tab-separated-values or text/html.",
		"text/csv":      "can be application/json or text/plain or text/html.",
	} {
		if a := s.invoke(http.StatusNotAcceptable, nil, "", "converter", input, "Accept", accept); !strings.Contains(string(a.Body), want) {
			t.Errorf("%s: %s", accept, a.Body)
		}
	}
}

func TestConverter_RefusesInvalidInputs(t *testing.T) {
	s := newToolServer(t, record.Public)
	run := inlineFiles("run.txt", datasetRun)
	qrels := inlineFiles("qrels.txt", datasetQrels)
	s.wantRefusals("converter", map[string]refusal{
		"nothing to convert":     {object{"to": "csv"}, "", ""},
		"run and qrels":          {object{"run": run, "qrels": qrels, "to": "csv"}, "", ""},
		"run to BEIR":            {object{"run": run, "to": "beir"}, "/to", ""},
		"run from qrels":         {object{"run": run, "from": "trec-qrels", "to": "csv"}, "/from", ""},
		"qrels to a run":         {object{"qrels": qrels, "to": "trec-run"}, "/to", ""},
		"unknown format":         {object{"qrels": qrels, "to": "xml"}, "/to", ""},
		"qrels as a run":         {object{"run": inlineFiles("qrels.txt", "1 0 a 2\n"), "to": "csv"}, "/run/files/0", ""},
		"values of spans":        {object{"run": run, "kind": "spans", "to": "csv"}, "/kind", ""},
		"kind of judgments":      {object{"qrels": qrels, "kind": "retrieval", "to": "csv"}, "/kind", ""},
		"labels to TREC":         {object{"run": inlineFiles("a.csv", "id,label\n1,a\n"), "kind": "classification", "to": "trec-run"}, "/to", ""},
		"unknown labels":         {object{"run": run, "kind": "classification", "to": "csv"}, "/from", ""},
		"a list as a number":     {object{"run": inlineFiles("a.json", `[{"id":"1","value":[1]}]`), "kind": "regression", "to": "csv"}, "/run/files/0", ""},
		"repeated file name":     {object{"run": inlineFiles("a", datasetRun, "a", datasetRun), "to": "csv"}, "/run/files/1/name", ""},
		"file name of two lines": {object{"run": inlineFiles("a\nb", datasetRun), "to": "csv"}, "/run/files/0/name", ""},
	})
	for input, want := range map[*object]bool{{"run": inlineFiles("run.jsonl", "{}\n"), "to": "csv"}: true,
		{"run": inlineFiles("run.jsonl", "{}\n"), "from": "trec-run", "to": "csv"}: false} {
		if a := s.invoke(http.StatusUnprocessableEntity, nil, "", "converter", *input); strings.Contains(string(a.Body),
			"from does not say") != want {
			t.Errorf("%v: %s", *input, a.Body)
		}
	}
}

func TestConverter_ConvertsStoredRunsAndTruths(t *testing.T) {
	s := newToolServer(t, record.Public)
	out := answer[tools.ConverterOutput](s, "", "converter", object{"run": runRef(s.addRun(runSpec{public: true})), "to": "csv"})
	if !strings.HasPrefix(string(out.File.Content), "topic,docid,rank,score,tag\n1,b,1,2.0,tag\n") {
		t.Errorf("the run is\n%s", out.File.Content)
	}
	truth := object{"qrels": object{"datasetId": s.dataset.ID}, "to": "jsonl"}
	for _, user := range []string{"", "alice", "bob"} {
		if a := s.invoke(http.StatusForbidden, nil, user, "converter", truth); strings.Contains(string(a.Body), "docid") {
			t.Errorf("%q sees the truth: %s", user, a.Body)
		}
	}
	s.invoke(http.StatusOK, &out, "olga", "converter", truth)
	if !strings.HasPrefix(string(out.File.Content), `{"topic":"1","iteration":"0","docid":"a","grade":2}`) {
		t.Errorf("the truth is\n%s", out.File.Content)
	}
	labels := s.newClassificationDataset("id,label\n1,a\n")
	truth["qrels"] = object{"datasetId": labels.ID}
	s.wantRefusal("olga", "converter", refusal{truth, "/qrels/datasetId", "no relevance judgments"})
}

// TestConverter_ConvertsValues converts labels, numbers and texts, whose format and fields are recognized or given.
func TestConverter_ConvertsValues(t *testing.T) {
	s := newToolServer(t, record.Public)
	for name, c := range map[string]struct {
		content string
		more    object
		want    string
	}{
		"labels": {`[{"uid":"1","prediction":"a"}]`, object{"kind": "classification", "to": "csv"}, "id,label\n1,a\n"},
		"given fields": {"key;gold\n1;a\n", object{"kind": "classification", "from": "csv", "to": "jsonl",
			"fromFields": object{"idField": "key", "valueField": "gold"}, "toFields": object{"idField": "uid", "valueField": "y"}},
			`{"uid":"1","y":"a"}` + "\n"},
		"numbers":       {`{"1":2.5,"2":3,"3":4}`, object{"kind": "regression", "to": "csv"}, "id,value\n1,2.5\n2,3\n3,4\n"},
		"probabilities": {"id,a,b\n1,0.25,0.75\n", object{"kind": "probabilities", "to": "jsonl"}, `{"id":"1","value":{"a":0.25,"b":0.75}}` + "\n"},
		"texts":         {"id,text\n1,a lake\n", object{"kind": "text", "to": "jsonl"}, `{"id":"1","text":"a lake"}` + "\n"},
		"a ranking":     {`{"q1": {"d1": 2.5}}`, object{"kind": "retrieval", "to": "trec-run"}, "q1 Q0 d1 0 2.5 run\n"},
	} {
		c.more["run"] = inlineFiles("run", c.content)
		if out := answer[tools.ConverterOutput](s, "", "converter", c.more); string(out.File.Content) != c.want {
			t.Errorf("%s: %s", name, out.File.Content)
		}
	}
}

// TestValidator_NamesTheConversionThatHeals converts refused files as the validator says, and validates the result.
func TestValidator_NamesTheConversionThatHeals(t *testing.T) {
	s := newToolServer(t, record.Public)
	jsonl := object{"kind": "jsonl", "idField": "id", "valueField": "label"}
	for name, c := range map[string]struct {
		content string
		as      object // what the files must be
		heals   bool
	}{
		"labels as csv":     {"id,label\n1,a\n", object{"kind": "classification", "format": jsonl}, true},
		"labels as json":    {`[{"id":"1","label":"a"}]`, object{"kind": "classification", "format": jsonl}, true},
		"a ranking of ranx": {`{"q1": {"d1": 2.5}}`, object{"kind": "retrieval"}, true},
		"other fields":      {"key,gold\n1,a\n", object{"kind": "classification", "format": jsonl}, false},
		"a list of numbers": {`[{"id":"1","label":[1]}]`, object{"kind": "regression", "format": jsonl}, false},
		"the right format":  {`{"id":"1","label":""}` + "\n", object{"kind": "classification", "format": jsonl}, false},
	} {
		c.as["run"] = inlineFiles("f", c.content)
		out := answer[tools.ValidatorOutput](s, "", "validator", c.as)
		if out.Valid || (out.Conversion != nil) != c.heals {
			t.Errorf("%s: valid %t, conversion %+v", name, out.Valid, out.Conversion)
			continue
		}
		if !c.heals {
			continue
		}
		convert := map[string]any{}
		text, _ := json.Marshal(out.Conversion)
		_ = json.Unmarshal(text, &convert)
		convert["run"] = c.as["run"]
		c.as["run"] = inlineFiles("f", string(answer[tools.ConverterOutput](s, "", "converter", convert).File.Content))
		if out := answer[tools.ValidatorOutput](s, "", "validator", c.as); !out.Valid {
			t.Errorf("%s: %+v", name, out.Diagnostics)
		}
	}
}

func TestInlineFiles_AreBounded(t *testing.T) {
	s := newToolServer(t, record.Public)
	zipped := measuretest.Gzip(t, datasetRun)
	out := answer[tools.ConverterOutput](s, "", "converter", object{"run": inlineFiles("run.txt.gz", zipped), "to": "trec-run"})
	if string(out.File.Content) != datasetRun {
		t.Errorf("unpacked it is\n%s", out.File.Content)
	}
	megabyte := measuretest.Gzip(t, strings.Repeat(strings.Repeat(" ", 1023)+"\n", 1<<10))
	s.invoke(http.StatusOK, nil, "", "validator", object{"run": inlineFiles("a.gz", megabyte)})
	bomb := strings.Repeat(megabyte, 33) // a gzip file can consist of several files in a row
	s.invoke(http.StatusRequestEntityTooLarge, nil, "", "validator", object{"run": inlineFiles("a.gz", bomb, "b.gz", bomb)})
	noise := make([]byte, record.MaxInlineBytes/2+1)
	_, _ = rand.NewChaCha8([32]byte{}).Read(noise)
	s.invoke(http.StatusOK, nil, "", "validator", object{"run": inlineFiles("a", string(noise))})
	s.invoke(http.StatusRequestEntityTooLarge, nil, "", "validator", object{"run": inlineFiles("a", string(noise), "b", string(noise))})
}

// Memory does not grow with the size of a stored run.
func TestConverter_StreamsStoredRuns(t *testing.T) {
	s := newToolServer(t, record.Public)
	var before, after runtime.MemStats
	held := s.addLargeRun(8<<20, 1)
	runtime.ReadMemStats(&before)
	out := answer[tools.ConverterOutput](s, "alice", "converter", object{"run": runRef(held), "to": "csv"})
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > uint64(out.File.Size/2) || out.File.Size < 6<<20 || out.File.URL == "" {
		t.Errorf("%d bytes of memory were used to write %d behind %q", took, out.File.Size, out.File.URL)
	}
}
