package acceptancetest

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"

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
	st.benCACM, _ = st.submit(st.ben, st.public, upload("private", on(st.cacm, inline("bm25.run", bm25))))
	st.run(st.benBoth.runs[1], record.Completed)
	st.run(st.benCACM.runs[0], record.Completed)
	st.get(st.olivia, st.annCACM.runs[0], &run)
	if status, got := st.download(run.Files[0].URL); status != http.StatusOK || !bytes.Equal(got, bm25) {
		st.t.Errorf("the link of a run leads its organizer to %d, %d bytes", status, len(got))
	}
}

// uploaded sends the bytes of a submission of one file.
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

// quotas uses up the runs of a day: one that fails, because its file cannot be read, and one that is cancelled count in no quota.
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
