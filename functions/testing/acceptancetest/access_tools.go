package acceptancetest

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// examples returns the example inputs of the tools by name.
func (f *fixture) examples() map[string]any {
	f.t.Helper()
	var list struct {
		Data []struct {
			Name    string
			Example any
		}
	}
	f.want(f.t, http.StatusOK, &list, "", http.MethodGet, "/v1/tools", nil)
	examples := map[string]any{}
	for _, tool := range list.Data {
		examples[tool.Name] = tool.Example
	}
	return examples
}

// ranked is a dataset of retrieval and its runs, by description. The callers have different rights to the runs.
type ranked struct {
	dataset string
	runs    map[string]string
}

// rankedRuns holds the visibility and the review of each run of the owner.
var rankedRuns = map[string]struct {
	visibility         string
	published, blinded bool
}{
	"published":          {"public", true, false},
	"also published":     {"public", true, false},
	"of a private entry": {"private", true, false},
	"unpublished":        {"public", false, false},
	"blinded":            {"public", true, true},
	"private":            {"private", false, false},
}

func (f *fixture) newRanked(p taskIDs) ranked {
	f.t.Helper()
	set := newDataset(p.task, "validation")
	set["truths"] = []any{csvFile(truthFile, "1 0 d1 1\n1 0 "+truthDocument+" 1\n2 0 d2 1\n", "")}
	set["inputs"] = []any{csvFile("texts.tsv", "d1\t"+map[bool]string{true: privateText, false: "the first"}[p.task == f.private.task]+"\n",
		"")}
	set["runFormat"] = map[string]any{"kind": "trec-run"}
	set["evaluator"] = map[string]any{"kind": "retrieval", "measures": []string{"AP"}}
	r := ranked{id(f.create(f.t, f.tokens["organizer"], "/v1/datasets", set)), map[string]string{}}
	for name, e := range rankedRuns {
		var made struct{ RunIDs []string }
		f.want(f.t, http.StatusCreated, &made, f.tokens["owner"], http.MethodPost, "/v1/tasks/"+p.task+"/submissions", map[string]any{
			"type": "upload", "visibility": e.visibility,
			"files": []any{csvFile("run.txt", "1 Q0 d1 1 2.0 "+strings.ReplaceAll(name, " ", "-")+"\n1 Q0 d2 2 1.0 tag\n2 Q0 d1 1 2.0 tag\n",
				r.dataset)},
		})
		r.runs[name] = made.RunIDs[0]
	}
	for name, run := range r.runs {
		f.awaitEvaluation(run)
		e := rankedRuns[name]
		f.want(f.t, http.StatusOK, nil, f.tokens["organizer"], http.MethodPatch, "/v1/runs/"+run+"/review", map[string]any{
			"published": e.published, "blinded": e.blinded})
	}
	return r
}

// toolInput makes a tool's input from a run and another run, which everyone who sees the task may read.
type toolInput struct {
	values bool // the tool needs the values of runs; otherwise it needs their files
	input  func(run, other string) map[string]any
}

func pair(run, other string) map[string]any {
	return map[string]any{"runs": []any{map[string]any{"runId": other}, map[string]any{"runId": run}}}
}

func one(run, _ string) map[string]any { return map[string]any{"run": map[string]any{"runId": run}} }

// toolInputs has every tool that works on runs.
var toolInputs = map[string]toolInput{
	"evaluator":    {true, pair},
	"significance": {true, pair},
	"topics":       {true, pair},
	"diffir":       {false, pair},
	"fusion":       {false, pair},
	"pool":         {false, pair},
	"serp":         {false, one},
	"validator":    {false, one},
	"converter": {false, func(run, other string) map[string]any {
		input := one(run, other)
		input["to"] = "jsonl"
		return input
	}},
}

// checkTools checks for every tool and caller that the tool uses only data that the resources show to the caller.
func (f *fixture) checkTools() {
	f.t.Helper()
	names := slices.Sorted(maps.Keys(f.inputs))
	for _, p := range []taskIDs{f.public, f.private} {
		r := f.newRanked(p)
		for _, caller := range callers {
			f.checkTruth(caller, r)
			for about, run := range r.runs {
				other := r.runs["also published"]
				if about == "also published" {
					other = r.runs["published"]
				}
				f.checkRun(caller, about, names, run, other)
			}
		}
	}
}

// checkRun invokes every tool on a run.
func (f *fixture) checkRun(caller, about string, names []string, run, other string) {
	f.t.Helper()
	var shown struct {
		Files        []struct{ URL string }
		EvaluationID string
	}
	_ = json.Unmarshal(f.ask(caller, http.MethodGet, "/v1/runs/"+run, nil).body, &shown) // a problem document has neither member
	files := len(shown.Files) > 0 && shown.Files[0].URL != ""
	values := f.ask(caller, http.MethodGet, "/v1/evaluations/"+f.awaitEvaluation(run), nil).status == http.StatusOK
	judgments := f.readsTruth(caller, run)
	for _, name := range names {
		with, ok := toolInputs[name]
		if !ok {
			if name != "leaderboard" {
				f.t.Errorf("how to ask the tool %s about a run is not written down", name)
			}
			continue
		}
		want := http.StatusNotFound
		if with.values && values || !with.values && files {
			want = http.StatusOK
		}
		got := f.ask(caller, http.MethodPost, "/v1/tools/"+name, with.input(run, other))
		if got.status != want {
			f.t.Errorf("%s of a run that is %s, as %s: %d, want %d\n%s", name, about, caller, got.status, want, got.body)
		}
		f.sameByAddress(caller, name, with.input(run, other), want)
		if judged := bytes.Contains(got.body, []byte(`"grade"`)); judged && !judgments {
			f.t.Errorf("%s of a run that is %s shows judgments to %s\n%s", name, about, caller, got.body)
		}
	}
}

// sameByAddress sends the same input by GET, for a page or a chart if the tool has them. It also sends the entity tag of the
// answer: knowing the tag must not change the rights of a caller.
func (f *fixture) sameByAddress(caller, tool string, input map[string]any, want int) {
	f.t.Helper()
	text, err := json.Marshal(input)
	if err != nil {
		f.t.Fatal(err)
	}
	path := "/v1/tools/" + tool + "/result?input=" + url.QueryEscape(string(text))
	// callers take turns
	accept := []string{"text/html, application/problem+json, */*;q=0.1", "image/svg+xml, */*;q=0.1"}[slices.Index(callers, caller)%2]
	have := f.answerOnce("organizer", request{method: http.MethodGet, path: path, headers: []string{"Accept", accept}})
	if have.status != http.StatusOK || have.header.Get("ETag") == "" {
		f.t.Errorf("%s as organizer: %d, %v", path, have.status, have.header)
		return
	}
	if got := f.ask(caller, http.MethodGet, path, nil, "Accept", accept); got.status != want {
		f.t.Errorf("%s as %s, as %s: %d, want %d\n%s", path, caller, accept, got.status, want, got.body)
	}
	got := f.ask(caller, http.MethodGet, path, nil, "Accept", accept, "If-None-Match", have.header.Get("ETag"))
	if got.status != want && !(want == http.StatusOK && got.status == http.StatusNotModified) {
		f.t.Errorf("%s as %s, with the tag of another: %d, want %d\n%s", path, caller, got.status, want, got.body)
	}
}

// readsTruth reports whether the caller may read the truth of the run's dataset.
func (f *fixture) readsTruth(caller, run string) bool {
	f.t.Helper()
	var r struct{ DatasetID string }
	f.want(f.t, http.StatusOK, &r, f.tokens["organizer"], http.MethodGet, "/v1/runs/"+run, nil)
	return bytes.Contains(f.ask(caller, http.MethodGet, "/v1/datasets/"+r.DatasetID, nil).body, []byte(truthFile))
}

// checkTruth evaluates a run in the request against the truth of a dataset, and requests the leaderboard of the dataset.
func (f *fixture) checkTruth(caller string, r ranked) {
	f.t.Helper()
	seen := f.ask(caller, http.MethodGet, "/v1/datasets/"+r.dataset, nil)
	want, board := http.StatusNotFound, http.StatusNotFound
	if seen.status == http.StatusOK {
		want, board = http.StatusForbidden, http.StatusOK
	}
	if bytes.Contains(seen.body, []byte(truthFile)) {
		want = http.StatusOK
	}
	mine := map[string]any{"files": []any{map[string]any{"name": "run.txt", "content": "MSBRMCBkMSAxIDIgbWluZQo="}}}
	truth := map[string]any{"datasetId": r.dataset}
	for _, name := range []string{"evaluator", "topics", "diffir"} {
		body := map[string]any{"runs": []any{mine, mine}, "truth": truth}
		if got := f.ask(caller, http.MethodPost, "/v1/tools/"+name, body); got.status != want {
			f.t.Errorf("%s against a truth as %s: %d, want %d\n%s", name, caller, got.status, want, got.body)
		}
	}
	if got := f.ask(caller, http.MethodPost, "/v1/tools/converter", map[string]any{"qrels": truth, "to": "trec-qrels"}, "Accept",
		"text/plain"); got.status != want {
		f.t.Errorf("convert of a truth as %s: %d, want %d\n%s", caller, got.status, want, got.body)
	}
	if got := f.ask(caller, http.MethodPost, "/v1/tools/serp", map[string]any{"run": mine, "texts": truth}); got.status != board {
		f.t.Errorf("serp with the texts of a dataset as %s: %d, want %d\n%s", caller, got.status, board, got.body)
	}
	for name, body := range map[string]map[string]any{
		"validator": {"run": mine, "datasetId": r.dataset}, "diffir": {"runs": []any{mine, mine}, "texts": truth},
	} {
		if got := f.ask(caller, http.MethodPost, "/v1/tools/"+name, body); got.status != board {
			f.t.Errorf("%s about a dataset as %s: %d, want %d\n%s", name, caller, got.status, board, got.body)
		}
	}
	against := f.ask(caller, http.MethodPost, "/v1/tools/leaderboard", map[string]any{"datasetId": r.dataset, "against": 1})
	if hidden := against.status == http.StatusNotFound; hidden != (board == http.StatusNotFound) { // the dataset has only one version
		f.t.Errorf("leaderboard against a version as %s: %d\n%s", caller, against.status, against.body)
	}
	got := f.ask(caller, http.MethodPost, "/v1/tools/leaderboard", map[string]any{"datasetId": r.dataset, "best": false})
	if got.status != board {
		f.t.Errorf("leaderboard as %s: %d, want %d\n%s", caller, got.status, board, got.body)
	}
	for about, run := range r.runs {
		visible := f.ask(caller, http.MethodGet, "/v1/evaluations/"+f.awaitEvaluation(run), nil).status == http.StatusOK
		if listed := bytes.Contains(got.body, []byte(f.awaitEvaluation(run))); listed != visible {
			f.t.Errorf("leaderboard as %s has the run that is %s: %v, want %v", caller, about, listed, visible)
		}
	}
}
