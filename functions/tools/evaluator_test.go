package tools_test

import (
	"fmt"
	"maps"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/functions/tools"
	"assay/shared/computation/measure/measuretest"
	"assay/shared/domain/record"
)

// trecData is the folder of real runs with their judgments.
const trecData = "../../shared/computation/measure/retrieval/testdata/"

func read(t testing.TB, path string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Clean(trecData + path))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// trec_eval prints these values for the run, overall and for topic 1. The tests of package retrieval compare all of its values.
func TestEvaluator_AgreesWithTrecEval(t *testing.T) {
	s := newToolServer(t, record.Public)
	want := map[string][2]float64{"AP": {0.2744, 0.1400}, "P@10": {0.3154, 0.2000}, "nDCG@10": {0.4543, 0.2676}}
	input := object{
		"runs":     []object{inlineFiles("run.txt", measuretest.Gzip(t, read(t, "cacm/bm25.run.txt")))},
		"truth":    inlineFiles("qrels.txt", measuretest.Gzip(t, read(t, "cacm/qrels.txt"))),
		"measures": slices.Collect(maps.Keys(want)),
	}
	out := answer[tools.EvaluatorOutput](s, "", "evaluator", input)
	run := out.Runs[0]
	for name, values := range want {
		value, interval := *run.Measures[name], run.Intervals[name]
		if math.Abs(value-values[0]) > 5.0001e-5 || math.Abs(run.PerTopic["1"][name]-values[1]) > 5.0001e-5 {
			t.Errorf("%s is %v, of topic 1 %v; want %v", name, value, run.PerTopic["1"][name], values)
		}
		if !(interval.Low < value && value < interval.High) {
			t.Errorf("%s is %v, its interval %v", name, value, interval)
		}
	}
	if len(run.Intervals) != len(want) || out.Rounds != 10_000 {
		t.Errorf("%d intervals of %d rounds", len(run.Intervals), out.Rounds)
	}
	drawn := func(seed int) tools.EvaluatedRun {
		return answer[tools.EvaluatorOutput](s, "", "evaluator", withMembers(input, "seed", seed, "perTopic", false)).Runs[0]
	}
	first := drawn(1)
	again := drawn(1)
	other := drawn(2)
	if first.Intervals["AP"] != again.Intervals["AP"] || first.Intervals["AP"] == other.Intervals["AP"] || first.PerTopic != nil {
		t.Errorf("%+v, %+v, %+v", first, again, other)
	}
}

const (
	exampleRun       = "1 Q0 lake 1 3 me and more\n1 Q0 pond 2 2 me\n2 Q0 lake 1 3 me\n"
	exampleJudgments = "1 0 lake 1\n1 0 pond 0\n2 0 pond 1\n"
)

// Measures that are no mean over topics or examples have no interval, for example a number of documents or macro F1.
func TestEvaluator_IntervalsAreOfMeans(t *testing.T) {
	s := newToolServer(t, record.Public)
	var out tools.EvaluatorOutput
	a := s.invoke(http.StatusOK, &out, "", "evaluator", object{
		"runs": []object{inlineFiles("file.txt", exampleRun)}, "truth": inlineFiles("file.txt", exampleJudgments), "measures": []string{
			"NumRet", "P@1"},
	})
	if body := string(a.Body); !strings.Contains(body, "more than six fields") || strings.Contains(body, "safeWhileBlinded") {
		t.Errorf("it shows a member of diagnostics that records alone have, or no warning: %s", body)
	}
	if _, ok := out.Runs[0].Intervals["NumRet"]; ok || out.Runs[0].Intervals["P@1"].High != 1 || *out.Runs[0].Measures["P@1"] != 0.5 {
		t.Errorf("%+v", out.Runs[0])
	}
	truth := inlineFiles("file.txt", "id,label\n1,a\n2,b\n")
	truth["kind"] = "classification"
	truth["format"] = object{"kind": "csv", "idField": "id", "valueField": "label"}
	out = answer[tools.EvaluatorOutput](s, "", "evaluator", object{"runs": []object{inlineFiles("file.txt", "id,label\n1,a\n2,a\n")},
		"truth": truth})
	if v := out.Runs[0].Measures["Accuracy"]; v == nil || *v != 0.5 || len(out.Runs[0].Intervals) != 1 ||
		out.Runs[0].Intervals["Accuracy"].High != 1 {
		t.Errorf("%+v", out.Runs[0])
	}
}

// A request for too many values for the memory of one invocation is refused before the computation.
func TestEvaluator_BoundsValues(t *testing.T) {
	s := newToolServer(t, record.Public)
	var qrels, run strings.Builder
	for topic := range 60_000 {
		fmt.Fprintf(&qrels, "%d 0 d 1\n", topic)
		fmt.Fprintf(&run, "%d Q0 d 1 1 me\n", topic)
	}
	runs := inlineFiles("run.txt", measuretest.Gzip(t, run.String()))
	input := object{
		"runs":  []object{runs, runs},
		"truth": inlineFiles("qrels.txt", measuretest.Gzip(t, qrels.String())), "perTopic": false,
		"measures": []string{"P@1", "P@2", "P@3", "P@4", "P@5", "P@6", "P@7", "P@8", "P@9", "P@10", "P@11", "P@12", "P@13", "P@14", "P@15"},
	}
	s.wantRefusal("", "evaluator", refusal{input, "/runs", "1800000 values"})
}

func TestInputs_ErrorsPointToTheirMember(t *testing.T) {
	s := newToolServer(t, record.Public)
	run := inlineFiles("file.txt", exampleRun)
	truth := inlineFiles("file.txt", exampleJudgments)
	runs := []object{run}
	ofFile := func(file object) object { return object{"runs": []object{{"files": []object{file}}}, "truth": truth} }
	s.wantRefusals("evaluator", map[string]refusal{
		"no run":           {object{"runs": []any{}, "truth": truth}, "/runs", ""},
		"no file of a run": {object{"runs": []object{{"name": "nothing"}}, "truth": truth}, "/runs/0", ""},
		"no truth":         {object{"runs": runs}, "/truth", ""},
		"faulty run": {object{"runs": []object{inlineFiles("file.txt", "1 Q0 lake 1 high me\n")}, "truth": truth},
			"/runs/0/files/0", ""},
		"faulty truth":        {object{"runs": runs, "truth": inlineFiles("file.txt", "1 0 lake\n")}, "/truth/files/0", ""},
		"unknown measure":     {object{"runs": runs, "truth": truth, "measures": []string{"Beauty"}}, "/measures/0", ""},
		"format of the truth": {object{"runs": runs, "truth": withMembers(truth, "format", object{"kind": "csv"})}, "/truth/format/kind", ""},
		"no base64":           {ofFile(object{"name": "run.txt", "content": "%"}), "/runs/0/files/0/content", ""},
		"empty file":          {ofFile(object{"name": "run.txt"}), "/runs/0/files/0", ""},
		"text and content":    {ofFile(object{"name": "run.txt", "text": exampleRun, "content": "MQ=="}), "/runs/0/files/0", ""},
		"unknown member":      {ofFile(object{"name": "run.txt", "content": "MQ==", "sha256": "x"}), "/runs/0/files/0/sha256", ""},
		"no id of a run":      {object{"runs": []object{{"runId": "none"}}}, "/runs/0/runId", ""},
		"no id of a dataset":  {object{"runs": runs, "truth": object{"datasetId": "none"}}, "/truth/datasetId", ""},
	})
}

func TestResult_ByGET(t *testing.T) {
	s := newToolServer(t, record.Public)
	for path, status := range map[string]int{
		"/v1/tools/nothing/result?input={}":                      http.StatusNotFound,
		"/v1/tools/evaluator/result":                             http.StatusBadRequest,
		"/v1/tools/evaluator/result?input={":                     http.StatusBadRequest,
		"/v1/tools/evaluator/result?input={}":                    http.StatusUnprocessableEntity,
		"/v1/tools/evaluator/result?input={}&fields=a":           http.StatusBadRequest,
		"/v1/tools/evaluator/result?input=" + `{"a":1,"a":2}`:    http.StatusBadRequest,
		"/v1/tools?limit=1&cursor=nothing":                       http.StatusBadRequest,
		"/v1/tools?limit=1&cursor=evaluator&fields=name,summary": http.StatusOK,
		"/v1/tools/evaluator?fields=name":                        http.StatusOK,
	} {
		if a := s.Do("", http.MethodGet, path, nil); a.Status != status {
			t.Errorf("%s: %d, want %d\n%s", path, a.Status, status, a.Body)
		}
	}
	posted := s.invoke(http.StatusOK, nil, "", "validator", object{"run": inlineFiles("r", "1 Q0 d\n")}, "Accept", "text/html")
	got := s.Want(http.StatusOK, nil, "", http.MethodGet, posted.Header.Get("Content-Location"), nil, "Accept", "text/html")
	for _, page := range []string{string(posted.Body), string(got.Body)} {
		if !strings.Contains(page, "<h1>") || !strings.Contains(page, "only 3 of 6 fields") ||
			posted.Header.Get("Content-Type") != "text/html; charset=utf-8" {
			t.Errorf("the page of what has no page of its own: %s\n%s", posted.Header, page)
		}
	}
}
