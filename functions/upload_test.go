package functions_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"assay/functions"
	"assay/functions/evaluator"
	"assay/shared/api/servertest"
	"assay/shared/record"
	"assay/shared/records"
)

// uploads is a server with the evaluator that works for it, in a test's own time: it does nothing unasked.
type uploads struct {
	*servertest.Server
	t      *testing.T
	later  atomic.Int64 // nanoseconds that the clock is ahead
	worker *evaluator.Worker
	task   string
}

func newUploads(t *testing.T) *uploads {
	u := &uploads{t: t, Server: servertest.New(t, functions.Operations()...)}
	u.Now = func() time.Time { return time.Now().Add(time.Duration(u.later.Load())) }
	u.worker = &evaluator.Worker{Store: u.Store, Files: u.Files, Now: u.Now, Log: u.Log, Holder: "test"}
	organizer := u.Create("olga", "/v1/organizers", map[string]any{"name": "Lake Lab"})
	u.task = u.Create("olga", "/v1/tasks", map[string]any{"organizerId": organizer[len("/v1/organizers/"):], "name": "Lakes"})
	u.Create("ada", u.task+"/registrations", map[string]any{"team": "Lakeside"})
	return u
}

// due does what is due within the next seconds, the second look of what takes two included.
func (u *uploads) due() {
	u.t.Helper()
	for range 3 {
		if err := u.worker.RunDue(u.t.Context()); err != nil {
			u.t.Fatal(err)
		}
		u.later.Add(int64(10 * time.Second))
	}
}

// cleaned cleans what nothing names any more, of which so many files are left.
func (u *uploads) cleaned(want int) {
	u.t.Helper()
	if err := u.worker.DeleteAbandonedFiles(u.t.Context()); err != nil {
		u.t.Fatal(err)
	}
	left := 0
	for _, err := range u.Files.List(u.t.Context(), "", u.Now()) {
		if err != nil {
			u.t.Fatal(err)
		}
		left++
	}
	if left != want {
		u.t.Fatalf("%d files are left, want %d", left, want)
	}
}

func announced(name, content string) map[string]any {
	sum := sha256.Sum256([]byte(content))
	return map[string]any{"name": name, "size": len(content), "sha256": hex.EncodeToString(sum[:])}
}

func inline(name, content string) map[string]any {
	return map[string]any{"name": name, "content": base64.StdEncoding.EncodeToString([]byte(content))}
}

// evaluate evaluates the run and returns it, with its evaluation as its owner sees it; nil when there is none.
func (u *uploads) evaluate(runID string) (r record.Run, e *record.Evaluation) {
	u.t.Helper()
	if _, err := u.worker.HandleChange(u.t.Context(), record.RunKey(runID)); err != nil {
		u.t.Fatal(err)
	}
	u.Want(http.StatusOK, &r, "ada", http.MethodGet, "/v1/runs/"+runID, nil)
	if r.EvaluationID != "" {
		u.Want(http.StatusOK, &e, "ada", http.MethodGet, "/v1/evaluations/"+r.EvaluationID, nil)
	}
	return r, e
}

func TestUploads_AreReevaluatedWhenTheTruthChanges(t *testing.T) {
	u := newUploads(t)
	const (
		first  = "q1 0 d1 1\nq1 0 d2 0\n"
		second = "q1 0 d1 0\nq1 0 d2 1\n"
		run    = "q1 Q0 d1 1 2.0 tag\nq1 Q0 d2 2 1.0 tag\n"
	)
	var d record.Dataset
	u.Want(http.StatusCreated, &d, "olga", http.MethodPost, "/v1/datasets", map[string]any{
		"taskId": u.task[len("/v1/tasks/"):], "name": "Lakes", "split": "validation", "truths": []any{announced("qrels.txt", first)},
		"runFormat": map[string]any{"kind": "trec-run"}, "evaluator": map[string]any{"kind": "retrieval", "measures": []string{"RR"}},
	})
	dataset := "/v1/datasets/" + d.ID
	body := map[string]any{"type": "upload", "files": []any{announced("run.txt", run)}}
	body["files"].([]any)[0].(map[string]any)["datasetId"] = d.ID
	u.Upload(d.Truths[0].Upload, []byte(first))
	u.due()

	var s record.Submission
	u.Want(http.StatusCreated, &s, "ada", http.MethodPost, u.task+"/submissions", body)
	u.Upload(s.Files[0].Upload, []byte(run))
	r, e := u.evaluate(s.RunIDs[0])
	if r.State != record.Completed || e.TruthVersion != 1 || *e.Measures["RR"] != 1 {
		t.Fatalf("%+v\n%+v", r, e)
	}

	// A truth that is announced, but has not come, changes nothing: runs and their files stay as they are, however late.
	u.Want(http.StatusOK, &d, "olga", http.MethodPatch, dataset, map[string]any{"truths": []any{announced("new.txt", second)}})
	u.due()
	u.later.Add(int64(72 * time.Hour))
	u.cleaned(2) // the truth in use and a run
	body["files"].([]any)[0] = inline("run.txt", run)
	body["files"].([]any)[0].(map[string]any)["datasetId"] = d.ID
	u.Want(http.StatusCreated, &s, "ada", http.MethodPost, u.task+"/submissions", body)
	if r, e := u.evaluate(s.RunIDs[0]); r.State != record.Completed || e.TruthVersion != 1 {
		t.Fatalf("%+v\n%+v", r, e)
	}

	u.Want(http.StatusOK, &d, "olga", http.MethodGet, dataset, nil) // for a link that still works
	u.Upload(d.Truths[0].Upload, []byte(second))
	u.later.Add(int64(72 * time.Hour))
	u.cleaned(4) // both truths and both runs
	u.due()
	for _, id := range []string{r.ID, s.RunIDs[0]} {
		r, e := u.evaluate(id)
		if r.State != record.Completed || r.Attempts != 1 || e.TruthVersion != 2 || *e.Measures["RR"] != 0.5 {
			t.Errorf("%+v\n%+v", r, e)
		}
	}
	u.cleaned(3) // the new truth and both runs
}

func TestRun_FailsWithoutItsDataset(t *testing.T) {
	u := newUploads(t)
	var d record.Dataset
	u.Want(http.StatusCreated, &d, "olga", http.MethodPost, "/v1/datasets", map[string]any{
		"taskId": u.task[len("/v1/tasks/"):], "name": "Lakes", "split": "validation", "truths": []any{inline("qrels.txt", "q1 0 d1 1\n")},
		"runFormat": map[string]any{"kind": "trec-run"}, "evaluator": map[string]any{"kind": "retrieval", "measures": []string{"RR"}},
	})
	file := inline("run.txt", "q1 Q0 d1 1 2.0 tag\n")
	file["datasetId"] = d.ID
	var s record.Submission
	u.Want(http.StatusCreated, &s, "ada", http.MethodPost, u.task+"/submissions", map[string]any{"type": "upload", "files": []any{file}})
	// As when the dataset is deleted in the same instant as the run is made.
	if err := new(records.Tx).DeleteKey(record.DatasetKey(d.ID)).DeleteKey(record.TruthKey(d.ID)).Commit(t.Context(), u.Store); err != nil {
		t.Fatal(err)
	}
	if r, _ := u.evaluate(s.RunIDs[0]); r.State != record.Failed || len(r.Diagnostics) != 1 {
		t.Errorf("%+v", r)
	}
	u.Want(http.StatusOK, nil, "ada", http.MethodGet, u.task+"/submissions/"+s.ID, nil)
	u.Want(http.StatusNoContent, nil, "ada", http.MethodDelete, u.task+"/submissions/"+s.ID, nil)
}
