package acceptancetest

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"assay/shared/domain/record"
	"assay/shared/language/problem"
)

// submit makes a submission and requires that it is accepted.
func (st *scenario) submit(caller user, task string, body any) (entry, record.Submission) {
	st.t.Helper()
	var s record.Submission
	a := st.want(http.StatusCreated, &s, caller, http.MethodPost, task+"/submissions", body)
	e := entry{path: a.header.Get("Location")}
	for _, run := range s.RunIDs {
		e.runs = append(e.runs, "/v1/runs/"+run)
	}
	return e, s
}

func (st *scenario) uploads() {
	results, bm25 := read(st.t, "news/results.run"), read(st.t, "cacm/bm25.run")
	var s record.Submission
	st.annNews, s = st.submit(st.ann, st.public, upload("public", on(st.news, inline("results.run", results))))
	if s.Team != st.annTeam() || s.UserID != st.ann.id || s.Quota == nil || s.Quota.Remaining != nil || len(s.DatasetIDs) != 1 {
		st.t.Errorf("%+v, want ann's, on one dataset and without limits", s)
	}
	run := st.run(st.annNews.runs[0], record.Completed)
	if run.Attempts != 1 || run.QueuedAt == nil || run.StartedAt == nil || run.FinishedAt == nil || len(run.Diagnostics) > 0 {
		st.t.Errorf("%+v, want its instants and nothing to complain of", run)
	}
	st.get(st.ann, "/v1/evaluations/"+run.EvaluationID, &st.firstEvaluation)
	st.equal(st.firstEvaluation, "news/results.values")

	st.annCACM, s = st.submit(st.ann, st.public, upload("public", on(st.cacm, declared("bm25.run", bm25))))
	st.uploaded(s, bm25)
	st.run(st.annCACM.runs[0], record.Completed)

	truncated := compressed(st.t, read(st.t, "news/truncated.run"))
	st.benBoth, s = st.submit(st.ben, st.public, upload("private",
		on(st.news, inline("truncated.run.gz", truncated)), on(st.cacm, inline("short.run", cut(bm25, 3)))))
	if len(s.RunIDs) != 2 || s.Visibility != record.Private {
		st.t.Fatalf("%+v, want a private submission with two runs", s)
	}
	run = st.run(st.benBoth.runs[0], record.Completed)
	if warnings := fmt.Sprint(run.Diagnostics); len(run.Diagnostics) != 2 || !strings.Contains(warnings, "six fields") ||
		!strings.Contains(warnings, `"302"`) {
		st.t.Errorf("diagnostics %s, want warnings of the fields too many and of the topic that is missing", warnings)
	}
	var e record.Evaluation
	st.get(st.ben, "/v1/evaluations/"+run.EvaluationID, &e)
	st.equal(e, "news/truncated.values")
	st.benCACM, _ = st.submit(st.ben, st.public, upload("private", on(st.cacm, inline("bm25.run", bm25))))
	st.run(st.benBoth.runs[1], record.Completed)
	st.run(st.benCACM.runs[0], record.Completed)
	st.get(st.olivia, st.annCACM.runs[0], &run)
	if status, got := st.download(run.Files[0].URL); status != http.StatusOK || !bytes.Equal(got, bm25) {
		st.t.Errorf("the link of a run leads its organizer to %d, %d bytes", status, len(got))
	}
}

// uploaded uploads the bytes of a submission of one file.
func (st *scenario) uploaded(s record.Submission, content []byte) {
	st.t.Helper()
	f := s.Files[0]
	if f.State != record.FilePending || f.Upload == nil {
		st.t.Fatalf("%+v, want a link to upload the bytes to", f)
	}
	st.run("/v1/runs/"+s.RunIDs[0], record.AwaitingUpload)
	if status := st.put(f.Upload, content); status >= 300 {
		st.t.Fatalf("the declared bytes are answered with %d", status)
	}
}

// quotas uses up the runs of a day. A run that fails because its file is invalid, and a cancelled run, do not count.
func (st *scenario) quotas() {
	st.post(st.ben, st.limited+"/registrations", map[string]any{"team": "Otter"})
	unreadable := []byte("id,label\n1,a\n2\n\"3,b\n")
	failed, s := st.submit(st.ben, st.limited, upload("private", on(st.little, declared("run.csv", unreadable))))
	st.uploaded(s, unreadable)
	if run := st.run(failed.runs[0], record.Failed); len(run.Diagnostics) == 0 || run.EvaluationID != "" {
		st.t.Errorf("%+v, want it to say what is wrong", run)
	}
	cancelled, _ := st.submit(st.ben, st.limited, image(st.little)) // no worker leases it
	st.patch(st.ben, cancelled.runs[0], nil, map[string]any{"state": "cancelled"})
	labels := upload("private", csvFile("run.csv", "id,label\n1,a\n2,b\n", st.little))
	for left := 2; left >= 0; left-- {
		_, s = st.submit(st.ben, st.limited, labels)
		if q := s.Quota; *q.RemainingToday != left || *q.Remaining != left+1 || q.ResetsAt.Sub(s.CreatedAt.Time) > record.Day {
			st.t.Errorf("%+v, want %d of three left today and %d of four in all", q, left, left+1)
		}
	}
	st.refused(problem.QuotaToday, st.ben, http.MethodPost, st.limited+"/submissions", labels)
}

// evaluationOf returns the id of the evaluation of a run as the organizer sees it.
func (st *scenario) evaluationOf(run string) string {
	st.t.Helper()
	return st.run(run, record.Completed).EvaluationID
}

// evaluations returns the path of the list of a run's evaluations.
func evaluations(run string) string { return "/v1/evaluations?filter[runId]=" + id(run) }

// board returns the path of the leaderboard of a dataset of the public task.
func (st *scenario) board(dataset string) string {
	return st.public + "/evaluations?sort=rank&filter[datasetId]=" + dataset
}

// publish shows the evaluation of a run to everyone.
func (st *scenario) publish(run string) {
	st.t.Helper()
	st.patch(st.olivia, run+"/review", nil, map[string]any{"published": true, "blinded": false, "noErrors": true, "comment": "Well done."})
	st.await("the evaluation of "+run, func() error {
		if got := st.list(st.anyone, evaluations(run)); len(got) != 1 {
			return fmt.Errorf("nobody sees %v, want one", got)
		}
		return nil
	})
}

// rankedRun is the expected entry of a run on a leaderboard.
type rankedRun struct {
	rank int
	team string
	run  string
}

// ranked waits until a leaderboard has these entries. It returns its evaluations.
func (st *scenario) ranked(caller user, path string, want ...rankedRun) []record.Evaluation {
	st.t.Helper()
	var p struct{ Data []record.Evaluation }
	st.await("GET "+path+" as "+caller.name, func() error {
		st.get(caller, path, &p)
		var got []rankedRun
		for _, e := range p.Data {
			got = append(got, rankedRun{e.Rank, e.Team, "/v1/runs/" + e.RunID})
		}
		if !slices.Equal(got, want) {
			return fmt.Errorf("%v, want %v", got, want)
		}
		return nil
	})
	return p.Data
}

func (st *scenario) leaderboard() {
	for _, run := range []string{st.annNews.runs[0], st.annCACM.runs[0], st.benBoth.runs[0], st.benBoth.runs[1], st.benCACM.runs[0]} {
		st.publish(run)
	}
	alias, otter := st.alias(), "Otter "+st.tail
	places := []rankedRun{{1, alias, st.annCACM.runs[0]}, {1, otter, st.benCACM.runs[0]}, {3, otter, st.benBoth.runs[1]}}
	all := st.ranked(st.anyone, st.board(st.cacm), places...)
	st.equal(all[0], "cacm/bm25.values")
	st.equal(all[1], "cacm/bm25.values")
	var single record.Evaluation
	st.get(st.anyone, "/v1/evaluations/"+all[1].ID, &single)
	st.equal(single, "cacm/bm25.values")
	if all[0].UserID != "" || all[1].UserID != st.ben.id || all[0].PerTopic != nil || all[0].TruthVersion != 1 {
		st.t.Errorf("%+v", all)
	}
	st.ranked(st.anyone, st.board(st.news), rankedRun{1, alias, st.annNews.runs[0]}, rankedRun{2, otter, st.benBoth.runs[0]})
}

// alias returns the alias of ann's team, which others see instead of its name.
func (st *scenario) alias() string {
	st.t.Helper()
	var r record.Registration
	st.get(st.ann, st.annRegistration, &r)
	return r.Alias
}

func separator(path string) string {
	if strings.Contains(path, "?") {
		return "&"
	}
	return "?"
}

// renamed makes a team anonymous and then shows its name again. The leaderboards follow.
func (st *scenario) renamed() {
	var ben record.Registration
	for _, anonymous := range []bool{true, false} {
		st.patch(st.ben, st.benRegistration, &ben, map[string]any{"anonymous": anonymous})
		team := map[bool]string{true: ben.Alias, false: ben.Team}[anonymous]
		st.ranked(st.sam, st.board(st.cacm), rankedRun{1, st.alias(), st.annCACM.runs[0]}, rankedRun{1, team, st.benCACM.runs[0]},
			rankedRun{3, team, st.benBoth.runs[1]})
	}
}

// runByID refers to a stored run in the input of a tool.
func runByID(run string) map[string]any { return map[string]any{"runId": id(run)} }

func (st *scenario) tools() {
	tool := func(name string) string { return "/v1/tools/" + name }
	both := []any{runByID(st.annCACM.runs[0]), runByID(st.benBoth.runs[1])}
	pair := map[string]any{"runs": both}
	var values struct {
		Measures []string
		Runs     []record.Evaluation // an evaluated run has members with the same names
	}
	st.want(http.StatusOK, &values, st.anyone, http.MethodPost, tool("evaluator"), pair)
	st.equal(values.Runs[0], "cacm/bm25.values")

	against := map[string]any{"runs": both, "truth": map[string]any{"datasetId": st.cacm}, "measures": []string{"P@3"}}
	st.want(http.StatusOK, &values, st.olivia, http.MethodPost, tool("evaluator"), against)
	if v := values.Runs[0].Measures["P@3"]; v == nil || *v <= 0 {
		st.t.Errorf("P@3 is %v", v)
	}

	for name, input := range map[string]map[string]any{
		"significance": pair, "topics": pair, "diffir": pair, "serp": {"run": runByID(st.annCACM.runs[0])}, "leaderboard": {"datasetId": st.cacm},
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

// files tests files that tools write. Small files are in the answer, large ones behind a link for callers who are logged in.
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
