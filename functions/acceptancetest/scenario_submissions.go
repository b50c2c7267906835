package acceptancetest

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"assay/shared/problem"
	"assay/shared/record"
)

// submit makes a submission that must be accepted.
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
	st.refused(problem.NotFound, st.ann, http.MethodGet, st.benBoth.path, nil)
	st.benCACM, _ = st.submit(st.ben, st.public, upload("private", on(st.cacm, inline("bm25.run", bm25))))
	st.run(st.benBoth.runs[1], record.Completed)
	st.run(st.benCACM.runs[0], record.Completed)
	st.bytesOfRuns()
}

// uploaded sends the bytes of a submission of one file, first wrong ones.
func (st *scenario) uploaded(s record.Submission, content []byte) {
	st.t.Helper()
	f := s.Files[0]
	if f.State != record.FilePending || f.Upload == nil {
		st.t.Fatalf("%+v, want a link to upload the bytes to", f)
	}
	path := "/v1/runs/" + s.RunIDs[0]
	st.run(path, record.AwaitingUpload)
	for _, wrong := range [][]byte{bytes.ToLower(content), content[:len(content)-1], append(bytes.Clone(content), '\n'), nil} {
		if status := st.put(f.Upload, wrong); status < 400 || status >= 500 {
			st.t.Errorf("%d bytes that are not the declared ones are answered with %d", len(wrong), status)
		}
	}
	if run := st.run(path, record.AwaitingUpload); run.Files[0].State != record.FilePending {
		st.t.Errorf("%+v, want the file still to be sent", run)
	}
	if status := st.put(f.Upload, content); status >= 300 {
		st.t.Fatalf("the declared bytes are answered with %d", status)
	}
}

// bytesOfRuns requires that owner and organizer get the bytes of a run, and nobody else before its review is published.
func (st *scenario) bytesOfRuns() {
	st.t.Helper()
	for _, caller := range []user{st.ann, st.olivia, st.anyone, st.ben} {
		var run record.Run
		st.get(caller, st.annCACM.runs[0], &run)
		if !caller.trusted {
			if len(run.Files) > 0 {
				st.t.Errorf("%s reads the names of the files of an anonymous team: %+v", caller.name, run.Files)
			}
			continue
		}
		if status, got := st.download(run.Files[0].URL); status != http.StatusOK || !bytes.Equal(got, read(st.t, "cacm/bm25.run")) {
			st.t.Errorf("the link leads %s to %d, %d bytes", caller.name, status, len(got))
		}
	}
}

// damaged is a run of which three lines are none.
func damaged(t testing.TB) []byte {
	t.Helper()
	lines := bytes.Split(read(t, "cacm/bm25.run"), []byte("\n"))
	lines[2] = []byte("1 Q0 CACM-1 3 11.5")
	lines[6] = []byte("1 Q0 CACM-2 7 NaN tag")
	lines[40] = []byte("2 Q0 CACM-3 11 high tag")
	return bytes.Join(lines, []byte("\n"))
}

func (st *scenario) damagedFiles() {
	submissions := st.public + "/submissions"
	before := st.list(st.ben, submissions)
	bm25 := read(st.t, "cacm/bm25.run")
	p := st.refused(problem.Invalid, st.ben, http.MethodPost, submissions,
		upload("private", on(st.news, inline("good.run", bm25)), on(st.cacm, inline("bad.run", damaged(st.t)))))
	st.names(p, "/files/1", "line 3")
	st.names(p, "/files/1", "line 7")
	st.names(p, "/files/1", "line 41")
	st.listed(st.ben, submissions, before...)
}

// labels is an entry to the small dataset.
func (st *scenario) labels(content string) map[string]any {
	return upload("private", csvFile("run.csv", content, st.little))
}

const goodLabels = "id,label\n1,a\n2,b\n"

func (st *scenario) quotas() {
	submissions := st.limited + "/submissions"
	st.post(st.ben, st.limited+"/registrations", map[string]any{"team": "Otter"})
	_, s := st.submit(st.ben, st.limited, st.labels(goodLabels))
	st.left(s, 2, 3)
	if q := s.Quota; q.ResetsAt == nil || q.ResetsAt.Sub(s.CreatedAt.Time) != record.Day {
		st.t.Errorf("%+v, want the first to come back a day after %v", q, s.CreatedAt)
	}
	st.refused(problem.Invalid, st.ben, http.MethodPost, submissions, st.labels("id,label\n1\n"))
	st.failedUpload()
	_, s = st.submit(st.ben, st.limited, st.labels(goodLabels))
	st.left(s, 1, 2)
	st.cancelled()
	_, s = st.submit(st.ben, st.limited, st.labels(goodLabels))
	st.left(s, 0, 1)

	p, header := st.refusal(problem.QuotaToday, st.ben, http.MethodPost, submissions, st.labels(goodLabels))
	if after, err := strconv.Atoi(header.Get("Retry-After")); err != nil || after <= 0 || after > 24*60*60 {
		st.t.Errorf("Retry-After is %q, want seconds of a day", header.Get("Retry-After"))
	}
	st.says(p, "3", s.Quota.ResetsAt.String())
	st.patch(st.olivia, st.limited, nil, map[string]any{"submissions": map[string]any{"perDay": 0}})
	_, s = st.submit(st.ben, st.limited, st.labels(goodLabels))
	if q := s.Quota; q.PerDay != nil || q.RemainingToday != nil || *q.Remaining != 0 {
		st.t.Errorf("%+v, want nothing left of the total and no limit of the day", q)
	}
	st.says(st.refused(problem.QuotaExhausted, st.ben, http.MethodPost, submissions, st.labels(goodLabels)), "4")

	for name, rules := range map[string]map[string]any{
		"2099-01-01T00:00:00.000Z": {"opensAt": "2099-01-01T00:00:00Z", "closesAt": nil},
		"2020-01-01T00:00:00.000Z": {"opensAt": nil, "closesAt": "2020-01-01T00:00:00Z"},
	} {
		st.patch(st.olivia, st.limited, nil, map[string]any{"submissions": rules})
		st.says(st.refused(problem.OutsideWindow, st.ben, http.MethodPost, submissions, st.labels(goodLabels)), name)
	}
	st.patch(st.olivia, st.limited, nil, map[string]any{
		"submissions": map[string]any{"opensAt": nil, "closesAt": nil, "types": []string{"image"}}})
}

// left requires what an answer says is left of three runs a day and four in all.
func (st *scenario) left(s record.Submission, today, inAll int) {
	st.t.Helper()
	q := s.Quota
	if q == nil || q.PerDay == nil || q.RemainingToday == nil || q.Total == nil || q.Remaining == nil {
		st.t.Fatalf("the quota is %+v, want all its numbers", q)
	}
	if *q.PerDay != 3 || *q.RemainingToday != today || *q.Total != 4 || *q.Remaining != inAll {
		st.t.Errorf("%d of %d are left today and %d of %d in all, want %d and %d", *q.RemainingToday, *q.PerDay, *q.Remaining, *q.Total,
			today, inAll)
	}
}

// failedUpload sends a file that cannot be read to its address: the run fails, says why, and gives back what it used.
func (st *scenario) failedUpload() {
	st.t.Helper()
	content := []byte("id,label\n1,a\n2\n\"3,b\n")
	file := on(st.little, declared("run.csv", content))
	e, s := st.submit(st.ben, st.limited, upload("private", file))
	st.left(s, 1, 2)
	if status := st.put(s.Files[0].Upload, content); status >= 300 {
		st.t.Fatalf("the declared bytes are answered with %d", status)
	}
	st.run(e.runs[0], record.Failed)
	var run record.Run
	st.get(st.ben, e.runs[0], &run)
	lines := map[int]bool{}
	for _, d := range run.Diagnostics {
		if d.Severity != "error" || d.File != "run.csv" || d.Message == "" {
			st.t.Errorf("%+v, want an error of run.csv that says what is wrong", d)
		}
		lines[d.Line] = true
	}
	if !lines[3] || !lines[4] || run.EvaluationID != "" {
		st.t.Errorf("diagnostics %+v, want those of the lines 3 and 4", run.Diagnostics)
	}
}

// cancelled cancels the run of an image, which no worker leases.
func (st *scenario) cancelled() {
	st.t.Helper()
	e, s := st.submit(st.ben, st.limited, map[string]any{"type": "image", "image": "registry.example.org/otter:1", "datasetIds": []string{
		st.little}})
	st.left(s, 0, 1)
	run := e.runs[0]
	st.run(run, record.Queued)
	var r record.Run
	st.patch(st.ben, run, &r, map[string]any{"state": "cancelled", "label": "never mind"})
	if r.State != record.Cancelled || r.Label != "never mind" || r.FinishedAt == nil {
		st.t.Errorf("%+v, want it cancelled", r)
	}
}
