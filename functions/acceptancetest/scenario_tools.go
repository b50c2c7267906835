package acceptancetest

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"

	"assay/shared/problem"
	"assay/shared/record"
)

// held is a run that the platform holds, in the input of a tool.
func held(run string) map[string]any { return map[string]any{"runId": id(run)} }

func (st *scenario) tools() {
	tool := func(name string) string { return "/v1/tools/" + name }
	both := []any{held(st.annCACM.runs[0]), held(st.benBoth.runs[1])}
	pair := map[string]any{"runs": both}
	var values struct {
		Measures []string
		Runs     []record.Evaluation // an evaluated run has members of the same names
	}
	st.want(http.StatusOK, &values, st.anyone, http.MethodPost, tool("evaluator"), pair)
	st.equal(values.Runs[0], "cacm/bm25.values")

	against := map[string]any{"runs": both, "truth": map[string]any{"datasetId": st.cacm}, "measures": []string{"P@3"}}
	st.want(http.StatusOK, &values, st.olivia, http.MethodPost, tool("evaluator"), against)
	if v := values.Runs[0].Measures["P@3"]; v == nil || *v <= 0 {
		st.t.Errorf("P@3 is %v", v)
	}

	for name, input := range map[string]map[string]any{
		"significance": pair, "topics": pair, "diffir": pair, "serp": {"run": held(st.annCACM.runs[0])}, "leaderboard": {"datasetId": st.cacm},
	} {
		for _, media := range []string{"application/json", "text/html", "image/svg+xml"} {
			if media == "image/svg+xml" && (name == "diffir" || name == "serp") {
				continue // no charts
			}
			a := st.want(http.StatusOK, nil, st.ben, http.MethodPost, tool(name), input, "Accept", media)
			if got := a.header.Get("Content-Type"); !strings.HasPrefix(got, media) {
				st.t.Errorf("%s as %s is %s", name, media, got)
			}
			st.want(http.StatusNotModified, nil, st.ben, http.MethodGet, a.header.Get("Content-Location"), nil, "Accept", media, "If-None-Match",
				a.header.Get("ETag"))
		}
	}
	st.files(tool, pair)
}

// files are what tools write: small ones stand in the answer, large ones behind a link, for those who are logged in.
func (st *scenario) files(tool func(string) string, pair map[string]any) {
	fused := st.want(http.StatusOK, nil, st.ben, http.MethodPost, tool("fusion"), map[string]any{"runs": pair["runs"], "depth": 10}, "Accept",
		"text/plain")
	if n := bytes.Count(fused.body, []byte("\n")); n < 100 || !bytes.Contains(fused.body, []byte(" Q0 ")) {
		st.t.Errorf("the fused run has %d lines", n)
	}
	var long bytes.Buffer
	for i := range 80_000 {
		fmt.Fprintf(&long, "1 Q0 document-%d %d %d me\n", i, i+1, 80_000-i)
	}
	input := map[string]any{"run": map[string]any{
		"files": []any{map[string]any{"name": "long.txt", "content": inline("", compressed(st.t, long.Bytes()))["content"]}}}, "to": "jsonl"}
	st.refused(problem.Unauthorized, st.anyone, http.MethodPost, tool("converter"), input)
	var written struct{ File struct{ URL, SHA256 string } }
	st.want(http.StatusOK, &written, st.ann, http.MethodPost, tool("converter"), input)
	file := st.api.send(st.t, "", http.MethodGet, written.File.URL, nil)
	if file.status != http.StatusOK || digestOf(file.body) != written.File.SHA256 || bytes.Count(file.body, []byte("\n")) != 80_000 {
		st.t.Errorf("the converted run is answered with %d and has %d bytes", file.status, len(file.body))
	}
}
